//===- Lower.h - From emitted kernels to an object, to a library ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_CPU_LOWER_H
#define WEIR_CODEGEN_CPU_LOWER_H

#include "codegen/cpu/Processor.h"
#include "codegen/kernel/Families.h"

#include "llvm/ADT/SmallVector.h"

namespace weir {

using ObjectBytes = llvm::SmallVector<char, 0>;

/// Replaces maxima of magnitudes in vectors by those of their bits: one instruction for the four of
/// a maximum that keeps NaN.
void compareMagnitudes(mlir::ModuleOp module);

/// Makes a private function, behind each kernel, of an elementary function that the kernel computes
/// many times: a long chain compiles in less time. Results keep their bits.
void outlineMath(mlir::ModuleOp module);

/// To the LLVM dialect. Private functions are never inlined.
mlir::LogicalResult lowerToLLVM(mlir::ModuleOp module);

/// Adds a family's members to a module of the LLVM dialect, each behind the function that it calls.
void addMembers(mlir::ModuleOp lowered, const KernelFamily &family);

/// A relocatable object of a module of the LLVM dialect. Its functions are hidden: linkObjects
/// exports them under other names.
mlir::FailureOr<ObjectBytes> compileToObject(mlir::ModuleOp module, const Processor &processor);

/// A symbol of a shared object, and the function of its objects that it is.
struct LinkedName {
  std::string exported, function;
};

/// A shared object of relocatable ones, which exports `names` alone. An undefined symbol is an
/// error. Too few open files, or too little memory, is emitted as emitSystemError does.
mlir::FailureOr<std::vector<char>> linkObjects(llvm::ArrayRef<ObjectBytes> objects,
                                               llvm::ArrayRef<LinkedName> names,
                                               mlir::Location loc);

} // namespace weir

#endif
