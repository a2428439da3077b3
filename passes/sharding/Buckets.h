//===- Buckets.h - What ranks tell each other, small things together -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A collective takes a time of its own, however little it moves, and most gradients and parameters
// of a model are small: biases, and the weights of norms. So collectives are put off until a
// program is there, and what can be computed ahead of where one is needed is moved with it, up to a
// size, in the order in which it is ready.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_SHARDING_BUCKETS_H
#define WEIR_PASSES_SHARDING_BUCKETS_H

#include "ir/weir/WeirDialect.h"

namespace weir::sharding {

/// One collective that is put off, of rows of which each member has as many.
struct Later {
  enum Kind {
    sum,     ///< all members get the sum of their values
    scatter, ///< each gets its share of the rows of the sum
    gather,  ///< all get all members' rows, one after the other
  };
  Kind kind;
  unsigned axis;
  int64_t
      elements; ///< of what is sent and got at most, of the fullest rank: all put the same together
  bool again;   ///< AllGatherOp::again
  llvm::SmallVector<unsigned, 2> also = {}; ///< axes that a sum is over besides, in order
  int64_t stage = -1;               ///< of a pipeline, that the value is on (ir/weir/Stages.h)
  mlir::Operation *place = nullptr; ///< stands for its result, with the value as its operand

  mlir::Value value() const { return place->getOperand(0); }
};

/// Makes collectives of values without others, where the builder stands.
class Mover {
public:
  virtual ~Mover() = default;
  virtual int64_t members(unsigned axis) const = 0;
  virtual mlir::Value move(mlir::Location loc, mlir::Value value, const Later &how) = 0;
};

class Buckets {
public:
  /// What stands for the result, of that shape, until make().
  mlir::Value put(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                  llvm::ArrayRef<int64_t> shape, Later later);

  /// Makes all that was put off.
  void make(mlir::OpBuilder &builder, Mover &mover);

private:
  llvm::SmallVector<Later> all; ///< of each block, in its order
};

} // namespace weir::sharding

#endif
