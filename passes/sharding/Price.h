//===- Price.h - What a way to cut a program costs ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For choosing between ways, not for predicting times: what a rank computes, touches and gets of
// others is weighed as on a machine whose ranks compute fast and are linked well.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_SHARDING_PRICE_H
#define WEIR_PASSES_SHARDING_PRICE_H

#include "passes/sharding/Propagation.h"

namespace weir::sharding {

struct Price {
  double flops = 0; ///< of a rank
  double bytes = 0; ///< that it touches
  double moved = 0; ///< bytes that it gets of others

  /// In bytes that are moved.
  double total() const;
};

/// Of one run of the entry.
Price priceOf(mlir::func::FuncOp entry, const Propagation &propagation, const Mesh &mesh);

} // namespace weir::sharding

#endif
