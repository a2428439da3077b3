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

/// What has to lie with the host so that the program fits, a name of offloads(); "" where nothing
/// has to; all that can where it fits in no way. With `cut`, in whatever number of microbatches
/// fits.
std::string leastOffload(mlir::ModuleOp module, const PipelineOptions &options, bool cut);

/// Lines for a person whose program does not fit: options with which it does, and what they cost.
std::vector<std::string> waysToFit(mlir::ModuleOp module, const PipelineOptions &options);

} // namespace weir

#endif
