//===- Expand.h - Elementary functions as arithmetic ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every target computes elementary functions and rounds to low precision by the same arithmetic: a
// value has the same bits wherever it is computed.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_KERNEL_EXPAND_H
#define WEIR_CODEGEN_KERNEL_EXPAND_H

#include "mlir/IR/BuiltinOps.h"

namespace weir {

/// Who computes e^x, on which other functions are built.
enum class Exponential { byPolynomial, byTarget };

/// Scalar and vector elementary functions to polynomials and hardware instructions: nothing is left
/// for a mathematics library, but math.exp where the target has one of its own. Divisions that may
/// be by a reciprocal (`arcp`) are divisions.
void approximateMath(mlir::ModuleOp module, Exponential exponentials = Exponential::byPolynomial);

/// Powers and reciprocal roots alone to other elementary functions, as approximateMath does.
void reducePowers(mlir::ModuleOp module);

/// What goes to a float of low precision goes by way of f32 then, as folding may have undone.
void narrowByF32(mlir::ModuleOp module);

/// Replaces conversions between f32 and floats of low precision by arithmetic on their bits; those
/// of f16 only where `halves` says so.
void expandSmallFloats(mlir::ModuleOp module, bool halves);

} // namespace weir

#endif
