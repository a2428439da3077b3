//===- GradientCheck.h - Three proofs of a gradient -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For a function f of sources x (its float arguments and the variables it reads), with u random
// weights of its results and J its Jacobian there, the gradients J^T u of sum(u f(x)) that autodiff
// builds are
//
//   differences  those of the interpreter's weir.gradient: f64, element by element;
//   identity     such that <J v, u> = <v, J^T u> for random v; to rounding where f is linear;
//   simplified   the same after simplification;
//   compiled     what the compiled program gives in f32, whose outputs and scratch are filled with
//                NaN beforehand, so that an element that nobody writes shows.
//
// Tensors are compared by norms (verify/Compare.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_PASSES_AUTODIFF_GRADIENTCHECK_H
#define WEIR_TEST_PASSES_AUTODIFF_GRADIENTCHECK_H

#include "ir/reference/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include <functional>
#include <string>
#include <vector>

namespace weir::test {

/// A function of the module that is checked. Its inputs are random numbers: floats in [-2, 2) or
/// [test.low, test.high) where the argument has these attributes, integers in [0, test.high) or
/// [0, weir.limit); variables that are parameters in [-1, 1), others in [0.5, 1.5).
struct GradientSubject {
  std::string name;
  unsigned linear = 0;             ///< bit i: the results are linear in source i, the others fixed
  double compiledTolerance = 1e-5; ///< of gradients, by the rule of verify/Compare.h
};

/// A hand in the works, to see that the checks find it.
struct Tampering {
  std::function<void(mlir::ModuleOp)> afterAutodiff, beforeCompile;
};

/// What does not hold, in words; empty if all does. The functions get the weights as further
/// arguments, and return the gradients of their sources before their float results.
std::vector<std::string> checkGradients(mlir::ModuleOp module,
                                        llvm::ArrayRef<GradientSubject> subjects,
                                        const Tampering &tampering = {});

/// Only makes the functions return their gradients, as ops: then these can be checked for their
/// own. False where autodiff fails.
bool takeGradients(mlir::ModuleOp module, llvm::ArrayRef<GradientSubject> subjects);

/// One a line, for a test to show and to search.
std::string lines(const std::vector<std::string> &faults);

/// Adds what every artifact has, where the module has none: a batch, and entries init and step.
void completeProgram(mlir::ModuleOp program);

/// A function's inputs, which stay within (-1, 1) and differ.
Tensors variedInputs(mlir::func::FuncOp function);

/// The dialects of programs, with the interpreter.
void prepareContext(mlir::MLIRContext &context);

} // namespace weir::test

#endif
