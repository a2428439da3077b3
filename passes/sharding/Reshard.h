//===- Reshard.h - From one layout to another ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What one rank computes to have a value as another layout says. Collectives move rows, so what
// they work along is brought to the front, and taken back behind them. The program is one for all
// ranks with shares of the same sizes: where a rank's begin is a variable of the run.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_SHARDING_RESHARD_H
#define WEIR_PASSES_SHARDING_RESHARD_H

#include "ir/weir/WeirDialect.h"
#include "runtime/base/Layout.h"

namespace weir {

/// Of an op that weir-partition has made, if it is asked to say so: how its results lie.
inline constexpr llvm::StringLiteral liesAttrName = "weir.lies";

} // namespace weir

namespace weir::sharding {

class Reshard {
public:
  /// `builder` stands where ops are to be made.
  Reshard(mlir::OpBuilder &builder, mlir::ModuleOp module, const Mesh &mesh, int64_t rank)
      : builder(builder), module(module), mesh(mesh), rank(rank) {}

  mlir::Value move(mlir::Location loc, mlir::Value value, const Layout &from, const Layout &to);

  /// For each element of what a rank has: a number counted in each dimension's places in the whole,
  /// times that dimension's stride.
  mlir::Value places(mlir::Location loc, const Layout &layout, llvm::ArrayRef<int64_t> strides);

private:
  /// One piece of a layout.
  struct At {
    size_t dimension, piece;
  };
  mlir::Value begin(mlir::Location loc, const Piece &piece);
  mlir::Value inFront(mlir::Location loc, mlir::Value value, const Layout &layout, At at,
                      llvm::function_ref<mlir::Value(mlir::Value)> change);
  llvm::SmallVector<int64_t> rows(const Piece &piece, unsigned axis) const;
  mlir::Value gather(mlir::Location loc, mlir::Value value, Layout &layout, At at);
  mlir::Value slice(mlir::Location loc, mlir::Value value, Layout &layout, At at, unsigned axis);
  mlir::Value sum(mlir::Location loc, mlir::Value parts);
  mlir::Value addUp(mlir::Location loc, mlir::Value value, unsigned axis);
  mlir::Value addUpTo(mlir::Location loc, mlir::Value value, Layout &layout, At at, unsigned axis);

  mlir::OpBuilder &builder;
  mlir::ModuleOp module;
  const Mesh &mesh;
  const int64_t rank;
};

} // namespace weir::sharding

#endif
