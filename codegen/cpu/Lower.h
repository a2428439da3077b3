//===- Lower.h - From emitted kernels to an object, to a library ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_CPU_LOWER_H
#define WEIR_CODEGEN_CPU_LOWER_H

#include "codegen/cpu/Processor.h"

#include "llvm/ADT/SmallVector.h"

namespace weir {

using ObjectBytes = llvm::SmallVector<char, 0>;

/// Scalar and vector elementary functions to polynomials and hardware instructions: nothing is left
/// for a mathematics library. Then the flags that allow sums in any order.
void approximateMath(mlir::ModuleOp module);

/// Replaces conversions between f32 and floats of low precision by arithmetic on their bits, where
/// processors have no instruction.
void expandSmallFloats(mlir::ModuleOp module);

/// Replaces maxima of magnitudes in vectors by those of their bits: one instruction for the four of
/// a maximum that keeps NaN.
void compareMagnitudes(mlir::ModuleOp module);

/// To the LLVM dialect.
mlir::LogicalResult lowerToLLVM(mlir::ModuleOp module);

/// A relocatable object of a module of the LLVM dialect.
mlir::FailureOr<ObjectBytes> compileToObject(mlir::ModuleOp module, const Processor &processor);

/// A shared object of relocatable ones. An undefined symbol is an error. Too few open files, or
/// too little memory, is emitted as emitSystemError does.
mlir::FailureOr<std::vector<char>> linkObjects(llvm::ArrayRef<ObjectBytes> objects,
                                               mlir::Location loc);

} // namespace weir

#endif
