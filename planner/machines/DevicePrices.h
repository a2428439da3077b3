//===- DevicePrices.h - What a device's work takes -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In seconds, without what every action takes besides (Device::launch).
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PLANNER_MACHINES_DEVICEPRICES_H
#define WEIR_PLANNER_MACHINES_DEVICEPRICES_H

#include "planner/machines/Cluster.h"
#include "support/spec/Product.h"
#include <string_view>

namespace weir::planner {

/// Of one product: as many waves of tiles as there are for the device's units, each with its sums,
/// and no less than its bytes take.
double secondsOf(const Device &device, const spec::Product &product);

/// What a product multiplies, as ProductRates are named: an element's name, "tf32" or "f8".
std::string multipliedBy(const spec::Product &product);

/// Work that is no product: each kind has a rate of its own.
enum class WorkKind { elementwise, attention, convolution };
/// Of a kernel of that shape, by its name.
WorkKind workOf(std::string_view shape);
struct KernelWork {
  WorkKind kind = WorkKind::elementwise;
  double flops = 0, bytes = 0;
};

/// FLOP/s of such work: the device's own rate or, if its file has none, a part of the rate of
/// products (support/mesh/MachineRates.h). `multiplied` is what the products multiply.
double rateOf(const Device &device, WorkKind kind, const std::string &multiplied);

/// The longer of the work's FLOPs at that rate and of its bytes.
double secondsOf(const Device &device, const KernelWork &work, const std::string &multiplied);

} // namespace weir::planner

#endif
