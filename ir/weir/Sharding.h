//===- Sharding.h - Meshes and shardings as attributes -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_SHARDING_H
#define WEIR_IR_WEIR_SHARDING_H

#include "ir/weir/ShardingValue.h"
#include "ir/weir/WeirDialect.h"
#include "support/mesh/Layout.h"

namespace weir {

/// The mesh of a module (weir.mesh), whose programs its ranks run; null where it is for one device.
/// It lives as long as the context does.
const Mesh *meshOf(mlir::Operation *module);

/// Succeeds for the number of one of the mesh's ranks, and reports an error at the op for another.
mlir::LogicalResult verifyRank(mlir::Operation *at, int64_t rank, const Mesh &mesh);

ShardingAttr shardingAttr(mlir::MLIRContext *context, const Layout &layout, const Mesh &mesh);

/// The layout that a ShardingAttr is on a mesh; nothing where the attribute is null or another one,
/// or the mesh has not the axes.
std::optional<Layout> layoutOn(mlir::Attribute sharding, const Mesh &mesh);

} // namespace weir

#endif
