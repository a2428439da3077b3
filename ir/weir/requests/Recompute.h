//===- Recompute.h - Blocks that are computed again ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the model's plan says of blocks: what is computed in them forward is not kept for the
// backward computation, but computed again there. It changes no number, so it is no part of what
// the program computes: digests leave it out, and ops are told by their locations.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_REQUESTS_RECOMPUTE_H
#define WEIR_IR_WEIR_REQUESTS_RECOMPUTE_H

#include "ir/weir/WeirDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringSet.h"

#include <optional>
#include <set>

namespace weir {

/// Of a kernel that does what another one has done, and of the actions that it becomes in a plan.
inline constexpr llvm::StringLiteral againAttrName = "weir.again";

/// The module attribute weir.recompute: an array of the paths of blocks' instances, "h.0.mlp"; ""
/// is the model itself. Blocks in them are computed again, too. None: there is no attribute.
void setRecomputed(mlir::ModuleOp module, llvm::ArrayRef<std::string> paths);

/// Has the blocks of these patterns (Blocks.h) computed again besides. False, with what is wrong in
/// `why`, where one matches none.
bool markRecomputed(mlir::ModuleOp module, llvm::ArrayRef<std::string> patterns, std::string &why);

/// The blocks that are computed again.
class Recomputed {
public:
  static Recomputed of(mlir::ModuleOp module);

  bool empty() const { return paths.empty(); }

  /// Where an op's block begins to be computed again: the block's path up to its last number,
  /// "h.0" of "h.0.mlp", so that the blocks of one layer are computed again together, and what one
  /// layer gives the next is kept. A block without a number begins by itself. Nothing for an op
  /// that stands in no such block.
  std::optional<llvm::StringRef> startOf(mlir::Location loc) const;
  /// Those of all ops that a kernel computes. Views and constants beside them may come from
  /// anywhere; a kernel of views alone is where these are. None if it computes something that
  /// stands in no such block.
  std::set<llvm::StringRef> startsOf(KernelOp kernel) const;

private:
  llvm::StringSet<> paths;
};

} // namespace weir

#endif
