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

  /// The initial variables of an entry: for @init, zeros, except the run's own numbers.
  std::map<std::string, Tensor> variablesFor(llvm::StringRef entry) const;
};

/// The moment of a run in which a program is verified.
enum class Moment {
  middle,    ///< as described above
  start,     ///< the state after @init, step 0
  notFinite, ///< as in the middle, but one parameter is NaN: the step must be skipped
};
constexpr Moment moments[] = {Moment::middle, Moment::start, Moment::notFinite};

/// Whether an entry runs in a moment: unless `full`, only the step runs in moments other than the
/// middle, because other entries behave the same in all of them.
bool isRun(llvm::StringRef entry, Moment moment, bool full);

/// Provides an entry's inputs, in the order of its arguments; none to use random ones.
using GivenInputs = std::function<Tensors(mlir::func::FuncOp entry)>;

/// Random data for the frontend's module. Every number is exact in its storage type. Without
/// `inputs`, float inputs are in [-2, 2), or with `positive` in [0.1, 2). Runs @init, if there is
/// one, on the interpreter. Fails with a diagnostic.
mlir::FailureOr<RandomInputs> makeRandomInputs(mlir::ModuleOp module, unsigned seed,
                                               Moment moment = Moment::middle,
                                               bool positive = false,
                                               const GivenInputs &inputs = nullptr);

/// Draws values for what passes have declared since.
void addVariables(RandomInputs &feed, mlir::ModuleOp module, unsigned seed, Moment moment);

/// Each element as `type` stores it.
void roundTo(mlir::Type type, Tensor &tensor);

} // namespace weir

#endif
