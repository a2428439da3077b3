//===- KernelStructure.h - Kernels that compute the same ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layers of a model are written once and computed many times: so are the kernels that fusion
// makes of them, and what is done for one of them is done for all.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_KERNEL_KERNELSTRUCTURE_H
#define WEIR_IR_WEIR_KERNEL_KERNELSTRUCTURE_H

#include "ir/weir/WeirDialect.h"
#include "llvm/ADT/DenseMapInfo.h"

namespace weir {

/// For maps and sets of weir.kernel ops. Equal are kernels of one shape, on operands of the same
/// types, with the same bodies; where their operands come from and the lines they are written on do
/// not count. A kernel in a map or set must live, and may have lost its operands.
struct KernelStructure : llvm::DenseMapInfo<mlir::Operation *> {
  static unsigned getHashValue(const mlir::Operation *kernel);
  static bool isEqual(const mlir::Operation *a, const mlir::Operation *b);
};

/// The keys of a kernel's random numbers, each once, in the order of its ops.
llvm::SmallVector<int64_t> randomKeys(KernelOp kernel);

/// A copy whose random numbers have their places in randomKeys for keys: equal for kernels that
/// differ in the keys alone, as those that initialise the same weight of every layer.
mlir::OwningOpRef<KernelOp> withPlacesAsKeys(KernelOp kernel);

/// Of a kernel's result, the name and the line of the op that makes it: "matmul", or "copy"; of
/// what another op makes or an argument is, its own, or "input".
llvm::StringRef resultLabel(mlir::Value value);
mlir::Location resultLocation(mlir::Value value);

/// The first of a kernel's copies, as a kernel.
mlir::OwningOpRef<KernelOp> firstCopy(KernelOp kernel);

/// The elements that one result of a reduction comes from, where its axes come last or first; 0
/// where they do not. Axes of size 1 count as either.
struct ReducedElements {
  int64_t leading = 0, trailing = 0;
};
ReducedElements reducedElements(ReduceOp op);

/// Whether it reduces dimensions of one place alone: nothing is added up, and each element of its
/// result is one of its input's.
bool reducesNothing(ReduceOp op);

} // namespace weir

#endif
