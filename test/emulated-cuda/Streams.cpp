//===- Streams.cpp - Work that waits for its turn -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/emulated-cuda/Streams.h"
#include "test/emulated-cuda/Faults.h"
#include "test/emulated-cuda/Options.h"
#include <algorithm>
#include <chrono>

namespace weir::emulated {
namespace {

Chains chains;
Clock host;
std::vector<NodeRef> ready; ///< in the order in which they became so
uint64_t count = 0;

/// What ran before and is not known to everything that will be enqueued.
struct Ran {
  SerialRange range;
  Moment moment;
};
std::vector<Ran> ran;

void run(const NodeRef &node) {
  if (node->work) {
    std::vector<SerialRange> unordered;
    for (const Ran &other : ran)
      if (!other.moment.isBefore(node->clock))
        unordered.push_back(other.range);
    SerialRange range = shadowBegin(node->work->name, node->work->blocks, std::move(unordered));
    node->work->run();
    if (options().checked)
      ran.push_back({range, node->moment});
  }
  node->isDone = true;
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
  std::erase_if(ran, [](const Ran &other) { return other.moment.isBefore(host); });
}

} // namespace

NodeRef enqueue(std::shared_ptr<const Work> work, const std::vector<NodeRef> &after) {
  auto node = std::make_shared<Node>();
  node->work = std::move(work);
  node->number = ++count;
  node->clock = host;
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

void runOne() {
  if (ready.empty() || stickyError())
    return;
  auto chosen = options().isForward() ? std::min_element(ready.begin(), ready.end(),
                                                         [](const NodeRef &a, const NodeRef &b) {
                                                           return a->number < b->number;
                                                         })
                                      : ready.begin() + random().below(uint32_t(ready.size()));
  NodeRef node = std::move(*chosen);
  ready.erase(chosen);
  run(node);
}

void noticed(const Node &node) {
  host.join(node.clock);
  forgetKnown();
}

void waitFor(const NodeRef &node) {
  while (!node->isDone && !ready.empty() && !stickyError())
    runOne();
  if (node->isDone)
    noticed(*node);
}

void waitForAll() {
  while (!ready.empty() && !stickyError())
    runOne();
  if (!stickyError()) {
    host.join(chains.now());
    ran.clear();
  }
}

void resetStreams() {
  chains = {};
  host = {};
  ready.clear();
  ran.clear();
}

} // namespace weir::emulated
