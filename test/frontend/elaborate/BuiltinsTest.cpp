//===- BuiltinsTest.cpp - What built-in functions and operators compute ---===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything after the frontend is checked against the IR it makes; here that IR is. Each
// expression of the language is evaluated as a constant, by the frontend itself, and as a tensor,
// by the interpreter, and compared with C++.
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Builtins.h"
#include "frontend/Parser.h"
#include "frontend/elaborate/Elaborate.h"
#include "ir/reference/Interpreter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>

namespace weir {
namespace {

/// What `predict` gives for the row y of a model that returns `expression`, [b, as many as
/// expected]; x is [b, 1], zero. What comes `before` is in the same block.
void expectValues(const std::string &expression, const std::string &before,
                  const std::vector<double> &y, const std::vector<double> &expected) {
  SCOPED_TRACE(before + expression);
  mlir::DialectRegistry registry;
  registerReferenceInterpreter(registry);
  mlir::MLIRContext context(registry);
  SourceManager sources;
  Diagnostics diagnostics;
  std::string width = std::to_string(y.size()), count = std::to_string(expected.size());
  auto model = parse(
      sources.add("test.weir", "model m(x: [b, 1], y: [b, " + width + "]) -> [b, " + count +
                                   "] {\n  param w: [] = zeros()\n" + before +
                                   "  return w * x + (" + expression +
                                   ")\n}\ntrain {\n  input x: [1, 1]\n  input y: [1, " + width +
                                   "]\n  steps 1\n  loss ratio(sum(m(x, y)), 1)\n"
                                   "  update sgd(lr = 0.1)\n}\n"),
      diagnostics);
  ElaborateResult result;
  if (!diagnostics.hasErrors())
    result = elaborate(*model, {}, sources, context, diagnostics);
  ASSERT_FALSE(diagnostics.hasErrors()) << diagnostics.render();
  Interpreter interpreter;
  interpreter.variables["w"] = Tensor({}, 0);
  Tensor row(Shape{1, static_cast<int64_t>(y.size())});
  row.values = y;
  auto results = interpreter.run(result.module->lookupSymbol<mlir::func::FuncOp>("predict"),
                                 {Tensor(Shape{1, 1}), row});
  ASSERT_TRUE(mlir::succeeded(results));
  const std::vector<double> &actual = (*results)[0].values;
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i)
    EXPECT_NEAR(actual[i], expected[i], 1e-6 * (1 + std::fabs(expected[i]))) << "element " << i;
}

std::string replaced(std::string text, char name, const std::string &by) {
  std::string place = {'$', name};
  for (size_t at; (at = text.find(place)) != std::string::npos;)
    text.replace(at, place.size(), by);
  return text;
}

/// An expression of the floats $a and $b, and what it is.
struct Elementwise {
  std::string expression;
  double (*value)(double a, double b);
};

double floorDivision(double a, double b) { return std::floor(std::trunc(a) / std::trunc(b)); }

const std::vector<Elementwise> elementwise = {
    {"exp($a)", [](double a, double) { return std::exp(a); }},
    {"log(abs($a))", [](double a, double) { return std::log(std::fabs(a)); }},
    {"sqrt(abs($a))", [](double a, double) { return std::sqrt(std::fabs(a)); }},
    {"rsqrt(abs($a))", [](double a, double) { return 1 / std::sqrt(std::fabs(a)); }},
    {"tanh($a)", [](double a, double) { return std::tanh(a); }},
    {"sin($a)", [](double a, double) { return std::sin(a); }},
    {"cos($a)", [](double a, double) { return std::cos(a); }},
    {"erf($a)", [](double a, double) { return std::erf(a); }},
    {"expm1($a)", [](double a, double) { return std::expm1(a); }},
    {"log1p(abs($a))", [](double a, double) { return std::log1p(std::fabs(a)); }},
    {"sigmoid($a)", [](double a, double) { return 1 / (1 + std::exp(-a)); }},
    {"normal_cdf($a)", [](double a, double) { return std::erfc(-a / std::sqrt(2.)) / 2; }},
    {"sign($a)", [](double a, double) { return a > 0 ? 1. : -1.; }},
    {"floor($a)", [](double a, double) { return std::floor(a); }},
    {"stop_gradient($a)", [](double a, double) { return a; }},
    {"abs($a)", [](double a, double) { return std::fabs(a); }},
    {"max($a, $b)", [](double a, double b) { return std::max(a, b); }},
    {"min($a, $b)", [](double a, double b) { return std::min(a, b); }},
    {"$a + $b", [](double a, double b) { return a + b; }},
    {"$a - $b", [](double a, double b) { return a - b; }},
    {"$a * $b", [](double a, double b) { return a * b; }},
    {"$a / $b", [](double a, double b) { return a / b; }},
    {"abs($a) ^ $b", [](double a, double b) { return std::pow(std::fabs(a), b); }},
    {"$a ^ 3", [](double a, double) { return a * a * a; }},
    {"-$a", [](double a, double) { return -a; }},
    {"$a * pi", [](double a, double) { return a * std::numbers::pi; }},
    {"f32($a < $b)", [](double a, double b) { return double(a < b); }},
    {"f32($a <= $b)", [](double a, double b) { return double(a <= b); }},
    {"f32($a > $b)", [](double a, double b) { return double(a > b); }},
    {"f32($a >= $b)", [](double a, double b) { return double(a >= b); }},
    {"f32($a == $b)", [](double a, double b) { return double(a == b); }},
    {"f32($a != $b)", [](double a, double b) { return double(a != b); }},
    {"f32(not $a < $b)", [](double a, double b) { return double(!(a < b)); }},
    {"f32($a < $b and $b < 1.0)", [](double a, double b) { return double(a < b && b < 1); }},
    {"f32($a < $b or $b < 1.0)", [](double a, double b) { return double(a < b || b < 1); }},
    {"f32(is_finite($a))", [](double, double) { return 1.; }},
    {"select($a < $b, $a, 2.0 * $b)", [](double a, double b) { return a < b ? a : 2 * b; }},
    {"select($a < $b, 3.0, 4.0) + 0.0 * $a", [](double a, double b) { return a < b ? 3. : 4.; }},
    {"f32(i32($a))", [](double a, double) { return std::trunc(a); }},
    {"f32(i32($a < $b))", [](double a, double b) { return double(a < b); }},
    {"f32(div(i32($a), i32($b)))", floorDivision},
    {"f32(i32($a) % i32($b))",
     [](double a, double b) { return std::trunc(a) - std::trunc(b) * floorDivision(a, b); }},
    {"f32(div(i32($a) * 30001, 70000 * i32($b)))",
     [](double a, double b) {
       return floorDivision(30001 * std::trunc(a), 70000 * std::trunc(b));
     }},
    {"f32(abs(i32($a)))", [](double a, double) { return std::fabs(std::trunc(a)); }},
    {"f32(max(i32($a), i32($b)))",
     [](double a, double b) { return std::max(std::trunc(a), std::trunc(b)); }},
    {"f32(min(i32($a), i32($b)))",
     [](double a, double b) { return std::min(std::trunc(a), std::trunc(b)); }},
};

TEST(Builtins, ComputeTheSameOfConstantsAndOfTensors) {
  const double as[] = {1.5, -0.5, 2.25, -7, 7, 7, -7, 3.75},
               bs[] = {-2, 1.5, 2.25, -3, 2, -2, 2, 10.5};
  std::vector<double> both(std::begin(as), std::end(as));
  both.insert(both.end(), std::begin(bs), std::end(bs));
  for (const Elementwise &one : elementwise) {
    std::vector<double> expected, constants;
    std::string list;
    for (auto [a, b] : llvm::zip(as, bs)) {
      expected.push_back(one.value(a, b));
      auto literal = [](double value) {
        std::string text = std::to_string(std::fabs(value));
        return value < 0 ? "(-" + text + ")" : text;
      };
      std::string constant = replaced(replaced(one.expression, 'a', literal(a)), 'b', literal(b));
      list += (list.empty() ? "" : ", ") + std::string("0.0 * x + (") + constant + ")";
    }
    std::string tensors = replaced(replaced(one.expression, 'a', "y[:, :8]"), 'b', "y[:, 8:]");
    expectValues(tensors, "", both, expected);
    expectValues("concat([" + list + "], axis = -1)", "", both, expected);
  }
}

/// An expression of t = [[1, 5, 3], [4, 2, 6]], its columns left (one) and right (two), and i =
/// [1, 1, 1]; what it is, row-major.
struct Shaping {
  std::string expression;
  std::vector<double> values;
};

const std::vector<Shaping> shapings = {
    {"t", {1, 5, 3, 4, 2, 6}},
    {"transpose(t)", {1, 4, 5, 2, 3, 6}},
    {"transpose(t, [1, 0])", {1, 4, 5, 2, 3, 6}},
    {"transpose(t, [0, -1])", {1, 5, 3, 4, 2, 6}},
    {"transpose(split_dim(t, 1, [3, 1]), [2, 1, 0])", {1, 4, 5, 2, 3, 6}},
    {"merge_dims(transpose(t), 0, 2)", {1, 4, 5, 2, 3, 6}},
    {"left", {1, 4}},
    {"right", {5, 3, 2, 6}},
    {"concat([t, t[:1]], axis = 0)", {1, 5, 3, 4, 2, 6, 1, 5, 3}},
    {"concat([t, t[:, 1:]], axis = -1)", {1, 5, 3, 5, 3, 4, 2, 6, 2, 6}},
    {"concat([t, t])", {1, 5, 3, 1, 5, 3, 4, 2, 6, 4, 2, 6}},
    {"t[1]", {4, 2, 6}},
    {"t[-1, 1:]", {2, 6}},
    {"t[:, -2]", {5, 2}},
    {"t[:, new] + t[new]", {2, 10, 6, 5, 7, 9, 5, 7, 9, 8, 4, 12}},
    {"t[i]", {4, 2, 6, 4, 2, 6, 4, 2, 6}},
    {"t @ transpose(t)", {35, 32, 32, 56}},
    {"sum(t)", {21}},
    {"sum(t, axes = [0])", {5, 7, 9}},
    {"sum(t, axes = [-1])", {9, 12}},
    {"mean(t, axes = [1])", {3, 4}},
    {"max_over(t, axes = [0])", {4, 5, 6}},
    {"min_over(t)", {1}},
    {"argmax(t)", {1, 2}},
    {"argmax(t, axis = 0)", {1, 0, 1}},
    {"iota(4)", {0, 1, 2, 3}},
    {"position(t, 0)", {0, 0, 0, 1, 1, 1}},
    {"position(t, -1)", {0, 1, 2, 0, 1, 2}},
    {"zeros_like(t)", {0, 0, 0, 0, 0, 0}},
    {"bf16(t + 256.0)", {256, 260, 260, 260, 258, 262}},
    {"f16(t + 2048.0)", {2048, 2052, 2052, 2052, 2050, 2054}},
    {"f8e4m3(t + 16.0)", {16, 20, 20, 20, 18, 22}},
    {"f8e5m2(t + 8.0)", {8, 12, 12, 12, 10, 14}},
    {"rank(t) + size(t) + 10 * size(t, 0) + 100 * size(t, -1)", {328}},
    {"size([4, 5, 6])", {3}},
    {"normalize(t, eps = 0.0)", {-1.2247449, 1.2247449, 0, 0, -1.2247449, 1.2247449}},
    {"softmax_cross_entropy(t, i[:2])", {0.1429316, 4.1429316}},
    {"log_softmax(t)", {-4.1429316, -0.1429316, -2.1429316, -2.1429316, -4.1429316, -0.1429316}},
    {"max_pool(t, [2, 1])", {4, 5, 6}},
    {"max_pool(t, [1, 2], stride = [1, 1])", {5, 5, 4, 6}},
    {"conv(t[new, new], t[new, new])", {91}},
    {"conv(t[new, new], t[new, new, :1], padding = [0, 1], stride = [1, 2])", {20, 20, 26, 32}},
    {"attention(t[new, new], t[new, new], t[new, new], scale = 0.0)",
     {2.5, 3.5, 4.5, 2.5, 3.5, 4.5}},
    {"attention(t[new, new], t[new, new], t[new, new], causal = true, scale = 0.0)",
     {1, 5, 3, 2.5, 3.5, 4.5}},
};

TEST(Builtins, ShapeAndReduce) {
  for (const Shaping &one : shapings) {
    std::string before = "  t = split_dim(y[0], 0, [2, 3])\n  i = i32(t[0]) % 2\n"
                         "  left, right = split(t, [1, 2], axis = 1)\n"
                         "  result = 0.0 * x[0, 0] + f32(" +
                         one.expression + ")\n";
    // A result of any shape as a row.
    expectValues("merge_dims(result[new], 0, rank(result) + 1)[new]", before, {1, 5, 3, 4, 2, 6},
                 one.values);
  }
}

TEST(Builtins, AllHaveACase) {
  // Initial values, random numbers, losses and tests of texts; split and moments have two results.
  std::set<std::string> elsewhere = {
      "zeros",       "ones",      "normal",   "uniform", "random_uniform", "random_normal", "ratio",
      "starts_with", "ends_with", "contains", "matches", "split",          "moments"};
  std::string all;
  for (const Elementwise &one : elementwise)
    all += " " + one.expression;
  for (const Shaping &one : shapings)
    all += " " + one.expression;
  for (const std::string &name : elab::builtinNames()) {
    bool hasCase = false;
    for (const char *before : {" ", "("})
      hasCase |= all.find(before + name + "(") != std::string::npos;
    EXPECT_NE(hasCase, elsewhere.contains(name)) << name;
  }
}

} // namespace
} // namespace weir
