//===- Expressions.cpp - Names, numbers and operators -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Builtins.h"
#include "frontend/elaborate/Elaborator.h"
#include "frontend/foreign/Foreign.h"
#include "ir/weir/elementwise/Unary.h"
#include "runtime/base/NearestName.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>
#include <numbers>

namespace weir::elab {

Value Elaborator::evaluate(const ast::Expr &expr) {
  Value value = evaluateAnySize(expr);
  if (value.isPoison())
    requireReport(expr.range, "an expression without a value");
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
    return index(*node);
  if (const auto *node = llvm::dyn_cast<ast::UnaryExpr>(&expr))
    return unary(node->op, evaluate(*node->operand), node->range);
  if (const auto *node = llvm::dyn_cast<ast::BinaryExpr>(&expr)) {
    Value lhs = evaluate(*node->lhs);
    const bool *truth = lhs.get<bool>();
    if (truth && node->op == (*truth ? ast::BinaryOp::logicalOr : ast::BinaryOp::logicalAnd))
      return lhs; // the other side may rely on it
    Value rhs = evaluate(*node->rhs);
    return binary(node->op, lhs, rhs, node->range);
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
  Binding *binding = current->scope->find(expr.name);
  if (!binding) {
    auto global = current->file->globals.names.find(expr.name);
    if (global != current->file->globals.names.end())
      binding = &global->second;
  }
  if (binding)
    return binding->value;
  if (current->dimensions.count(expr.name)) {
    reportUnbound(*current->callable, expr);
    return {};
  }
  bool known = false;
  Value builtin = builtinName(expr.name, expr.range, known);
  if (known)
    return builtin;
  for (const Scope *scope = current->scope; scope; scope = scope->outer) {
    auto hidden = scope->hidden.find(expr.name);
    if (hidden != scope->hidden.end()) {
      error(expr.range, "`" + expr.name + "` " + hidden->second.why)
          .note(hidden->second.range, "bound here");
      return {};
    }
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

bool Elaborator::isValue(const std::string &name) {
  return current->scope->find(name) || current->file->globals.names.count(name) ||
         current->dimensions.count(name);
}

/// `x.shape`, `math.pi`, `True`, `widht`.
void Elaborator::reportUnknownName(const ast::NameExpr &expr) {
  const std::string &name = expr.name;
  size_t dot = name.rfind('.');
  bool attribute = dot != std::string::npos && isValue(name.substr(0, dot));
  std::string last = name.substr(dot + 1); // npos + 1 is 0
  Diagnostic &report =
      unknown(expr.range, attribute ? "tensors have no attributes, such as `." + last + "`"
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

std::string Elaborator::configOf(const ast::Expr &expr) {
  const auto *node = llvm::dyn_cast<ast::NameExpr>(&expr);
  if (!node)
    return {};
  if (Binding *binding = current->scope->find(node->name))
    return binding->config;
  auto global = current->file->globals.names.find(node->name);
  return global == current->file->globals.names.end() ? std::string() : global->second.config;
}

std::optional<int64_t> Elaborator::evaluateInt(const ast::Expr &expr, const std::string &what) {
  Value value = evaluate(expr);
  if (const auto *number = value.get<int64_t>())
    return *number;
  if (!value.isPoison())
    error(expr.range,
          what + " must be an int that is known when compiling, but is " + value.describe());
  return std::nullopt;
}

std::optional<bool> Elaborator::evaluateCondition(const ast::Expr &expr, const std::string &what) {
  Value value = evaluate(expr);
  if (const auto *truth = value.get<bool>())
    return *truth;
  if (value.isPoison())
    return std::nullopt;
  Diagnostic &report =
      error(expr.range, what + " must be a truth value that is known when compiling, but is " +
                            value.describe());
  if (value.get<Tensor>())
    report.help("`select(condition, a, b)` chooses while the program runs");
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Operators on what is known now
//===----------------------------------------------------------------------===//

static bool equal(const Value &a, const Value &b) {
  if (a.isNumber() && b.isNumber())
    return a.number() == b.number();
  if (a.get<std::string>() && b.get<std::string>())
    return *a.get<std::string>() == *b.get<std::string>();
  if (a.get<bool>() && b.get<bool>())
    return *a.get<bool>() == *b.get<bool>();
  return a.get<None>() && b.get<None>();
}

/// Nothing where the result does not fit into 64 bits.
static std::optional<int64_t> integerPower(int64_t base, int64_t exponent) {
  if (base == -1)
    return exponent % 2 ? -1 : 1;
  int64_t result = 1;
  for (int64_t i = 0; i < exponent; ++i)
    if (__builtin_mul_overflow(result, base, &result))
      return std::nullopt;
    else if (result == 0 || (result == 1 && i > 0))
      return result;
  return result;
}

Value Elaborator::staticBinary(ast::BinaryOp op, const Value &lhs, const Value &rhs, Range range) {
  using ast::BinaryOp;
  if (op == BinaryOp::eq)
    return equal(lhs, rhs);
  if (op == BinaryOp::ne)
    return !equal(lhs, rhs);
  if (op == BinaryOp::logicalAnd || op == BinaryOp::logicalOr) {
    const bool *a = lhs.get<bool>(), *b = rhs.get<bool>();
    if (a && b)
      return op == BinaryOp::logicalAnd ? *a && *b : *a || *b;
    error(range, std::string("`") + spelling(op) + "` wants truth values, not " +
                     (a ? rhs : lhs).describe());
    return {};
  }
  if (!lhs.isNumber() || !rhs.isNumber()) {
    error(range, std::string("`") + spelling(op) + "` wants numbers or tensors, not " +
                     (lhs.isNumber() ? rhs : lhs).describe());
    return {};
  }
  double x = lhs.number(), y = rhs.number();
  auto finite = [&](double result) {
    if (std::isfinite(result))
      return Value(result);
    error(range, describe(x) + " " + spelling(op) + " " + describe(y) + " is not a finite number");
    return Value();
  };
  switch (op) {
  case BinaryOp::lt:
    return x < y;
  case BinaryOp::le:
    return x <= y;
  case BinaryOp::gt:
    return x > y;
  case BinaryOp::ge:
    return x >= y;
  default:
    break;
  }
  if (lhs.get<int64_t>() && rhs.get<int64_t>()) {
    int64_t a = *lhs.get<int64_t>(), b = *rhs.get<int64_t>(), result = 0;
    std::string text = std::to_string(a) + " " + spelling(op) + " " + std::to_string(b);
    bool overflow = false;
    switch (op) {
    case BinaryOp::add:
      overflow = __builtin_add_overflow(a, b, &result);
      break;
    case BinaryOp::sub:
      overflow = __builtin_sub_overflow(a, b, &result);
      break;
    case BinaryOp::mul:
      overflow = __builtin_mul_overflow(a, b, &result);
      break;
    case BinaryOp::div:
    case BinaryOp::mod:
      if (b == 0) {
        error(range, "division by zero: " + text);
        return {};
      }
      if (a == INT64_MIN && b == -1) {
        overflow = true;
        break;
      }
      if (op == BinaryOp::div && a % b != 0) {
        error(range, text + " is not a whole number")
            .help("`div(a, b)` rounds down; `a / " + std::to_string(b) + ".0` gives a float");
        return {};
      }
      result = op == BinaryOp::div ? a / b : a % b;
      // A remainder has the divisor's sign.
      if (op == BinaryOp::mod && result != 0 && (result < 0) != (b < 0))
        result += b;
      break;
    case BinaryOp::pow:
      if (b < 0)
        return finite(std::pow(x, y));
      if (auto power = integerPower(a, b))
        return *power;
      overflow = true;
      break;
    default:
      error(range, std::string("`") + spelling(op) + "` wants tensors, not " + lhs.describe() +
                       " and " + rhs.describe());
      return {};
    }
    if (overflow) {
      error(range, text + " does not fit into 64 bits");
      return {};
    }
    return result;
  }
  switch (op) {
  case BinaryOp::add:
    return finite(x + y);
  case BinaryOp::sub:
    return finite(x - y);
  case BinaryOp::mul:
    return finite(x * y);
  case BinaryOp::div:
    if (y == 0) {
      error(range, "division by zero: " + describe(x) + " / " + describe(y));
      return {};
    }
    return finite(x / y);
  case BinaryOp::pow:
    return finite(std::pow(x, y));
  default:
    error(range, std::string("`") + spelling(op) + "` wants " +
                     (op == BinaryOp::mod ? "ints" : "tensors") + ", not " + lhs.describe() +
                     " and " + rhs.describe());
    return {};
  }
}

static Ratio scaled(Ratio ratio, double by) {
  for (RatioTerm &term : ratio.terms)
    term.weight *= by;
  return ratio;
}

Value Elaborator::ratioBinary(ast::BinaryOp op, const Value &lhs, const Value &rhs, Range range) {
  using ast::BinaryOp;
  const Ratio *a = lhs.get<Ratio>(), *b = rhs.get<Ratio>();
  auto weighted = [&](const Ratio &ratio, double by) -> Value {
    Ratio result = scaled(ratio, by);
    for (const RatioTerm &term : result.terms)
      if (!fitsFloat(term.weight)) {
        error(range,
              "the weight " + describe(term.weight) + " of a ratio does not fit into an f32");
        return {};
      }
    return result;
  };
  if (a && b && (op == BinaryOp::add || op == BinaryOp::sub)) {
    Ratio sum = *a;
    for (const RatioTerm &term : scaled(*b, op == BinaryOp::add ? 1 : -1).terms)
      sum.terms.push_back(term);
    return sum;
  }
  if (op == BinaryOp::mul && a && rhs.isNumber())
    return weighted(*a, rhs.number());
  if (op == BinaryOp::mul && b && lhs.isNumber())
    return weighted(*b, lhs.number());
  if (op == BinaryOp::div && a && rhs.isNumber() && rhs.number() != 0)
    return weighted(*a, 1 / rhs.number());
  error(range, std::string("`") + spelling(op) + "` cannot combine " + lhs.describe() + " and " +
                   rhs.describe())
      .help("ratios are added to each other and multiplied by numbers known when compiling; "
            "`ratio(sum, count)` makes one "
            "of a tensor");
  return {};
}

Value Elaborator::unary(ast::UnaryOp op, const Value &operand, Range range) {
  if (operand.isPoison())
    return {};
  const Tensor *tensor = operand.get<Tensor>();
  if (op == ast::UnaryOp::logicalNot) {
    if (const bool *truth = operand.get<bool>())
      return !*truth;
    if (tensor && tensor->isBool())
      return Tensor{NotOp::create(opBuilder, location(range), tensor->value), tensor->dims};
    error(range, "`not` wants a truth value, not " + operand.describe());
    return {};
  }
  if (const auto *number = operand.get<int64_t>()) {
    if (*number != INT64_MIN)
      return -*number;
    error(range, "-(" + std::to_string(*number) + ") does not fit into 64 bits");
    return {};
  }
  if (const auto *number = operand.get<double>())
    return -*number;
  if (const auto *ratio = operand.get<Ratio>())
    return scaled(*ratio, -1);
  if (tensor && (tensor->isFloat() || tensor->isInt()))
    return Tensor{NegOp::create(opBuilder, location(range), tensor->value), tensor->dims};
  error(range, "`-` wants a number or a tensor of numbers, not " + operand.describe());
  return {};
}

Value Elaborator::binary(ast::BinaryOp op, const Value &lhs, const Value &rhs, Range range) {
  if (lhs.isPoison() || rhs.isPoison())
    return {};
  bool compared = op == ast::BinaryOp::eq || op == ast::BinaryOp::ne;
  bool whetherGiven = compared && (lhs.get<None>() || rhs.get<None>());
  if (whetherGiven || (lhs.isStatic() && rhs.isStatic()))
    return staticBinary(op, lhs, rhs, range);
  if (lhs.get<Ratio>() || rhs.get<Ratio>())
    return ratioBinary(op, lhs, rhs, range);
  return tensorBinary(op, lhs, rhs, range);
}

} // namespace weir::elab
