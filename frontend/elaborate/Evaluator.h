//===- Evaluator.h - What the parts ask of expressions --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Types, slices and the recipe need the values of expressions, but not how they are found. The
// elaborator is the Evaluator of a program; a test may have one that knows a few names.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_ELABORATE_EVALUATOR_H
#define WEIR_FRONTEND_ELABORATE_EVALUATOR_H

#include "frontend/elaborate/Reporter.h"

namespace weir::elab {

class Evaluator {
public:
  Evaluator(Reporter &reporter, CallStack &calls) : reporter(reporter), calls(calls) {}
  virtual ~Evaluator() = default;

  /// Poison where something was reported.
  virtual Value evaluate(const ast::Expr &expr) = 0;
  /// Nothing, reported, for anything but an int that is known when compiling. `what` begins the
  /// message: "the bound of a slice".
  std::optional<int64_t> evaluateInt(const ast::Expr &expr, const std::string &what);
  /// The same for a truth value.
  std::optional<bool> evaluateCondition(const ast::Expr &expr, const std::string &what);
  /// The arguments of a call; one that is several values is reported and poison.
  std::vector<CallArgument> evaluateArguments(const std::vector<ast::Argument> &arguments);
  /// Whether a `where` holds for these values of its names. `otherwise` after an error in it; true
  /// where there is none.
  bool holds(const ast::ExprPtr &where, const std::vector<std::pair<const char *, Value>> &names,
             bool otherwise);

  Reporter &reporter;
  CallStack &calls; ///< names mean what they do in the innermost of them
};

} // namespace weir::elab

#endif
