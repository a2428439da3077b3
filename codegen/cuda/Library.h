//===- Library.h - Kernels that cuBLASLt serves ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_CUDA_LIBRARY_H
#define WEIR_CODEGEN_CUDA_LIBRARY_H

#include "codegen/Target.h"
#include "codegen/cuda/Architecture.h"

namespace weir::gpu {

/// Why the library does not serve kernels with this op at their root; empty if it does.
std::string libraryDeclines(mlir::Operation *root, const Architecture &architecture);

/// Why it does not multiply factors of such elements of eight bits in a product like this one, with
/// the dimension that is summed last in both.
std::string libraryDeclinesF8(MatmulOp product, mlir::Type lhs, mlir::Type rhs);

/// Whether a product may end so.
bool libraryTakes(mlir::Operation *root, Epilogue epilogue);

/// Appends the call at the builder. It needs no scratch of threads: 0.
mlir::FailureOr<int64_t> emitLibraryCall(mlir::OpBuilder &builder, KernelOp kernel,
                                         const CallBuffers &buffers);

} // namespace weir::gpu

#endif
