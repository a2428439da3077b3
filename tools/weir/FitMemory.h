//===- FitMemory.h - Ways of a program into a budget ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Options that would make a program fit are planned before they are named: each is compiled up to
// its kernels, whose order and memory are what they will be.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_FITMEMORY_H
#define WEIR_TOOLS_WEIR_FITMEMORY_H

#include "passes/Pipeline.h"

namespace weir {

/// The number of microbatches with which a step takes least time, by estimate, in the budget of
/// `options`; 0 where it fits with none. `module` is as the frontend makes it, and stays so.
int64_t bestMicrobatches(mlir::ModuleOp module, const PipelineOptions &options);

/// What has to lie with the host so that the program fits; all that can where it fits in no way.
/// With `cut`, in whatever number of microbatches fits. `options` has nothing lie there.
Offloaded leastOffload(mlir::ModuleOp module, const PipelineOptions &options, bool cut);

/// Tells a person whose program does not fit, line by line as they are found, options with which it
/// does, and what they cost.
void tellWaysToFit(mlir::ModuleOp module, const PipelineOptions &options,
                   llvm::function_ref<void(const std::string &)> tell);

} // namespace weir

#endif
