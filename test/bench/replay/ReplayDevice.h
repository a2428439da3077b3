//===- ReplayDevice.h - A device whose actions take what they are said to --===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A null device with the processor's queues, each a thread: an action sleeps for its time,
// collectives wait for their members and then sleep for theirs, and what is sent comes when its
// link has carried it.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_BENCH_REPLAY_REPLAYDEVICE_H
#define WEIR_TEST_BENCH_REPLAY_REPLAYDEVICE_H

#include "runtime/core/Device.h"
#include <vector>

namespace weir::replay {

/// How every two devices are joined.
struct Links {
  double bandwidth = 0; ///< bytes a second, both ways at a time
  double latency = 0;   ///< seconds
};

/// Times are multiplied by `scale`, so that a system's sleep is exact enough.
struct Pace {
  std::vector<double> seconds; ///< of the step's actions, at their numbers
  Links links;
  double scale = 1;
};

std::unique_ptr<Device> makeReplayDevice(const artifact::Program &program,
                                         const DeviceOptions &options, const Pace &pace);

} // namespace weir::replay

#endif
