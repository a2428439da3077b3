//===- Parameters.cpp - Binds the arguments of a call ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Parameters.h"

namespace weir::elab {

/// Known without the dimensions, so that dimensions may depend on it.
static bool isSimple(const ast::Expr &expr) {
  if (const auto *unary = llvm::dyn_cast<ast::UnaryExpr>(&expr))
    return isSimple(*unary->operand);
  return llvm::isa<ast::IntegerExpr, ast::FloatingExpr, ast::BooleanExpr, ast::StringExpr>(expr);
}

static bool isTensor(const ast::Parameter &parameter) {
  return parameter.type && llvm::isa<ast::TensorType>(parameter.type.get());
}

namespace {

class ParameterBinder {
public:
  ParameterBinder(const std::vector<const CallArgument *> &slots, Evaluator &evaluator,
                  ShapeMatcher &shapes, TypeMatcher &types)
      : slots(slots), evaluator(evaluator), shapes(shapes), types(types), frame(*evaluator.calls),
        parameters(frame.callable->parameters) {}

  /// Numbers first, since dimensions may depend on them; then tensors, once all of them have said
  /// what the names of their dimensions are; then the defaults that may depend on dimensions.
  void bindAll() {
    visitUnbound([&](size_t i) {
      if (slots[i] && !isTensor(parameters[i]))
        bind(i, *slots[i]);
      else if (!slots[i] && !parameters[i].defaultValue)
        frame.faulty = true; // the argument is missing
      else if (!slots[i] && isSimple(*parameters[i].defaultValue))
        bindDefault(i);
    });
    bindDimensions();
    visitUnbound([&](size_t i) {
      if (slots[i])
        bind(i, *slots[i]);
    });
    visitUnbound([&](size_t i) {
      if (parameters[i].defaultValue)
        bindDefault(i);
      else
        frame.bind(parameters[i].name, Value());
    });
  }

private:
  template <typename Visit> void visitUnbound(Visit visit) {
    for (size_t i = 0; i < slots.size(); ++i)
      if (!frame.scope->names.count(parameters[i].name.text))
        visit(i);
  }

  void bindDimensions() {
    for (size_t i = 0; i < slots.size(); ++i)
      if (slots[i] && isTensor(parameters[i]) && !shapes.bindDimensions(parameters[i], *slots[i]))
        bind(i, *slots[i]); // what is wrong with it is said before what follows from it
  }

  void bind(size_t i, const CallArgument &argument) {
    frame.bind(parameters[i].name, types.matchParameter(parameters[i], argument), argument.config);
  }

  void bindDefault(size_t i) {
    const ast::Expr &expr = *parameters[i].defaultValue;
    bind(i, {parameters[i].name, evaluator.evaluate(expr), expr.range, {}});
  }

  const std::vector<const CallArgument *> &slots;
  Evaluator &evaluator;
  ShapeMatcher &shapes;
  TypeMatcher &types;
  Frame &frame;
  const std::vector<ast::Parameter> &parameters;
};

} // namespace

void bindParameters(const std::vector<const CallArgument *> &slots, Evaluator &evaluator,
                    ShapeMatcher &shapes, TypeMatcher &types) {
  ParameterBinder(slots, evaluator, shapes, types).bindAll();
}

} // namespace weir::elab
