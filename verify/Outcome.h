//===- Outcome.h - The results of a program -------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The results of every entry of a program, with names that no pass changes, so that two forms of
// the program can be compared.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_VERIFY_OUTCOME_H
#define WEIR_VERIFY_OUTCOME_H

#include "verify/Compiled.h"
#include "verify/RandomInputs.h"
#include "verify/RankInterpreter.h"

namespace weir {

/// Selects the tolerance of a result.
enum class ResultKind { gradient, parameter, state, optimizer, output };

/// One result of one entry.
struct Result {
  std::string name; ///< "loss.sum", "gradient/wte.weight", "wte.weight"
  ResultKind kind;
  bool exact; ///< integers and booleans
  Tensor value;
  Tensor before;      ///< of a variable, its old value
  mlir::Location loc; ///< its line of the model
};

using Outcome = std::map<std::string, std::vector<Result>>; ///< by entry

/// The entries whose results are needed; null for all.
using Wanted = llvm::function_ref<bool(llvm::StringRef entry)>;

/// The results of a weir IR module on the interpreter. If weir.gradient is left, a hook of
/// `interpreter`, or differences, provide its results. Fails with a diagnostic.
mlir::FailureOr<Outcome> interpret(mlir::ModuleOp module, const RandomInputs &feed,
                                   Interpreter &interpreter, Wanted wanted = nullptr);

/// The names and kinds of a program's results, taken from weir IR; `run` runs another form of the
/// program: it returns an entry's outputs, and changes the variables.
using RunEntry = llvm::function_ref<mlir::FailureOr<Tensors>(
    llvm::StringRef entry, const Tensors &inputs, std::map<std::string, Tensor> &variables)>;
class Results {
public:
  explicit Results(mlir::ModuleOp module);
  mlir::FailureOr<Outcome> collect(const RandomInputs &feed, RunEntry run,
                                   Wanted wanted = nullptr) const;

private:
  struct Described {
    std::string name;
    ResultKind kind;
    bool exact;
    mlir::Location loc;
  };
  struct Entry {
    std::string name;
    std::vector<Described> outputs;
  };
  std::vector<Entry> entries;
  std::vector<Described> variables;
};

/// A plan on the interpreter, with its offsets, or with separate memory for every buffer. Omits
/// entries that the plan lacks.
mlir::FailureOr<Outcome> interpretPlan(mlir::ModuleOp plan, const Results &results,
                                       const RandomInputs &feed, bool offsets,
                                       Wanted wanted = nullptr);

/// The ranks of a mesh, as weir IR, or as plans with or without offsets.
mlir::FailureOr<Outcome> interpretRanks(RankInterpreter &ranks, const Results &results,
                                        const RandomInputs &feed, bool offsets,
                                        Wanted wanted = nullptr);

/// One result in which two programs differ.
struct Disagreement {
  std::string entry, name; ///< without a name, the whole entry is missing
  ResultKind kind;
  mlir::Location loc;
  double relative;
  int64_t index; ///< row-major index of the worst element
  double expected, found;
};

/// All results of the selected entries that differ from the reference; `largest` gets the largest
/// relative difference of the others. A later form of a program must have every selected entry of
/// the reference. Outputs and gradients are compared by the norms of Compare.h, variables by their
/// change. `allowance`, if given, contains an additional tolerance for each element of each result.
/// `inF32` is for compiled programs.
std::vector<Disagreement> disagreements(const Outcome &actual, const Outcome &truth, bool inF32,
                                        double &largest, const Outcome *allowance = nullptr,
                                        Wanted wanted = nullptr);

/// How much rounding to f32 can change each element of each result (verify/Rounding.h).
mlir::FailureOr<Outcome> roundingAllowance(mlir::ModuleOp module, const RandomInputs &feed,
                                           const Outcome &truth);

/// How much each element of each result changes if gradients are off by their tolerance. An update
/// that divides a gradient by its own magnitude, as Adam's first one does, amplifies the rounding
/// of a zero gradient. `differentiated` is the result of differentiated() (verify/Gradients.h). Its
/// marked gradients move by eight times `tolerance` of their norm, or of a thousandth of the
/// largest one's, spread over their elements with random signs.
mlir::FailureOr<Outcome> gradientAllowance(mlir::ModuleOp differentiated, const RandomInputs &feed,
                                           const Outcome &truth, double tolerance);

/// If a program rounds to floats that are `step` apart at 1, a slightly different value may be
/// rounded to the other neighbour: allows that for one element in a hundred of a result, or for
/// one.
void allowNeighbours(Outcome &allowance, const Outcome &actual, const Outcome &truth, double step);

/// The larger of the two in every element; both are of the same results.
void raiseTo(Outcome &allowance, const Outcome &other);

} // namespace weir

#endif
