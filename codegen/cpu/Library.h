//===- Library.h - Kernels that the library serves ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of what oneDNN does for the CPU: products with bias and relu, and convolutions. Tiles
// are chosen here, from sizes alone, so that bits depend on neither the machine nor the number of
// threads.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_CPU_LIBRARY_H
#define WEIR_CODEGEN_CPU_LIBRARY_H

#include "ir/plan/PlanDialect.h"

namespace weir {

/// A library kernel's buffers: inputs by block argument, and its one result.
struct LibraryOperands {
  llvm::SmallVector<mlir::Value> inputs;
  mlir::Value result;
};

/// Whether the library serves kernels of this shape.
bool isLibraryKernel(KernelOp kernel);

/// Bytes of scratch per thread that the library takes at most to serve the call, from its tiles
/// alone: neither the library nor the machine is asked, so that an artifact is the same wherever it
/// is compiled. A device refuses a call that wants more.
int64_t scratchBound(const spec::Call &call);

/// Appends the call at the builder. Returns the scratch it needs per thread, in bytes.
mlir::FailureOr<int64_t> emitLibraryCall(mlir::OpBuilder &builder, KernelOp kernel,
                                         const LibraryOperands &operands);

} // namespace weir

#endif
