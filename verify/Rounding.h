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

/// What the kernel's region computes in f64.
mlir::FailureOr<Tensors> evaluateExactly(KernelOp meaning, llvm::ArrayRef<Tensor> inputs,
                                         Interpreter &interpreter);

/// The step between floats of the coarsest type that the program rounds to, of 1, and of the one
/// that it lets a device round factors to; 0 if it does not.
double coarsestStep(mlir::ModuleOp program);

/// How far a result may be from its truth when one rounded evaluation gives `rounded`: eight times
/// as far as that is.
double allowanceFrom(double rounded, double truth);

/// For every element of every result, how far it may be from `truth`: the most that a rounded
/// evaluation allows. For integers and truth values: infinite where a rounded evaluation gives
/// what is in `actual`, 0 elsewhere: an answer that rounding never gives is wrong. Evaluates until
/// that is `enough` for the caller, or as often as it makes sense: the allowance only grows.
mlir::FailureOr<Tensors> roundingAllowance(KernelOp meaning, llvm::ArrayRef<Tensor> inputs,
                                           const Tensors &truth, const Tensors &actual,
                                           Interpreter &interpreter,
                                           llvm::function_ref<bool(const Tensors &)> enough);

/// From now on the interpreter rounds like trial number `trial` of an f32 machine, of as many as
/// one likes: 0 to nearest, 1 up, 2 down, the others at random.
void roundLikeF32(Interpreter &interpreter, int trial);

} // namespace weir

#endif
