//===- StaticOperatorsTest.cpp - Operators on values known when compiling ===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/StaticOperators.h"

#include <gtest/gtest.h>

namespace weir::elab {
namespace {

using ast::BinaryOp;

struct Result {
  Value value;
  std::string message;
};

template <typename Apply> Result apply(Apply operation) {
  Diagnostics diagnostics;
  CallStack calls;
  Reporter reporter(diagnostics, calls, nullptr);
  Result result{operation(reporter), ""};
  for (const Diagnostic *diagnostic : diagnostics.sorted())
    result.message = diagnostic->message;
  EXPECT_EQ(result.value.isPoison(), !result.message.empty());
  return result;
}

Result binary(BinaryOp op, const Value &lhs, const Value &rhs) {
  return apply([&](Reporter &reporter) { return staticBinary(op, lhs, rhs, {}, reporter); });
}

void expectInt(BinaryOp op, int64_t lhs, int64_t rhs, int64_t expected) {
  Value value = binary(op, lhs, rhs).value;
  ASSERT_TRUE(value.get<int64_t>()) << value.describe();
  EXPECT_EQ(*value.get<int64_t>(), expected);
}

Value text(const char *characters) { return std::string(characters); }

TEST(StaticOperators, IntsStayInts) {
  expectInt(BinaryOp::add, 2, 3, 5);
  expectInt(BinaryOp::sub, 2, 3, -1);
  expectInt(BinaryOp::mul, -4, 3, -12);
  expectInt(BinaryOp::div, -12, 3, -4);
  expectInt(BinaryOp::pow, 2, 62, int64_t(1) << 62);
  expectInt(BinaryOp::pow, -1, INT64_MAX, -1);
}

TEST(StaticOperators, ARemainderHasTheDivisorsSign) {
  expectInt(BinaryOp::mod, 7, 3, 1);
  expectInt(BinaryOp::mod, -7, 3, 2);
  expectInt(BinaryOp::mod, 7, -3, -2);
  expectInt(BinaryOp::mod, -7, -3, -1);
  expectInt(BinaryOp::mod, 6, -3, 0);
}

TEST(StaticOperators, AnIntWithAFloatIsAFloat) {
  Value value = binary(BinaryOp::mul, int64_t(3), 0.5).value;
  ASSERT_TRUE(value.get<double>());
  EXPECT_EQ(value.number(), 1.5);
  EXPECT_EQ(binary(BinaryOp::pow, int64_t(2), int64_t(-1)).value.number(), 0.5);
}

TEST(StaticOperators, ValuesAreCompared) {
  EXPECT_TRUE(*binary(BinaryOp::eq, int64_t(2), 2.0).value.get<bool>());
  EXPECT_TRUE(*binary(BinaryOp::ne, text("a"), text("b")).value.get<bool>());
  EXPECT_FALSE(*binary(BinaryOp::eq, None(), int64_t(0)).value.get<bool>());
  EXPECT_TRUE(*binary(BinaryOp::le, int64_t(2), int64_t(2)).value.get<bool>());
  EXPECT_FALSE(*binary(BinaryOp::gt, int64_t(2), 2.5).value.get<bool>());
  EXPECT_FALSE(*binary(BinaryOp::logicalAnd, true, false).value.get<bool>());
  EXPECT_TRUE(*binary(BinaryOp::logicalOr, true, false).value.get<bool>());
}

TEST(StaticOperators, WhatHasNoResultIsReported) {
  auto message = [](BinaryOp op, const Value &lhs, const Value &rhs) {
    return binary(op, lhs, rhs).message;
  };
  EXPECT_EQ(message(BinaryOp::add, INT64_MAX, int64_t(1)),
            "9223372036854775807 + 1 does not fit into 64 bits");
  EXPECT_EQ(message(BinaryOp::mod, INT64_MIN, int64_t(-1)),
            "-9223372036854775808 % -1 does not fit into 64 bits");
  EXPECT_EQ(message(BinaryOp::pow, int64_t(2), int64_t(63)), "2 ^ 63 does not fit into 64 bits");
  EXPECT_EQ(message(BinaryOp::div, int64_t(8), int64_t(3)), "8 / 3 is not a whole number");
  EXPECT_EQ(message(BinaryOp::mod, int64_t(8), int64_t(0)), "division by zero: 8 % 0");
  EXPECT_EQ(message(BinaryOp::div, 1.5, int64_t(0)), "division by zero: 1.5 / 0.0");
  EXPECT_EQ(message(BinaryOp::mul, 1e300, 1e300), "1e+300 * 1e+300 is not a finite number");
  EXPECT_EQ(message(BinaryOp::mod, 1.5, 2.0),
            "`%` wants ints, not the float 1.5 and the float 2.0");
  EXPECT_EQ(message(BinaryOp::matmul, int64_t(1), int64_t(2)),
            "`@` wants tensors, not the int 1 and the int 2");
  EXPECT_EQ(message(BinaryOp::add, text("a"), int64_t(1)),
            "`+` wants numbers or tensors, not the text \"a\"");
  EXPECT_EQ(message(BinaryOp::logicalAnd, true, int64_t(1)),
            "`and` wants truth values, not the int 1");
}

TEST(StaticOperators, OneOperand) {
  auto unary = [](ast::UnaryOp op, const Value &operand) {
    return apply([&](Reporter &reporter) { return staticUnary(op, operand, {}, reporter); });
  };
  EXPECT_EQ(*unary(ast::UnaryOp::negate, int64_t(3)).value.get<int64_t>(), -3);
  EXPECT_EQ(*unary(ast::UnaryOp::negate, 0.5).value.get<double>(), -0.5);
  EXPECT_FALSE(*unary(ast::UnaryOp::logicalNot, true).value.get<bool>());
  EXPECT_EQ(unary(ast::UnaryOp::negate, INT64_MIN).message,
            "-(-9223372036854775808) does not fit into 64 bits");
  EXPECT_EQ(unary(ast::UnaryOp::logicalNot, int64_t(1)).message,
            "`not` wants a truth value, not the int 1");
  EXPECT_EQ(unary(ast::UnaryOp::negate, text("a")).message,
            "`-` wants a number or a tensor of numbers, not the text \"a\"");
}

TEST(StaticOperators, RatiosAreAddedAndWeighted) {
  auto weights = [](BinaryOp op, const Value &lhs, const Value &rhs) {
    Value value =
        apply([&](Reporter &reporter) { return ratioBinary(op, lhs, rhs, {}, reporter); }).value;
    std::vector<double> result;
    if (const Ratio *ratio = value.get<Ratio>())
      for (const RatioTerm &term : ratio->terms)
        result.push_back(term.weight);
    return result;
  };
  using Weights = std::vector<double>;
  Value one = Ratio{{RatioTerm{}}}, two = Ratio{{RatioTerm{.weight = 2}}};
  EXPECT_EQ(weights(BinaryOp::add, one, two), (Weights{1, 2}));
  EXPECT_EQ(weights(BinaryOp::sub, one, two), (Weights{1, -2}));
  EXPECT_EQ(weights(BinaryOp::mul, int64_t(3), two), (Weights{6}));
  EXPECT_EQ(weights(BinaryOp::div, two, 4.0), (Weights{0.5}));
  auto message = [](BinaryOp op, const Value &lhs, const Value &rhs) {
    return apply([&](Reporter &reporter) { return ratioBinary(op, lhs, rhs, {}, reporter); })
        .message;
  };
  EXPECT_EQ(message(BinaryOp::add, one, int64_t(1)), "`+` cannot combine a ratio and the int 1");
  EXPECT_EQ(message(BinaryOp::mul, two, 1e39),
            "the weight 2e+39 of a ratio does not fit into an f32");
}

} // namespace
} // namespace weir::elab
