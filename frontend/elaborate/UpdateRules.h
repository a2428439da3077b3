//===- UpdateRules.h - Which optimizer updates which parameter ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The `update` lines of a recipe are rules: the first whose `where` holds takes a parameter. This
// decides who takes what and resolves each rule's optimizer and arguments; it emits nothing.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_ELABORATE_UPDATERULES_H
#define WEIR_FRONTEND_ELABORATE_UPDATERULES_H

#include "frontend/elaborate/RecipeReader.h"
#include "frontend/elaborate/Variables.h"

namespace weir::elab {

/// A parameter with the rule that takes it.
struct Trained {
  Variable *parameter;
  const ast::UpdateEntry *rule;
  mlir::Value gradient; ///< null until it is taken
};

/// A rule's optimizer and its evaluated arguments, the same for all its parameters.
struct UpdateRule {
  const ast::CallableItem *optimizer = nullptr; ///< null after an error
  std::vector<CallArgument> arguments;          ///< but the parameter and its gradient
  std::optional<CallArgument> learningRate;     ///< the one that is `lr`
};

class UpdateRules {
public:
  UpdateRules(Evaluator &evaluator, Files &files, const Recipe &recipe, const Variables &variables)
      : evaluator(evaluator), reporter(evaluator.reporter), files(files), recipe(recipe),
        variables(variables) {}

  /// The parameters that a rule with a changing optimizer takes. Reports those that none takes.
  std::vector<Trained> trainedParameters();
  /// The rules that take no parameter.
  std::vector<const ast::UpdateEntry *> unused();
  UpdateRule resolve(const ast::UpdateEntry &rule);
  /// Whether an optimizer's first two arguments may be a parameter and its gradient. Reported if
  /// not.
  bool takesGradient(const ast::CallableItem &optimizer);

private:
  /// The rule that takes a parameter; null where none does.
  const ast::UpdateEntry *ruleOf(const Variable &parameter);
  const ast::CallableItem *findOptimizer(const ast::Identifier &name);

  Evaluator &evaluator;
  Reporter &reporter;
  Files &files;
  const Recipe &recipe;
  const Variables &variables;
};

} // namespace weir::elab

#endif
