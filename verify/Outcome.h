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

/// What a tensor is compared with as one of.
enum class ResultKind { gradient, parameter, state, optimizer, output };

/// One result of one entry.
struct Result {
  std::string name; ///< "loss.sum", "gradient/wte.weight", "wte.weight"
  ResultKind kind;
  bool exact; ///< integers and truth values
  Tensor value;
  Tensor before;      ///< of a variable: what it was
  mlir::Location loc; ///< the line of the model it comes from
};

using Outcome = std::map<std::string, std::vector<Result>>; ///< by entry

/// Of which entries results are wanted; null for all.
using Wanted = llvm::function_ref<bool(llvm::StringRef entry)>;

/// What the interpreter makes of a module of weir IR. Where weir.gradient is left, `interpreter`'s
/// hook or differences give its results. Fails with a diagnostic.
mlir::FailureOr<Outcome> interpret(mlir::ModuleOp module, const RandomInputs &feed,
                                   Interpreter &interpreter, Wanted wanted = nullptr);

/// The names and kinds of a program's results, taken from weir IR; run on something else by `run`,
/// which gives an entry's outputs and changes the variables.
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

/// A plan on the interpreter; with its offsets, or with memory of its own for every buffer. What it
/// has no entry for is left out.
mlir::FailureOr<Outcome> interpretPlan(mlir::ModuleOp plan, const Results &results,
                                       const RandomInputs &feed, bool offsets,
                                       Wanted wanted = nullptr);

/// The ranks of a mesh, by weir IR, or by plans with their offsets or without.
mlir::FailureOr<Outcome> interpretRanks(RankInterpreter &ranks, const Results &results,
                                        const RandomInputs &feed, bool offsets,
                                        Wanted wanted = nullptr);

/// One result that two programs disagree about.
struct Disagreement {
  std::string entry, name; ///< no name: the whole entry is missing
  ResultKind kind;
  mlir::Location loc;
  double relative;
  int64_t index; ///< row-major, of the worst element
  double expected, found;
};

/// All results of the wanted entries that are not what they should be; `largest` gets the largest
/// relative difference of the others. Of two forms of a program the later one has to have every
/// wanted entry of the truth. Outputs and gradients are compared by the norms of Compare.h,
/// variables by how much they changed. `allowance`, where given, has what each element of each
/// result may be off in any case. `inF32` is for programs that were compiled.
std::vector<Disagreement> disagreements(const Outcome &actual, const Outcome &truth, bool inF32,
                                        double &largest, const Outcome *allowance = nullptr,
                                        Wanted wanted = nullptr);

/// How far rounding to f32 can take each element of each result (verify/Rounding.h).
mlir::FailureOr<Outcome> roundingAllowance(mlir::ModuleOp module, const RandomInputs &feed,
                                           const Outcome &truth);

/// How far each element of each result moves where gradients are off by what is forgiven them: an
/// update that divides a gradient by its own size, as Adam's first one does, makes much of what
/// rounding leaves of a gradient that is zero. `differentiated` is what differentiated()
/// (verify/Gradients.h) gives, whose marked gradients are moved by eight times `tolerance` of their
/// norm, or of a thousandth of the largest one's, spread over their elements with random signs.
mlir::FailureOr<Outcome> gradientAllowance(mlir::ModuleOp differentiated, const RandomInputs &feed,
                                           const Outcome &truth, double tolerance);

/// Where a program rounds to floats that are `step` apart at 1, what is computed a little otherwise
/// may become the other neighbour: allows it of one element in a hundred of a result, or of one.
void allowNeighbours(Outcome &allowance, const Outcome &actual, const Outcome &truth, double step);

/// In every element the larger of the two; both are of the same results.
void raiseTo(Outcome &allowance, const Outcome &other);

} // namespace weir

#endif
