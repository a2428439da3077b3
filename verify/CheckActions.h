//===- CheckActions.h - Checks each action of a real run ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares every action of a running program with the meaning of its op in the plan. It copies the
// arena before the action, lets the reference interpreter execute the op on the copy, and then
// compares the bytes that the action wrote. Each action begins with the values of the real run, so
// one fault is one mismatch.
//
// A floating-point result agrees if ||difference|| <= 1e-5 ||truth||. Otherwise, the possible
// effect of rounding is first subtracted from each element's difference (verify/Rounding.h). For a
// product or convolution, this effect is a millionth of the sum of the magnitudes that it adds up,
// and any non-finite result if f32 cannot represent that sum. This also allows a comparison, a
// floor or an argmax to differ if its operands are that close. Integers and booleans agree exactly,
// or with a result that rounding can cause. Bytes outside the action's results must not change.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_VERIFY_CHECKACTIONS_H
#define WEIR_VERIFY_CHECKACTIONS_H

#include "ir/reference/PlanInterpreter.h"
#include "runtime/core/Program.h"
#include "verify/ArenaMemory.h"
#include <functional>
#include <string>
#include <vector>

namespace weir {

/// An action whose result differs from its meaning.
struct ActionMismatch {
  std::string entry; ///< "step"
  std::string when;  ///< "step 3"
  uint32_t action = 0, round = 0;
  std::string work;   ///< "launch of kernel_3, row"
  std::string op;     ///< the op whose result is wrong: "weir.exp", "plan.copy"
  std::string place;  ///< "models/gpt-char.weir:23", or "" if no line is known
  std::string detail; ///< the element, the expected and the actual value
  std::string text() const;
};

/// The extent of the comparison.
struct CheckedActions {
  int64_t entries = 0;   ///< runs of entries
  int64_t steps = 0;     ///< of those, runs of the entry `step`
  int64_t actions = 0;   ///< runs of actions
  int64_t rounded = 0;   ///< results that agree only because of what rounding can do
  double largest = 0;    ///< relative difference of all other floating-point results
  std::string largestAt; ///< its action and line
};

class CheckActions : public Observer {
public:
  /// Observes `program` during its lifetime. `plan` is what the program was made from, with offsets
  /// (codegen/artifact/Reader.h). Both must outlive it.
  CheckActions(Program &program, mlir::ModuleOp plan);
  ~CheckActions() override;
  CheckActions(const CheckActions &) = delete;

  /// Called for every mismatch, if set; an exception from it ends the run.
  std::function<void(const ActionMismatch &)> onMismatch;
  /// Called before an action is run and checked, if set, with the number of the entry's actions.
  std::function<void(const std::string &when, uint32_t action, uint32_t count)> onAction;

  const std::vector<ActionMismatch> &mismatches() const { return found; }
  const CheckedActions &checked() const { return summary; }

  /// Throw Failure(Exit::internal) if the reference cannot execute an action.
  void before(const ActionPlace &place) override;
  void after(const ActionPlace &place) override;

private:
  struct Entry {
    std::string name;
    std::vector<mlir::Operation *> actions; ///< numbered as in the artifact
    mlir::Operation *last;                  ///< the last one of the entry
  };
  /// A tensor that should be in the arena now.
  struct Expected {
    int64_t address;
    mlir::Type element;
    Shape shape;
    std::vector<double> truth;
    std::vector<bool> known; ///< empty: all
    std::string op;
    mlir::Location loc;
  };

  std::string whenOf(const Entry &entry) const;
  void keep();
  std::vector<Expected> expect(mlir::Operation *op, Tensors &inputs);
  std::vector<Expected> expectLaunch(plan::LaunchOp launch, Tensors &inputs);
  std::vector<Expected> storedBy(mlir::Operation *op);
  Tensors allowance(mlir::Operation *op, const Tensors &inputs,
                    const std::vector<Expected> &expected);
  void compare(mlir::Operation *op, const Tensors &inputs, const std::vector<Expected> &expected);
  void compareRaw(mlir::Operation *op);
  void compareRest(mlir::Operation *op, const std::vector<Expected> &expected);
  void checkRound(plan::LoopOp loop);
  std::string ownerOf(int64_t address, mlir::Operation *op) const;
  std::string describe(mlir::Operation *op);
  void report(mlir::Operation *op, const std::string &what, mlir::Location loc,
              const std::string &detail);

  Program &program;
  mlir::ModuleOp plan;
  Interpreter interpreter;
  ArenaMemory memory;
  PlanInterpreter machine;
  mlir::SymbolTableCollection symbols;
  std::vector<Entry> entries;
  const TensorView *step = nullptr; ///< the run's counter
  std::vector<std::byte> arena;     ///< as the last action left it
  std::string when;
  ActionPlace place{};
  std::vector<ActionMismatch> found;
  CheckedActions summary;
};

} // namespace weir

#endif
