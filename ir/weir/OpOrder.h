//===- OpOrder.h - Where ops stand while many of them move ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_OPORDER_H
#define WEIR_IR_WEIR_OPORDER_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace weir {

/// The order of a block's ops, some of which are moved: behind each move MLIR numbers all of them
/// anew.
class OpOrder {
public:
  explicit OpOrder(mlir::Block &block) : block(block) { number(); }

  /// Ops that were created since are unknown until addBefore() adds them.
  bool isBefore(mlir::Operation *one, mlir::Operation *other) const {
    return places.lookup(one) < places.lookup(other);
  }
  void moveBefore(mlir::Operation *op, mlir::Operation *other) {
    op->moveBefore(other);
    put(op);
  }
  void moveAfter(mlir::Operation *op, mlir::Operation *other) {
    op->moveAfter(other);
    put(op);
  }

  /// Adds the ops that were created right before `other`.
  void addBefore(mlir::Operation *other) {
    llvm::SmallVector<mlir::Operation *> made;
    mlir::Operation *before = other->getPrevNode();
    for (; before && !places.contains(before); before = before->getPrevNode())
      made.push_back(before);
    const int64_t behind = places.lookup(other), count = int64_t(made.size());
    const int64_t ahead = before ? places.lookup(before) : behind - (count + 1) * gap;
    const int64_t step = (behind - ahead) / (count + 1);
    if (step < 1)
      return number();
    for (auto [i, op] : llvm::enumerate(made))
      places[op] = behind - int64_t(i + 1) * step;
  }

  /// Another op may be made where it was in memory.
  void erase(mlir::Operation *op) {
    places.erase(op);
    op->erase();
  }

private:
  static constexpr int64_t gap = int64_t(1) << 32;

  void number() {
    int64_t place = 0;
    for (mlir::Operation &op : block)
      places[&op] = place += gap;
  }
  /// Half way between its neighbours. There is always one behind it.
  void put(mlir::Operation *op) {
    mlir::Operation *before = op->getPrevNode();
    int64_t behind = places.lookup(op->getNextNode());
    int64_t ahead = before ? places.lookup(before) : behind - 2 * gap;
    if (behind - ahead < 2)
      return number();
    places[op] = ahead + (behind - ahead) / 2;
  }

  mlir::Block &block;
  llvm::DenseMap<mlir::Operation *, int64_t> places;
};

} // namespace weir

#endif
