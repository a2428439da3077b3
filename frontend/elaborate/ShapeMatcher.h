//===- ShapeMatcher.h - Shapes against types, and dimension variables -----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A type such as `[b, .., 4 * width]` has dimension variables: names that are neither configs nor
// arguments. A call binds each to the size that an argument has there; every further use must have
// the same size. The matcher binds them in the innermost call's scope, evaluates the dimensions of
// types and compares shapes with them. It emits no ops.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_ELABORATE_SHAPEMATCHER_H
#define WEIR_FRONTEND_ELABORATE_SHAPEMATCHER_H

#include "frontend/elaborate/Evaluator.h"

namespace weir::elab {

/// The value that is matched with a type, for messages, and what it may bind.
struct Matched {
  Range range;
  std::string what;    ///< begins messages: "argument `x` of `mlp`"
  std::string boundBy; ///< of the dimensions that it binds: "argument `x`"
  bool binds = false;  ///< unbound dimensions are bound; otherwise they are an error
};

class ShapeMatcher {
public:
  ShapeMatcher(Evaluator &evaluator, Files &files)
      : evaluator(evaluator), reporter(evaluator.reporter), current(evaluator.calls), files(files) {
  }

  //===--- Which names are dimensions ---------------------------------------------------------===//

  /// Reports names of dimensions that are misspelt, or that no call can bind.
  void checkDimensionNames(const ast::CallableItem &callable);
  /// Enters the dimension variables of the innermost call.
  void collectDimensions(const ast::CallableItem &callable);
  /// Of a dimension that nothing binds, once for each; silent where an argument was wrong.
  void reportUnbound(const ast::CallableItem &callable, const ast::NameExpr &name);

  //===--- Dimensions of types ----------------------------------------------------------------===//

  std::optional<Dim> evaluateDim(const ast::Expr &expr);
  /// A type without `..` to bind, all of whose dimensions are known. Nothing, reported, otherwise.
  std::optional<Dims> evaluateDims(const ast::TensorType &type);

  //===--- Matching ---------------------------------------------------------------------------===//

  /// Binds the dimensions that the type of a parameter names and no argument before it has. False
  /// where the argument is no such tensor.
  bool bindDimensions(const ast::Parameter &parameter, const CallArgument &argument);
  /// Whether a tensor is of a type; it gets the type's names for its dimensions. False where
  /// something was reported.
  bool match(const ast::TensorType &type, Tensor &tensor, const Matched &matched);
  /// Gives the dimensions of a call's result the caller's names.
  void restoreNames(Value &value);

private:
  enum class Outcome { matches, unknown, differs };

  void bindDimension(const std::string &name, Dim &found, Range range, const std::string &boundBy);
  bool matchElement(const ast::TensorType &type, const Tensor &tensor, const Matched &matched);
  bool matchRank(const ast::TensorType &type, const Tensor &tensor, const Matched &matched);
  bool matchEllipsis(const ast::TensorType &type, Tensor &tensor, const Matched &matched);
  Outcome matchDim(const ast::TensorType &type, size_t i, Tensor &tensor, const Matched &matched);
  void reportSize(const ast::TensorType &type, const ast::Expr &expr, const Dim &wanted,
                  const Dim &found, const Tensor &tensor, const Matched &matched);

  Evaluator &evaluator;
  Reporter &reporter;
  CallStack &current;
  Files &files;
  std::set<std::pair<const ast::CallableItem *, std::string>> unbound; ///< dimensions reported
};

} // namespace weir::elab

#endif
