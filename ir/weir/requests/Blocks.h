//===- Blocks.h - The blocks of a model, by their paths ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_REQUESTS_BLOCKS_H
#define WEIR_IR_WEIR_REQUESTS_BLOCKS_H

#include "mlir/IR/BuiltinOps.h"
#include <set>
#include <string>
#include <vector>

namespace weir {

/// Whether a text is such as the pattern says, part by part between the points: "h.*.mlp".
bool matchesPath(llvm::StringRef text, llvm::StringRef pattern);

/// The path of what a block's instance stands in, "h.0" for "h.0.mlp"; "" at last.
llvm::StringRef pathAround(llvm::StringRef path);

/// A path with a star for each number in it: "h.*.mlp".
std::string patternOf(llvm::StringRef path);

/// The paths of the model's instances that ops stand in, and of what is around these; without those
/// of the optimizer's, where nothing can be recomputed.
std::set<std::string> blocksOf(mlir::ModuleOp module);

/// Of some blocks, those that are in no other one of them.
std::vector<std::string> outermost(const std::set<std::string> &blocks);

} // namespace weir

#endif
