//===- Rounding.h - The effect of rounding to f32 on a kernel -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel's meaning is in f64, and its code in f32. If numbers cancel, or decide a branch, the two
// may differ by much more than one rounding. The possible difference is measured: the meaning is
// evaluated again with every op's results rounded to f32, to nearest, up, down and at random (Monte
// Carlo arithmetic: D. S. Parker, "Monte Carlo Arithmetic", UCLA CSD-970002, 1997).
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_VERIFY_ROUNDING_H
#define WEIR_VERIFY_ROUNDING_H

#include "ir/reference/Interpreter.h"

namespace weir {

/// The results of the kernel's region in f64.
mlir::FailureOr<Tensors> evaluateExactly(KernelOp meaning, llvm::ArrayRef<Tensor> inputs,
                                         Interpreter &interpreter);

/// The spacing at 1 of the coarsest float type that the program rounds to, and of the one to which
/// it lets a device round operands; 0 if there is none.
double coarsestStep(mlir::ModuleOp program);

/// The allowed difference of a result from its truth if one rounded evaluation gives `rounded`:
/// eight times its difference.
double allowanceFrom(double rounded, double truth);

/// For every element of every result, its allowed difference from `truth`: the maximum over rounded
/// evaluations. For integers and booleans: infinite if a rounded evaluation gives the value in
/// `actual`, otherwise 0. Evaluates until that is `enough` for the caller, or for a limited number
/// of times: the allowance only grows.
mlir::FailureOr<Tensors> roundingAllowance(KernelOp meaning, llvm::ArrayRef<Tensor> inputs,
                                           const Tensors &truth, const Tensors &actual,
                                           Interpreter &interpreter,
                                           llvm::function_ref<bool(const Tensors &)> enough);

/// From now on, the interpreter rounds as an f32 machine would in trial number `trial`: 0 to
/// nearest, 1 up, 2 down, all others at random.
void roundLikeF32(Interpreter &interpreter, int trial);

} // namespace weir

#endif
