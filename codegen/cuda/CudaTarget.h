//===- CudaTarget.h - Graphics processors as targets ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_CUDA_CUDATARGET_H
#define WEIR_CODEGEN_CUDA_CUDATARGET_H

#include "codegen/Target.h"

namespace weir {

/// The target that "cuda:sm_90" and the like name, and "cuda", whose kernels are compiled when they
/// are loaded; null for anything else.
std::unique_ptr<Target> makeCudaTarget(llvm::StringRef option);

/// The dialects of what it emits.
void registerCudaDialects(mlir::DialectRegistry &registry);

} // namespace weir

#endif
