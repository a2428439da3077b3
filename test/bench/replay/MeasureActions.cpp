//===- MeasureActions.cpp - What a rank's actions take by themselves -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/bench/replay/MeasureActions.h"
#include "artifact/Actions.h"
#include "runtime/core/Transport.h"
#include "runtime/cpu/CpuDevice.h"
#include <algorithm>
#include <cstring>

namespace weir::replay {
namespace {

/// What the others give is this rank's own, or zero.
class Alone : public Transport {
public:
  void exchange(unsigned, const std::string &, std::span<const std::span<const std::byte>> to,
                std::span<const std::span<std::byte>> from) override {
    for (size_t i = 0; i < from.size(); ++i)
      if (from[i].size() == to[i].size())
        std::memmove(from[i].data(), to[i].data(), to[i].size());
      else
        std::memset(from[i].data(), 0, from[i].size());
  }
  void check(const std::string &, std::chrono::steady_clock::time_point) override {}
  void send(unsigned, unsigned, Tag, const std::string &, std::span<const std::byte>) override {}
  void receive(unsigned, unsigned, Tag, const std::string &, std::span<std::byte> bytes) override {
    std::memset(bytes.data(), 0, bytes.size());
  }
};

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + values.size() / 2);
  return values[values.size() / 2];
}

} // namespace

std::vector<double> measureActions(const artifact::Program &program, int64_t rank, int steps) {
  Alone alone;
  std::unique_ptr<Device> device =
      cpu::makeDevice(program, {.threads = 1, .transport = &alone, .rank = rank});
  uint32_t step = 0, number = 0;
  std::vector<Trace::Sums> empty;
  for (const artifact::Entry *entry : *program.entries()) {
    if (entry->name()->string_view() == "step")
      step = number;
    if (entry->name()->string_view() == "init")
      device->wait(device->run(number));
    empty.emplace_back(artifact::actionsOf(*entry).size());
    ++number;
  }
  std::vector<const artifact::Action *> actions =
      artifact::actionsOf(*program.entries()->Get(step));
  std::vector<std::vector<double>> times(actions.size());
  device->wait(device->run(step));
  for (int i = 0; i < steps; ++i) {
    Trace trace(0, empty);
    device->trace(&trace);
    device->wait(device->run(step));
    device->trace(nullptr);
    for (size_t action = 0; action < actions.size(); ++action) {
      const Trace::Sum &sum = trace.sums(step)[action];
      times[action].push_back(sum.runs ? 1e-9 * double(sum.time) / double(sum.runs) : 0);
    }
  }
  std::vector<double> seconds;
  for (size_t action = 0; action < actions.size(); ++action) {
    const artifact::Action &one = *actions[action];
    bool isWork = one.work_as_Launch() || one.work_as_Call() || one.work_as_Copy();
    seconds.push_back(isWork ? median(times[action]) : 0);
  }
  return seconds;
}

} // namespace weir::replay
