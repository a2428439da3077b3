//===- Expressions.cpp - Names, numbers and operators ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Builtins.h"
#include "frontend/elaborate/Elaborator.h"
#include "frontend/foreign/Foreign.h"
#include "support/NearestName.h"

#include <numbers>

namespace weir::elab {

Value Elaborator::evaluate(const ast::Expr &expr) {
  Value value = evaluateAnySize(expr);
  if (value.isPoison())
    reporter.requireReport(expr.range, "an expression without a value");
  const auto *tensor = value.get<Tensor>();
  if (!tensor || fits(tensor->dims))
    return value;
  error(expr.range, describe(*tensor) + tooLarge);
  return {};
}

Value Elaborator::evaluateAnySize(const ast::Expr &expr) {
  if (const auto *node = llvm::dyn_cast<ast::IntegerExpr>(&expr))
    return node->value;
  if (const auto *node = llvm::dyn_cast<ast::FloatingExpr>(&expr))
    return node->value;
  if (const auto *node = llvm::dyn_cast<ast::BooleanExpr>(&expr))
    return node->value;
  if (const auto *node = llvm::dyn_cast<ast::StringExpr>(&expr))
    return node->value;
  if (const auto *node = llvm::dyn_cast<ast::NameExpr>(&expr))
    return name(*node);
  if (const auto *node = llvm::dyn_cast<ast::CallExpr>(&expr))
    return call(*node);
  if (const auto *node = llvm::dyn_cast<ast::IndexExpr>(&expr))
    return indexValue(evaluate(*node->base), *node, *this, tensors,
                      entry() ? &entry()->limitConfigs : nullptr);
  if (const auto *node = llvm::dyn_cast<ast::UnaryExpr>(&expr))
    return tensors.unary(node->op, evaluate(*node->operand), node->range);
  if (const auto *node = llvm::dyn_cast<ast::BinaryExpr>(&expr)) {
    Value lhs = evaluate(*node->lhs);
    const bool *truth = lhs.get<bool>();
    if (truth && node->op == (*truth ? ast::BinaryOp::logicalOr : ast::BinaryOp::logicalAnd))
      return lhs; // the other side may rely on it
    Value rhs = evaluate(*node->rhs);
    return tensors.binary(node->op, lhs, rhs, node->range);
  }
  if (const auto *node = llvm::dyn_cast<ast::ListExpr>(&expr)) {
    std::vector<Value> elements;
    for (const ast::ExprPtr &element : node->elements)
      elements.push_back(evaluate(*element));
    return Value::list(std::move(elements));
  }
  error(expr.range, "`..` stands only among the dimensions of a type");
  return {};
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

Value Elaborator::builtinName(const std::string &name, Range range, bool &known) {
  known = true;
  if (name == "pi")
    return std::numbers::pi;
  if (name == "none")
    return None();
  if (name == "in_out" || name == "out_in")
    return name;
  if (entry()) {
    if (name == "training")
      return entry()->training;
    if (name == "step" || name == "total_steps")
      return Tensor{readRun(name, range), {}};
  }
  known = false;
  return {};
}

std::vector<std::string> Elaborator::visibleNames() {
  std::vector<std::string> names;
  if (diagnostics.full())
    return names;
  for (const Scope *scope = current->scope; scope; scope = scope->outer)
    for (const auto &[name, binding] : scope->names)
      names.push_back(name);
  for (const auto &[name, binding] : current->file->globals.names)
    names.push_back(name);
  names.insert(names.end(), {"pi", "none", "training", "step", "total_steps"});
  return names;
}

Value Elaborator::name(const ast::NameExpr &expr) {
  if (const Binding *binding = current->find(expr.name))
    return binding->value;
  if (current->dimensions.count(expr.name)) {
    shapes.reportUnbound(*current->callable, expr);
    return {};
  }
  bool known = false;
  Value builtin = builtinName(expr.name, expr.range, known);
  if (known)
    return builtin;
  if (const Scope::Hidden *hidden = current->scope->findHidden(expr.name)) {
    error(expr.range, "`" + expr.name + "` " + hidden->why).note(hidden->range, "bound here");
    return {};
  }
  if (!entry() && (expr.name == "step" || expr.name == "total_steps" || expr.name == "training")) {
    error(expr.range,
          "`" + expr.name + "` belongs to a run; configs, consts and requirements do not know it");
    return {};
  }
  if (findCallable(expr.name) || findBuiltin(expr.name)) {
    error(expr.range, "`" + expr.name + "` is a function; it can only be called");
    return {};
  }
  reportUnknownName(expr);
  return {};
}

/// `x.shape`, `math.pi`, `True`, `widht`.
void Elaborator::reportUnknownName(const ast::NameExpr &expr) {
  const std::string &name = expr.name;
  size_t dot = name.rfind('.');
  bool attribute = dot != std::string::npos && current->isValue(name.substr(0, dot));
  std::string last = name.substr(dot + 1); // npos + 1 is 0
  Diagnostic &report =
      reporter.unknown(expr.range, attribute ? "tensors have no attributes, such as `." + last + "`"
                                             : "unknown name `" + name + "`");
  bool known = false;
  if (dot != std::string::npos && !attribute)
    builtinName(last, expr.range, known);
  if (known)
    report.help("write `" + last + "`");
  else if (const ForeignName *foreign = foreignName(Foreign::value, name))
    report.help(foreign->help());
  else
    report.suggest(nearestName(name, visibleNames()));
}

} // namespace weir::elab
