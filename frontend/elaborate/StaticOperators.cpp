//===- StaticOperators.cpp - Operators on values known when compiling -----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/StaticOperators.h"

#include <cmath>

namespace weir::elab {

using ast::BinaryOp;

static std::string quoted(BinaryOp op) { return std::string("`") + spelling(op) + "`"; }

//===----------------------------------------------------------------------===//
// Equality and truth values
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

static Value logicalBinary(BinaryOp op, const Value &lhs, const Value &rhs, Range range,
                           Reporter &reporter) {
  const bool *a = lhs.get<bool>(), *b = rhs.get<bool>();
  if (a && b)
    return op == BinaryOp::logicalAnd ? *a && *b : *a || *b;
  reporter.error(range, quoted(op) + " wants truth values, not " + (a ? rhs : lhs).describe());
  return {};
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

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

static std::optional<bool> compareNumbers(BinaryOp op, double x, double y) {
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
    return std::nullopt;
  }
}

namespace {

/// One operator on two numbers: on ints where both are, otherwise on floats.
class NumberOperator {
public:
  NumberOperator(BinaryOp op, const Value &lhs, const Value &rhs, Range range, Reporter &reporter)
      : op(op), lhs(lhs), rhs(rhs), range(range), reporter(reporter) {}

  Value apply() {
    const auto *a = lhs.get<int64_t>(), *b = rhs.get<int64_t>();
    return a && b ? ofInts(*a, *b) : ofFloats(lhs.number(), rhs.number());
  }

private:
  Value ofInts(int64_t a, int64_t b) {
    int64_t result = 0;
    switch (op) {
    case BinaryOp::add:
      return __builtin_add_overflow(a, b, &result) ? overflow(a, b) : result;
    case BinaryOp::sub:
      return __builtin_sub_overflow(a, b, &result) ? overflow(a, b) : result;
    case BinaryOp::mul:
      return __builtin_mul_overflow(a, b, &result) ? overflow(a, b) : result;
    case BinaryOp::div:
    case BinaryOp::mod:
      return divide(a, b);
    case BinaryOp::pow:
      if (b < 0)
        return finite(std::pow(double(a), double(b)));
      if (auto power = integerPower(a, b))
        return *power;
      return overflow(a, b);
    default:
      return refuse("tensors");
    }
  }

  /// A quotient is exact, and a remainder has the divisor's sign.
  Value divide(int64_t a, int64_t b) {
    if (b == 0)
      return fail("division by zero: " + text(a, b));
    if (a == INT64_MIN && b == -1)
      return overflow(a, b);
    int64_t remainder = a % b;
    if (op == BinaryOp::mod)
      return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
    if (remainder == 0)
      return a / b;
    reporter.error(range, text(a, b) + " is not a whole number")
        .help("`div(a, b)` rounds down; `a / " + std::to_string(b) + ".0` gives a float");
    return {};
  }

  Value ofFloats(double x, double y) {
    switch (op) {
    case BinaryOp::add:
      return finite(x + y);
    case BinaryOp::sub:
      return finite(x - y);
    case BinaryOp::mul:
      return finite(x * y);
    case BinaryOp::div:
      if (y == 0)
        return fail("division by zero: " + describe(x) + " / " + describe(y));
      return finite(x / y);
    case BinaryOp::pow:
      return finite(std::pow(x, y));
    default:
      return refuse(op == BinaryOp::mod ? "ints" : "tensors");
    }
  }

  Value finite(double result) {
    if (std::isfinite(result))
      return result;
    return fail(describe(lhs.number()) + " " + spelling(op) + " " + describe(rhs.number()) +
                " is not a finite number");
  }
  Value overflow(int64_t a, int64_t b) { return fail(text(a, b) + " does not fit into 64 bits"); }
  Value refuse(const char *wanted) {
    return fail(quoted(op) + " wants " + wanted + ", not " + lhs.describe() + " and " +
                rhs.describe());
  }
  Value fail(std::string message) {
    reporter.error(range, std::move(message));
    return {};
  }
  std::string text(int64_t a, int64_t b) {
    return std::to_string(a) + " " + spelling(op) + " " + std::to_string(b);
  }

  BinaryOp op;
  const Value &lhs, &rhs;
  Range range;
  Reporter &reporter;
};

} // namespace

Value staticBinary(BinaryOp op, const Value &lhs, const Value &rhs, Range range,
                   Reporter &reporter) {
  if (op == BinaryOp::eq)
    return equal(lhs, rhs);
  if (op == BinaryOp::ne)
    return !equal(lhs, rhs);
  if (op == BinaryOp::logicalAnd || op == BinaryOp::logicalOr)
    return logicalBinary(op, lhs, rhs, range, reporter);
  if (!lhs.isNumber() || !rhs.isNumber()) {
    reporter.error(range, quoted(op) + " wants numbers or tensors, not " +
                              (lhs.isNumber() ? rhs : lhs).describe());
    return {};
  }
  if (auto holds = compareNumbers(op, lhs.number(), rhs.number()))
    return *holds;
  return NumberOperator(op, lhs, rhs, range, reporter).apply();
}

//===----------------------------------------------------------------------===//
// Ratios
//===----------------------------------------------------------------------===//

static Ratio scaled(Ratio ratio, double by) {
  for (RatioTerm &term : ratio.terms)
    term.weight *= by;
  return ratio;
}

Value ratioBinary(BinaryOp op, const Value &lhs, const Value &rhs, Range range,
                  Reporter &reporter) {
  const Ratio *a = lhs.get<Ratio>(), *b = rhs.get<Ratio>();
  auto weighted = [&](const Ratio &ratio, double by) -> Value {
    Ratio result = scaled(ratio, by);
    for (const RatioTerm &term : result.terms)
      if (!fitsFloat(term.weight)) {
        reporter.error(range, "the weight " + describe(term.weight) +
                                  " of a ratio does not fit into an f32");
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
  reporter.error(range, quoted(op) + " cannot combine " + lhs.describe() + " and " + rhs.describe())
      .help("ratios are added to each other and multiplied by numbers known when compiling; "
            "`ratio(sum, count)` makes one of a tensor");
  return {};
}

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

Value staticUnary(ast::UnaryOp op, const Value &operand, Range range, Reporter &reporter) {
  if (op == ast::UnaryOp::logicalNot) {
    if (const bool *truth = operand.get<bool>())
      return !*truth;
    reporter.error(range, "`not` wants a truth value, not " + operand.describe());
    return {};
  }
  if (const auto *number = operand.get<int64_t>()) {
    if (*number != INT64_MIN)
      return -*number;
    reporter.error(range, "-(" + std::to_string(*number) + ") does not fit into 64 bits");
    return {};
  }
  if (const auto *number = operand.get<double>())
    return -*number;
  if (const auto *ratio = operand.get<Ratio>())
    return scaled(*ratio, -1);
  reporter.error(range, "`-` wants a number or a tensor of numbers, not " + operand.describe());
  return {};
}

} // namespace weir::elab
