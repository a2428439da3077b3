//===- Collectives.h - What ranks meet in ----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Header only. All members of a collective do theirs in one order, whatever else their programs do:
// who moves ops keeps it.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_COLLECTIVES_H
#define WEIR_IR_WEIR_COLLECTIVES_H

#include "ir/weir/WeirDialect.h"

namespace weir {

/// Of a collective: the number that it has on all ranks (weir-number-collectives).
inline constexpr llvm::StringLiteral numberAttrName = "weir.number";

inline bool isCollective(mlir::Operation *op) { return llvm::isa<AllGatherOp, AllToAllOp>(op); }

/// Whether it is a collective, or has one in its region.
inline bool hasCollectives(mlir::Operation *op) {
  return op
      ->walk([](mlir::Operation *inner) {
        return isCollective(inner) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

} // namespace weir

#endif
