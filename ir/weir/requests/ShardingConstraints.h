//===- ShardingConstraints.h - Cuts of parameters the model asks for ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// It is no part of what the program computes: digests leave it out.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_REQUESTS_SHARDINGCONSTRAINTS_H
#define WEIR_IR_WEIR_REQUESTS_SHARDINGCONSTRAINTS_H

#include "mlir/IR/BuiltinOps.h"

namespace weir {

/// A parameter is to be cut over an axis of a mesh, where the mesh has it.
struct ShardingConstraint {
  std::string parameter;
  std::string axis;
  int64_t dimension;
  mlir::Location at; ///< where the model says so
};

/// The module attribute weir.shards: an array of [parameter, axis, dimension, location]. None:
/// there is no attribute.
void setShardingConstraints(mlir::ModuleOp module, llvm::ArrayRef<ShardingConstraint> pins);

/// Those of a module.
llvm::SmallVector<ShardingConstraint> shardingConstraints(mlir::ModuleOp module);

} // namespace weir

#endif
