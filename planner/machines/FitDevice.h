//===- FitDevice.h - A device's figures from what its work took ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PLANNER_MACHINES_FITDEVICE_H
#define WEIR_PLANNER_MACHINES_FITDEVICE_H

#include "planner/machines/DevicePrices.h"
#include <variant>

namespace weir::planner {

/// An action of a plan, and its seconds.
struct MeasuredWork {
  std::variant<spec::Product, KernelWork> work;
  double seconds = 0;
};

/// Sets the rates, bandwidth and launch of `device`, with which work takes what was measured: where
/// all cannot, work that took long counts more. Figures of which nothing was measured stay.
void fitDevice(Device &device, const std::vector<MeasuredWork> &measured);

/// What exchanges of so many bytes took, between members each of which got that from all others.
struct MeasuredGather {
  double received = 0, seconds = 0;
};

/// Sets the latency and bandwidth of a level that joins all of `members`.
void fitLinks(LinkLevel &level, int64_t members, const std::vector<MeasuredGather> &measured);

} // namespace weir::planner

#endif
