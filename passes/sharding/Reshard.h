//===- Reshard.h - Changes the sharding of a value ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds the ops with which one rank changes the sharding of a value. Collectives move rows, so the
// dimension that they work on is transposed to the front and back. All ranks whose shards have the
// same sizes run one program: the position at which a rank's shard begins is a variable of the run.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_SHARDING_RESHARD_H
#define WEIR_PASSES_SHARDING_RESHARD_H

#include "ir/weir/WeirDialect.h"
#include "support/mesh/Layout.h"

namespace weir::sharding {

/// One change of a sharding: of one piece over one axis, or of a partial sum.
struct Step {
  enum Kind {
    gather,  ///< the piece is no longer sharded over the axis, its innermost
    slice,   ///< shards the piece over the axis
    swap,    ///< the same, and another piece, with equal shares, is no longer sharded over it
    sumTo,   ///< each member gets the sum of its shard: partial becomes sharded
    sum,     ///< all members get the sum
    regroup, ///< changes the pieces of the dimension, without communication
  };
  Kind kind;
  unsigned axis;
  size_t dimension = 0, piece = 0;           ///< in the layout before the step; unused by `sum`
  size_t otherDimension = 0, otherPiece = 0; ///< from which a swap takes the axis, its innermost
  Pieces pieces = {};                        ///< of the dimension after a regroup
};

/// The steps that change a value from one sharding to another, in order.
llvm::SmallVector<Step> stepsBetween(const Layout &from, const Layout &to, const Mesh &mesh);

/// Whether the change only all-gathers, and thus enlarges the value.
bool isOnlyGathered(const Layout &from, const Layout &to, const Mesh &mesh);

/// Applies a step to a layout.
void apply(Layout &layout, const Step &step);

/// The bytes that a rank receives in a step, for a value whose shards have that layout before it.
int64_t bytesOf(const Step &step, const Layout &before, int64_t elementBytes, const Mesh &mesh);

/// Whether a sum over the axis is so small that members exchange all values at once.
bool isOfFew(const Layout &before, unsigned axis, const Mesh &mesh);

class Reshard {
public:
  /// `builder` stands where ops are inserted.
  Reshard(mlir::OpBuilder &builder, mlir::ModuleOp module, const Mesh &mesh, int64_t rank)
      : builder(builder), module(module), mesh(mesh), rank(rank) {}

  /// `again`: the value was gathered before, and that result must not be kept until here.
  mlir::Value move(mlir::Location loc, mlir::Value value, const Layout &from, const Layout &to,
                   bool again = false);

  /// Fails if something was too long to be sharded; a diagnostic has reported it.
  llvm::LogicalResult check() const { return llvm::failure(isTooLong); }

  /// The values of all members along the axis, concatenated along a new leading dimension.
  mlir::Value stack(mlir::Location loc, mlir::Value value, unsigned axis);

  /// The position at which the rank's shard of a piece begins: a scalar of i32.
  mlir::Value begin(mlir::Location loc, const Piece &piece);

  /// For each element of the rank's shard: its index in the whole tensor, as the sum of index times
  /// stride over dimensions.
  mlir::Value places(mlir::Location loc, const Layout &layout, llvm::ArrayRef<int64_t> strides);

private:
  /// For a collective over the axis that may share a bucket: the elements of the largest rank's
  /// value, times `times`. Null if the collective may not share.
  mlir::IntegerAttr fullest(const Layout &layout, const Piece &piece, unsigned axis,
                            int64_t times = 1);
  mlir::Value inFront(mlir::Location loc, mlir::Value value, const Layout &layout, const Step &step,
                      llvm::function_ref<mlir::Value(mlir::Value)> change);
  llvm::SmallVector<int64_t> rows(const Piece &piece, unsigned axis) const;
  mlir::Value allGather(mlir::Location loc, mlir::Value value, unsigned axis,
                        llvm::ArrayRef<int64_t> rows, mlir::IntegerAttr fullest = {});
  mlir::Value gather(mlir::Location loc, mlir::Value value, const Layout &layout, const Step &step);
  mlir::Value slice(mlir::Location loc, mlir::Value value, const Layout &layout, const Step &step);
  mlir::Value swap(mlir::Location loc, mlir::Value value, const Layout &layout, const Step &step);
  mlir::Value reduceScatter(mlir::Location loc, mlir::Value value, const Layout &layout,
                            const Step &step);

  mlir::OpBuilder &builder;
  mlir::ModuleOp module;
  const Mesh &mesh;
  const int64_t rank;
  bool again = false; ///< for gathers to insert
  bool isTooLong = false;
};

} // namespace weir::sharding

#endif
