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
#include "runtime/base/Layout.h"

namespace weir::sharding {

/// One change of a layout, of one piece over one axis, or of a sum.
struct Step {
  enum Kind {
    gather,  ///< the piece is no longer cut over the axis, its innermost
    slice,   ///< it is cut over it
    swap,    ///< it is, and another piece, of equal shares, is no longer
    sumTo,   ///< each member has the sum of its share: a sum becomes a cut of the piece
    sum,     ///< all have the sum
    regroup, ///< the dimension is said to be of other pieces, and nothing is moved
  };
  Kind kind;
  unsigned axis;
  size_t dimension = 0, piece = 0;           ///< of the layout that it finds; a sum's is none
  size_t otherDimension = 0, otherPiece = 0; ///< that a swap takes the axis from, its innermost
  Pieces pieces = {};                        ///< that it makes of the dimension, of a regroup
};

/// What brings a value from one layout to another, in order.
llvm::SmallVector<Step> stepsBetween(const Layout &from, const Layout &to, const Mesh &mesh);

/// Whether all that is moved between them is gathered: there is more of it then, and nothing else.
bool isOnlyGathered(const Layout &from, const Layout &to, const Mesh &mesh);

/// Does a step to a layout.
void apply(Layout &layout, const Step &step);

/// The bytes that a rank gets of others in a step, of a value whose parts have that layout before
/// it.
int64_t bytesOf(const Step &step, const Layout &before, int64_t elementBytes, const Mesh &mesh);

/// Whether a sum over the axis is of so little that members tell each other all of it at once.
bool isOfFew(const Layout &before, unsigned axis, const Mesh &mesh);

class Reshard {
public:
  /// `builder` stands where ops are to be made.
  Reshard(mlir::OpBuilder &builder, mlir::ModuleOp module, const Mesh &mesh, int64_t rank)
      : builder(builder), module(module), mesh(mesh), rank(rank) {}

  /// `again`: what is gathered has been so before, and is not to be kept from there.
  mlir::Value move(mlir::Location loc, mlir::Value value, const Layout &from, const Layout &to,
                   bool again = false);

  /// Failure where something was too long to be cut, which a diagnostic has said.
  llvm::LogicalResult check() const { return llvm::failure(isTooLong); }

  /// The values of all members along the axis, one after the other: a leading dimension.
  mlir::Value stack(mlir::Location loc, mlir::Value value, unsigned axis);

  /// Where the rank's share of a piece begins: a scalar of i32.
  mlir::Value begin(mlir::Location loc, const Piece &piece);

  /// For each element of what a rank has: a number counted in each dimension's places in the whole,
  /// times that dimension's stride.
  mlir::Value places(mlir::Location loc, const Layout &layout, llvm::ArrayRef<int64_t> strides);

private:
  /// For a collective over the axis that may share a bucket: the elements of a value on the fullest
  /// rank, times `times`. Null for one that stands alone.
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
  bool again = false; ///< of gathers that are made
  bool isTooLong = false;
};

} // namespace weir::sharding

#endif
