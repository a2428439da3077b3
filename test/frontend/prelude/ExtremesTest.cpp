//===- ExtremesTest.cpp - The prelude where exp overflows -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// e^89 is no f32. What is made of exponentials is held to its formula and gradient far beyond, at
// zero, and where a result is tiny, on the interpreter and compiled.
//
//===----------------------------------------------------------------------===//

#include "test/frontend/prelude/PreludeProgram.h"
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace weir;
using namespace weir::test;

namespace {

using Numbers = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A row x, a loss of it, and the loss's gradient; none where the loss is not finite.
struct Row {
  Numbers x;
  double loss;
  Numbers gradient;
};

void expectNear(double actual, double truth, const std::string &what) {
  if (std::isinf(truth))
    EXPECT_EQ(actual, truth) << what;
  else // f32 has no numbers below 1e-38
    EXPECT_NEAR(actual, truth, 3e-5 * std::fabs(truth) + 2e-38) << what;
}

/// `loss` is a ratio of the row y.
void expectLosses(const std::string &loss, const std::vector<Row> &rows) {
  SCOPED_TRACE(loss);
  int64_t size = rows.front().x.size();
  std::string n = std::to_string(size);
  PreludeProgram program("optimizer keep(p, g) {\n  state gradient = zeros_like(p)\n"
                         "  next gradient = g\n  next p = p\n}\n"
                         "block moved(x: [b, n]) -> [b, n] {\n  param shift: [n] = zeros()\n"
                         "  return x + shift\n}\n"
                         "train {\n  input x: [1, " +
                         n + "]\n  steps 1\n  y = moved(x) as m\n  loss " + loss +
                         "\n  update keep()\n}\n");
  ASSERT_TRUE(program.module);
  TwoRuns runs(program);
  runs.set("run/seed", Tensor(Shape{}, 1));
  runs.set("run/step", Tensor(Shape{}, 0));
  runs.set("run/total_steps", Tensor(Shape{}, 1));
  runs.set("m.shift", Tensor(Shape{size}, 0));
  runs.set("keep.gradient/m.shift", Tensor(Shape{size}, 0));
  for (const Row &row : rows) {
    SCOPED_TRACE("row of " + std::to_string(row.x.front()));
    Tensor x(Shape{1, size});
    std::copy(row.x.begin(), row.x.end(), x.values.begin());
    auto [interpreted, compiled] = runs.run("eval", {x});
    expectNear(interpreted.at("loss/sum").values[0], row.loss, "loss");
    expectNear(compiled.at("loss/sum").values[0], row.loss, "compiled loss");
    if (!std::isfinite(row.loss))
      continue;
    runs.run("step", {x});
    // The interpreter has differences, which say nothing at kinks and of large numbers.
    for (int64_t i = 0; i < size; ++i)
      expectNear(runs.compiled("keep.gradient/m.shift").values[i], row.gradient[i],
                 "gradient of element " + std::to_string(i));
  }
}

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }
double sigmoid(double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}

const double extremes[] = {-0x1p100, -1e4, -100, -89, -60, -20, -5.25, -4.75, -1,     0,
                           1,        5,    20,   60,  88,  89,  100,   1e4,   0x1p100};

TEST(Extremes, softplus) {
  std::vector<Row> rows;
  for (double x : extremes)
    rows.push_back({{x}, softplus(x), {sigmoid(x)}});
  expectLosses("ratio(sum(softplus(y)), 1)", rows);
}

// The logarithm of a sigmoid is finite as long as the sigmoid is no smaller than the least f32. Of
// a sigmoid next to 1 it has lost its digits: that is what log_sigmoid is for.
TEST(Extremes, logSigmoid) {
  std::vector<Row> rows, apart;
  for (double x : extremes) {
    rows.push_back({{x}, -softplus(-x), {sigmoid(-x)}});
    if (x > -87 && x <= 5)
      apart.push_back(rows.back());
  }
  expectLosses("ratio(sum(log_sigmoid(y)), 1)", rows);
  expectLosses("ratio(sum(log(sigmoid(y))), 1)", apart);
}

TEST(Extremes, gelu) {
  std::vector<Row> rows;
  for (double x : {-1e4, -20.0, -12.8, -12.5, -5.0, -1.0, 0.0, 1.0, 5.0, 1e4}) {
    double share = std::erfc(-x / std::sqrt(2.)) / 2;
    double density = std::exp(-x * x / 2) / std::sqrt(8 * std::atan(1.));
    rows.push_back({{x}, x * share, {share + x * density}});
  }
  expectLosses("ratio(sum(gelu(y)), 1)", rows);
}

// A sure answer costs nearly nothing where it is right, and its size where it is wrong.
TEST(Extremes, binaryCrossEntropy) {
  for (double target : {0.0, 1.0, 0.25}) {
    std::vector<Row> rows;
    for (double x : extremes)
      rows.push_back({{x},
                      target * softplus(-x) + (1 - target) * softplus(x),
                      {(1 - target) * sigmoid(x) - target * sigmoid(-x)}});
    expectLosses("bce_with_logits(y, zeros_like(y) + " + std::to_string(target) + ")", rows);
  }
}

TEST(Extremes, clamp) {
  expectLosses("ratio(sum(clamp(y, -2, 3)), 1)", {{{-infinity}, -2, {0}},
                                                  {{-2.5}, -2, {0}},
                                                  {{-2}, -2, {1}},
                                                  {{0.5}, 0.5, {1}},
                                                  {{3}, 3, {1}},
                                                  {{infinity}, 3, {0}}});
}

/// Rows of three logits whose exponentials overflow, underflow, and do both.
const Numbers logits[] = {{0, 0, 0},       {1000, 1000, 999}, {-1000, -1001, -1000},
                          {-1e4, 1e4, 0},  {89, 90, 91},      {-0x1p100, 0x1p100, 1},
                          {-200, -100, 20}};

double logOfSum(const Numbers &x) {
  double largest = *std::max_element(x.begin(), x.end()), sum = 0;
  for (double value : x)
    sum += std::exp(value - largest);
  return largest + std::log(sum);
}

TEST(Extremes, logsumexp) {
  std::vector<Row> rows = {{{-infinity, -infinity, -infinity}, -infinity, {}},
                           {{-infinity, 5, -infinity}, 5, {0, 1, 0}},
                           {{infinity, 5, 0}, infinity, {}}};
  for (const Numbers &x : logits) {
    Row row{x, logOfSum(x), {}};
    for (double value : x)
      row.gradient.push_back(std::exp(value - row.loss));
    rows.push_back(row);
  }
  expectLosses("ratio(sum(logsumexp(y)), 1)", rows);
}

TEST(Extremes, logSoftmax) {
  std::vector<Row> rows;
  for (const Numbers &x : logits) {
    double all = logOfSum(x);
    Row row{x, x[2] - all, {}};
    for (double value : x)
      row.gradient.push_back(-std::exp(value - all));
    row.gradient[2] = std::exp(x[0] - all) + std::exp(x[1] - all);
    rows.push_back(row);
  }
  expectLosses("ratio(sum(log_softmax(y)[:, 2]), 1)", rows);
}

// A quarter of the truth is spread over the three classes.
TEST(Extremes, smoothedCrossEntropy) {
  std::vector<Row> rows;
  for (const Numbers &x : logits) {
    double all = logOfSum(x);
    Row row{x, 0, {}};
    for (int i = 0; i < 3; ++i) {
      double truth = 0.25 / 3 + (i == 1 ? 0.75 : 0);
      row.loss += truth * (all - x[i]);
      row.gradient.push_back(std::exp(x[i] - all) - truth);
    }
    rows.push_back(row);
  }
  expectLosses("cross_entropy(y, argmax(zeros_like(y)) + 1, smoothing = 0.25)", rows);
}

} // namespace
