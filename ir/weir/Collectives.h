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

#include "ir/weir/collective/Collective.h"
#include "ir/weir/transfer/Transfer.h"
#include "support/spec/Exchange.h"

namespace weir {

/// Of a collective: the number that it has on all ranks (weir-number-collectives).
inline constexpr llvm::StringLiteral numberAttrName = "weir.number";

inline bool isCollective(mlir::Operation *op) {
  return llvm::isa<AllGatherOp, AllToAllOp, CollectivePermuteOp>(op);
}

/// Whether it puts values together for a collective, or takes them apart behind one.
inline bool isPacking(mlir::Operation *op) { return llvm::isa<PackOp, UnpackOp>(op); }

/// What a collective says, whichever it is.
struct CollectiveFacts {
  spec::CollectiveKind kind;
  llvm::StringRef axis;
  llvm::ArrayRef<int64_t> rows; ///< of each member
  int64_t own;                  ///< of them, this rank's
  int64_t number;               ///< 0: it has none
};

inline CollectiveFacts factsOf(mlir::Operation *op) {
  auto number = op->getAttrOfType<mlir::IntegerAttr>(numberAttrName);
  CollectiveFacts facts{spec::CollectiveKind::all_gather, "", {}, 0, number ? number.getInt() : 0};
  if (auto gather = llvm::dyn_cast<AllGatherOp>(op)) {
    facts.axis = gather.getAxis();
    facts.rows = gather.getRows();
    facts.own = shapeOf(gather.getInput())[0];
    return facts;
  }
  if (auto shift = llvm::dyn_cast<CollectivePermuteOp>(op)) {
    facts.kind = spec::CollectiveKind::shift;
    facts.axis = shift.getAxis();
    facts.rows = shift.getRows();
    facts.own = shapeOf(shift.getInput())[0];
    return facts;
  }
  auto all = llvm::cast<AllToAllOp>(op);
  facts.kind = spec::CollectiveKind::all_to_all;
  facts.axis = all.getAxis();
  facts.rows = all.getRows();
  facts.own = shapeOf(all.getResult())[0] / int64_t(facts.rows.size());
  return facts;
}

/// Whether it is a collective or a transfer, has one in its region, or saves or reads a saved
/// value: these keep their order.
inline bool hasCollectives(mlir::Operation *op) {
  return op
      ->walk([](mlir::Operation *inner) {
        return isCollective(inner) || isTransfer(inner) || llvm::isa<SaveOp, SavedOp>(inner)
                   ? mlir::WalkResult::interrupt()
                   : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

} // namespace weir

#endif
