//===- Streams.cpp - Work that waits for its turn -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/Streams.h"
#include "test/emulated-cuda/Driver.h"
#include "test/emulated-cuda/Faults.h"
#include "test/emulated-cuda/Options.h"
#include <algorithm>
#include <chrono>

namespace weir::emulated {
namespace {

Chains chains;
Clock hosts[mostDevices];          ///< what the host knows of, as far as it asks a device for more
uint64_t undone[mostDevices] = {}; ///< nodes of a device
std::vector<NodeRef> ready;        ///< in the order in which they became so
uint64_t count = 0;
const Node *running = nullptr;

/// What ran before and is not known to everything that will be enqueued on its device: others do
/// not touch what it touches.
struct Ran {
  SerialRange range;
  Moment moment;
  int device;
};
std::vector<Ran> ran;

void run(const NodeRef &node) {
  if (node->work) {
    std::vector<SerialRange> unordered;
    for (const Ran &other : ran)
      if (other.device == node->device && !other.moment.isBefore(node->clock))
        unordered.push_back(other.range);
    SerialRange range =
        shadowBegin(node->work->name, node->work->blocks, std::move(unordered), node->device);
    running = node.get();
    node->work->run();
    running = nullptr;
    if (options().checked)
      ran.push_back({range, node->moment, node->device});
  }
  node->isDone = true;
  --undone[node->device];
  node->doneAt =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
          .count();
  for (const NodeRef &next : node->successors)
    if (--next->pending == 0)
      ready.push_back(next);
  node->successors.clear();
}

/// What the host knows, all that is enqueued from now on knows.
void forgetKnown() {
  std::erase_if(ran, [](const Ran &other) { return other.moment.isBefore(hosts[other.device]); });
}

/// Nothing can run before other threads have asked for more. False where that takes too long.
bool waitForOthers(std::chrono::steady_clock::time_point &since) {
  auto now = std::chrono::steady_clock::now();
  if (since == std::chrono::steady_clock::time_point())
    since = now;
  if (now - since > std::chrono::seconds(60)) {
    reportFault(cuda::CUDA_ERROR_LAUNCH_TIMEOUT,
                "nothing can run: what waits for other devices waits in vain");
    return false;
  }
  leaveDriver(std::chrono::microseconds(50));
  return true;
}

} // namespace

NodeRef enqueue(std::shared_ptr<const Work> work, const std::vector<NodeRef> &after) {
  auto node = std::make_shared<Node>();
  node->work = std::move(work);
  node->number = ++count;
  node->device = currentDevice();
  ++undone[node->device];
  node->clock = hosts[node->device];
  for (const NodeRef &before : after) {
    node->clock.join(before->clock);
    if (!before->isDone) {
      before->successors.push_back(node);
      ++node->pending;
    }
  }
  node->moment = chains.place(node->clock);
  if (node->pending == 0)
    ready.push_back(node);
  return node;
}

bool runOne() {
  std::vector<size_t> open;
  for (size_t i = 0; i < ready.size(); ++i)
    if (stickyErrorOf(ready[i]->device))
      continue;
    else if (!ready[i]->work || !ready[i]->work->isOpen || ready[i]->work->isOpen())
      open.push_back(i);
  if (open.empty())
    return false;
  size_t chosen =
      options().isForward()
          ? *std::ranges::min_element(open, {}, [](size_t i) { return ready[i]->number; })
          : open[random().below(uint32_t(open.size()))];
  NodeRef node = std::move(ready[chosen]);
  ready.erase(ready.begin() + ptrdiff_t(chosen));
  run(node);
  return true;
}

void noticed(const Node &node) {
  hosts[node.device].join(node.clock);
  forgetKnown();
}

void waitFor(const NodeRef &node) {
  std::chrono::steady_clock::time_point since = {};
  while (!node->isDone && !stickyError())
    if (runOne())
      since = {};
    else if (!waitForOthers(since))
      return;
  if (node->isDone)
    noticed(*node);
}

void waitForAll() {
  int device = currentDevice();
  std::chrono::steady_clock::time_point since = {};
  while (undone[device] && !stickyError())
    if (runOne())
      since = {};
    else if (!waitForOthers(since))
      return;
  if (!stickyError()) {
    hosts[device].join(chains.now());
    std::erase_if(ran, [&](const Ran &other) { return other.device == device; });
  }
}

int activeDevice() { return running ? running->device : currentDevice(); }

Moment runningMoment() { return running->moment; }

bool runsAfter(Moment moment) { return moment.isBefore(running->clock); }

void resetStreams() {
  chains = {};
  for (Clock &host : hosts)
    host = {};
  for (uint64_t &nodes : undone)
    nodes = 0;
  ready.clear();
  ran.clear();
}

} // namespace weir::emulated
