//===- Functions.h - Elementary functions of kernels ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_CUDA_FUNCTIONS_H
#define WEIR_CODEGEN_CUDA_FUNCTIONS_H

#include "mlir/IR/MLIRContext.h"

#include <set>
#include <string>

namespace weir {

/// The definitions of functions that elementaryFunction (Print.h) names: the arithmetic that every
/// target does (codegen/kernel/Expand.h), so that a kernel's numbers have the same bits on all of
/// them.
std::string elementaryFunctions(mlir::MLIRContext &context, const std::set<std::string> &names);

} // namespace weir

#endif
