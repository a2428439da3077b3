//===- TrainingWarnings.h - Warnings that take the program to see ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_ELABORATE_TRAININGWARNINGS_H
#define WEIR_FRONTEND_ELABORATE_TRAININGWARNINGS_H

#include "frontend/elaborate/Entry.h"
#include "frontend/elaborate/UpdateRules.h"

namespace weir::elab {

/// Warns of what trains otherwise than its author probably wants. Silent once there are errors.
class TrainingWarnings {
public:
  TrainingWarnings(CallStack &calls, Reporter &reporter, Recipe &recipe, const Variables &variables,
                   UpdateRules &rules)
      : current(calls), reporter(reporter), diagnostics(reporter.diagnostics), recipe(recipe),
        variables(variables), rules(rules) {}

  /// Of parameters that no gradient reaches, and of rules that take none.
  void warnUntrained(const std::vector<Trained> &trained, const Ratio &loss,
                     llvm::ArrayRef<Metric> metrics);
  void warnLearningRate(const Value &rate, Range range);
  /// Of the innermost call, whose arguments are bound.
  void warnSchedule(Range call);
  void warnLossCall(const ast::CallableItem &callable, Range call, const Entry *entry);
  /// Where the loss `name` gets what is no logits, or labels that the model has seen.
  void warnLoss(const std::string &name, const Value &logits, const Value &labels, Range call,
                const Entry *entry);
  void warnSecondModel(const ast::CallableItem &callable, Range call, const Entry *entry);

private:
  void warnUnusedRules();
  const Value *argument(const char *name);

  CallStack &current;
  Reporter &reporter;
  Diagnostics &diagnostics;
  Recipe &recipe; ///< gets the warm-up of its schedule
  const Variables &variables;
  UpdateRules &rules;
};

} // namespace weir::elab

#endif
