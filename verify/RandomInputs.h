//===- RandomInputs.h - Random inputs of a verified program ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random numbers that expose faults: no parameter is zero or one, no state has its initial value,
// and optimizer state is that of the middle of a run, where updates are well conditioned (the first
// step of Adam divides noise by noise).
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_VERIFY_RANDOMINPUTS_H
#define WEIR_VERIFY_RANDOMINPUTS_H

#include "ir/reference/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <functional>

namespace weir {

struct RandomInputs {
  std::map<std::string, Tensor> variables;
  std::map<std::string, Tensors> inputs; ///< of each entry, in the order of its arguments

  /// The variables that an entry begins with: @init with zeros, but for the run's own numbers.
  std::map<std::string, Tensor> variablesFor(llvm::StringRef entry) const;
};

/// Where in a run a program is looked at.
enum class Moment {
  middle,    ///< as said above
  start,     ///< everything as @init leaves it, step 0
  notFinite, ///< as in the middle, but one parameter is not a number: the step is to be skipped
};
constexpr Moment moments[] = {Moment::middle, Moment::start, Moment::notFinite};

/// Whether an entry is run at a moment: if not `full`, only the step is at others than the middle,
/// since the other entries do there what they do everywhere.
bool isRun(llvm::StringRef entry, Moment moment, bool full);

/// Gives an entry's inputs, in the order of its arguments; none where they are random all the same.
using GivenInputs = std::function<Tensors(mlir::func::FuncOp entry)>;

/// A feed for a module as the frontend makes it. Every number is exact in its storage type. Where
/// `inputs` is not set, float inputs lie in [-2, 2), or with `positive` in [0.1, 2). Runs @init, if
/// there is one, on the interpreter. Fails with a diagnostic.
mlir::FailureOr<RandomInputs> makeRandomInputs(mlir::ModuleOp module, unsigned seed,
                                               Moment moment = Moment::middle,
                                               bool positive = false,
                                               const GivenInputs &inputs = nullptr);

/// Draws what a pass has declared since the feed was made.
void addVariables(RandomInputs &feed, mlir::ModuleOp module, unsigned seed, Moment moment);

/// Each element as `type` stores it.
void roundTo(mlir::Type type, Tensor &tensor);

} // namespace weir

#endif
