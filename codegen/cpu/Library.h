//===- Library.h - Kernels that the library serves ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of what oneDNN does for the CPU: products with bias and relu, convolutions, pooling.
// Tiles are chosen here, from sizes, elements and layouts alone, so that bits depend on neither the
// machine nor the number of threads.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_CPU_LIBRARY_H
#define WEIR_CODEGEN_CPU_LIBRARY_H

#include "codegen/Target.h"
#include "codegen/cpu/Processor.h"
#include "ir/plan/PlanDialect.h"

namespace weir {

/// Whether kernels of this shape are calls of the library.
bool isLibraryShape(KernelShape shape);

/// Why the library cannot serve a kernel of this shape with this op at its root; empty if it can,
/// or if the shape is none of its.
std::string libraryDeclines(KernelShape shape, mlir::Operation *root);

/// Whether it can end so what it serves with this op at its root.
bool libraryTakes(mlir::Operation *root, Epilogue epilogue);

/// Bytes of scratch per thread that the library takes at most to serve the call, from its tiles
/// alone: neither the library nor the machine is asked, so that an artifact is the same wherever it
/// is compiled. A device refuses a call that wants more.
int64_t scratchBound(const spec::Call &call);

/// Appends the call at the builder. Returns the scratch it needs per thread, in bytes.
mlir::FailureOr<int64_t> emitLibraryCall(mlir::OpBuilder &builder, KernelOp kernel,
                                         const CallBuffers &buffers, const Processor &processor);

} // namespace weir

#endif
