//===- ValuesTest.cpp - The prelude against formulas ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Optimizers, learning rates, losses and running statistics, computed here in f64 from their
// papers' formulas, and run on the interpreter before any pass and compiled.
//
//===----------------------------------------------------------------------===//

#include "test/frontend/prelude/PreludeCases.h"
#include "test/frontend/prelude/PreludeProgram.h"
#include "verify/Compare.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <numbers>
#include <random>

using namespace weir;
using namespace weir::test;

namespace {

constexpr double compiledTolerance = 1e-5;

Tensor scalar(double value) { return Tensor({}, value); }

Tensor randomTensor(std::mt19937_64 &random, llvm::ArrayRef<int64_t> shape, double low,
                    double high) {
  Tensor result(shape);
  std::uniform_real_distribution<double> draw(low, high);
  for (double &value : result.values)
    value = static_cast<float>(draw(random));
  return result;
}

void expectClose(const Tensor &actual, const Tensor &truth, double tolerance,
                 const std::string &what) {
  Difference difference = compare(actual, truth, tolerance);
  EXPECT_TRUE(difference.agrees) << what << " differs by " << difference.relative
                                 << ", most at element " << difference.worstIndex << ": "
                                 << actual.values[difference.worstIndex] << " instead of "
                                 << truth.values[difference.worstIndex];
}

void beginRun(TwoRuns &runs, int steps) {
  runs.set("run/seed", scalar(1));
  runs.set("run/step", scalar(0));
  runs.set("run/total_steps", scalar(steps));
}

//===----------------------------------------------------------------------===//
// Optimizers
//===----------------------------------------------------------------------===//

/// A parameter, and its optimizer's state.
struct Trained {
  std::string name;
  Tensor value, m, v;
};

/// One step of one element: Polyak 1964 and Nesterov 1983 as in Sutskever et al., "On the
/// importance of initialization and momentum in deep learning", ICML 2013; Loshchilov and Hutter,
/// "Decoupled weight decay regularization", ICLR 2019, algorithm 2, which has adam and adamw side
/// by side; Chen et al., "Symbolic discovery of optimization algorithms", NeurIPS 2023,
/// algorithm 2.
void advance(const OptimizerCase &rule, int step, double g, double &p, double &m, double &v) {
  if (rule.definition == "sgd") {
    g += rule.decay * p;
    m = rule.momentum * m + g;
    p -= rule.lr * (rule.nesterov ? g + rule.momentum * m : m);
  } else if (rule.definition == "adam" || rule.definition == "adamw") {
    bool decoupled = rule.definition == "adamw";
    g += decoupled ? 0 : rule.decay * p;
    m = rule.beta1 * m + (1 - rule.beta1) * g;
    v = rule.beta2 * v + (1 - rule.beta2) * g * g;
    double mHat = m / (1 - std::pow(rule.beta1, step + 1));
    double vHat = v / (1 - std::pow(rule.beta2, step + 1));
    p -= rule.lr * (mHat / (std::sqrt(vHat) + rule.eps) + (decoupled ? rule.decay * p : 0));
  } else if (rule.definition == "lion") {
    double direction = rule.beta1 * m + (1 - rule.beta1) * g;
    m = rule.beta2 * m + (1 - rule.beta2) * g;
    p -= rule.lr * ((direction > 0) - (direction < 0) + rule.decay * p);
  } else {
    ASSERT_EQ(rule.definition, "frozen");
  }
}

class Optimizers : public testing::TestWithParam<int> {};

// The gradient of sum(p * u) is u. Parameters of one element, an odd number, and more than a
// vector; one of no dimensions.
TEST_P(Optimizers, followTheirFormula) {
  OptimizerCase rule = optimizerCases()[GetParam()];
  SCOPED_TRACE(rule.call);
  PreludeProgram program(
      "block weights(u: [1, 3, 5], one: [1, 1], wide: [1, 67], none: [1]) -> [] {\n"
      "  param a: [3, 5] = ones()\n  param b: [1] = ones()\n"
      "  param c: [67] = ones()\n  param d: [] = ones()\n"
      "  param other: [1] = ones()\n"
      "  return sum(a * u) + sum(b * one) + sum(c * wide) + sum(d * none) + "
      "sum(0.0 * other)\n}\n"
      "train {\n  input u: [1, 3, 5]\n  input one: [1, 1]\n  input wide: [1, 67]\n"
      "  input none: [1]\n  steps 5\n"
      "  loss ratio(weights(u, one, wide, none) as w, 1)\n"
      "  update sgd(lr = 0.0) where name == \"w.other\"\n  update " +
      rule.call + "\n}\n");
  ASSERT_TRUE(program.module);
  TwoRuns runs(program);
  beginRun(runs, 5);
  std::mt19937_64 random(5);
  std::vector<Trained> parameters;
  bool hasMomentum = rule.beta1 != 0 || rule.momentum != 0;
  bool hasSquares = rule.definition == "adam" || rule.definition == "adamw";
  const Shape shapes[] = {{3, 5}, {1}, {67}, {}};
  for (auto [name, shape] : llvm::zip_equal(llvm::StringRef("abcd"), shapes)) {
    Trained one{std::string("w.") + name, randomTensor(random, shape, -2, 2), Tensor(shape),
                Tensor(shape)};
    runs.set(one.name, one.value);
    if (hasMomentum)
      runs.set(rule.definition + ".m/" + one.name, one.m);
    if (hasSquares)
      runs.set(rule.definition + ".v/" + one.name, one.v);
    parameters.push_back(one);
  }
  runs.set("w.other", Tensor({1}, 1));

  constexpr int skipped = 2;
  for (int step = 0; step < 5; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    Tensors inputs;
    for (const Trained &one : parameters) {
      Shape batched{1};
      batched.append(one.value.shape);
      inputs.push_back(randomTensor(random, batched, -2, 2));
    }
    // A step whose loss is not finite changes nothing but the step number.
    if (step == skipped)
      inputs[0].values[0] = std::numeric_limits<double>::quiet_NaN();
    for (auto [one, gradient] : llvm::zip_equal(parameters, inputs))
      for (size_t i = 0; i < one.value.values.size() && step != skipped; ++i)
        advance(rule, step, gradient.values[i], one.value.values[i], one.m.values[i],
                one.v.values[i]);
    runs.run("step", inputs);
    EXPECT_EQ(runs.interpreted("run/step").values[0], step + 1);
    EXPECT_EQ(runs.compiled("run/step").values[0], step + 1);
    auto check = [&](const std::string &variable, const Tensor &truth) {
      expectClose(runs.interpreted(variable), truth, rule.tolerance, variable);
      expectClose(runs.compiled(variable), truth, std::max(rule.tolerance, compiledTolerance),
                  variable + " compiled");
    };
    for (const Trained &one : parameters) {
      check(one.name, one.value);
      if (hasMomentum)
        check(rule.definition + ".m/" + one.name, one.m);
      if (hasSquares)
        check(rule.definition + ".v/" + one.name, one.v);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Every, Optimizers, testing::Range(0, int(optimizerCases().size())),
                         [](const auto &info) {
                           return optimizerCases()[info.param].definition + "_" +
                                  std::to_string(info.param);
                         });

//===----------------------------------------------------------------------===//
// Learning rates
//===----------------------------------------------------------------------===//

double rateAt(const ScheduleCase &schedule, int step) {
  double peak = schedule.peak, floor = schedule.floor, n = schedule.steps;
  int warmup = std::min(schedule.warmup, schedule.steps / 4);
  if (step < warmup)
    return peak * (step + 1) / (warmup + 1);
  if (schedule.definition == "constant")
    return peak;
  if (step >= n)
    return floor;
  double done = (step - warmup) / (n - warmup);
  return schedule.definition == "cosine"
             ? floor + (peak - floor) * (1 + std::cos(std::numbers::pi * done)) / 2
             : peak * (1 - done) + floor * done;
}

class Schedules : public testing::TestWithParam<int> {};

TEST_P(Schedules, followTheirFormula) {
  ScheduleCase schedule = scheduleCases()[GetParam()];
  SCOPED_TRACE(schedule.call);
  PreludeProgram program(
      "block m(x: [1, 1]) -> [1, 1] {\n  param w: [1] = ones()\n  return w * x\n}\n"
      "train {\n  input x: [1, 1]\n  steps 5\n  loss ratio(sum(m(x)), 1)\n"
      "  lr = " +
      schedule.call + "\n  update sgd(lr)\n}\n");
  ASSERT_TRUE(program.module);
  TwoRuns runs(program);
  beginRun(runs, schedule.steps);
  runs.set("m.w", Tensor({1}, 1));
  // Some steps more than the run has: a resumed run may be told to.
  for (int step = 0; step < schedule.steps + 2; ++step) {
    auto [interpreted, compiled] = runs.run("step", {Tensor({1, 1}, 1)});
    double truth = rateAt(schedule, step);
    EXPECT_NEAR(interpreted.at("lr").values[0], truth, 1e-7 * schedule.peak) << "step " << step;
    EXPECT_NEAR(compiled.at("lr").values[0], truth, 1e-6 * schedule.peak) << "step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(Every, Schedules, testing::Range(0, int(scheduleCases().size())),
                         [](const auto &info) {
                           return scheduleCases()[info.param].definition + "_" +
                                  std::to_string(info.param);
                         });

//===----------------------------------------------------------------------===//
// Losses, metrics and running statistics
//===----------------------------------------------------------------------===//

TEST(Losses, followTheirFormula) {
  PreludeProgram program(
      "block moved(x: [..]) -> [..] {\n  param shift: [1] = zeros()\n  return x + shift\n}\n"
      "train {\n  input x: [3, 5, 19]\n  input labels: i32[3, 5]\n"
      "  input target: [3, 5, 19]\n  steps 5\n  y = moved(x)\n"
      "  loss cross_entropy(y, labels)\n  metric hits = accuracy(y, labels)\n"
      "  metric distance = mse(y, target)\n  update sgd(lr = 0.1)\n}\n");
  ASSERT_TRUE(program.module);
  TwoRuns runs(program);
  beginRun(runs, 5);
  double shift = 0.25;
  runs.set("moved.shift", Tensor({1}, shift));
  std::mt19937_64 random(3);
  Tensor x = randomTensor(random, {3, 5, 19}, -3, 3),
         target = randomTensor(random, {3, 5, 19}, -3, 3);
  Tensor labels = randomTensor(random, {3, 5}, 0, 18.99);
  for (double &label : labels.values)
    label = std::floor(label);
  // Six rows are predicted right.
  for (size_t row = 0; row < 6; ++row)
    x.values[row * 19 + static_cast<size_t>(labels.values[row])] = 4;
  double crossEntropy = 0, hits = 0, squares = 0;
  for (size_t row = 0; row < 15; ++row) {
    double sum = 0;
    size_t best = 0, label = static_cast<size_t>(labels.values[row]);
    for (size_t i = 0; i < 19; ++i) {
      double y = x.values[row * 19 + i] + shift, t = target.values[row * 19 + i];
      sum += std::exp(y);
      squares += (y - t) * (y - t);
      if (x.values[row * 19 + i] > x.values[row * 19 + best])
        best = i;
    }
    crossEntropy += std::log(sum) - (x.values[row * 19 + label] + shift);
    hits += best == label;
  }
  EXPECT_GE(hits, 6);
  for (const char *entry : {"step", "eval"}) {
    auto [interpreted, compiled] = runs.run(entry, {x, labels, target});
    auto check = [&](const std::string &name, double truth) {
      EXPECT_NEAR(interpreted.at(name).values[0], truth, 1e-9 * truth) << entry << " " << name;
      EXPECT_NEAR(compiled.at(name).values[0], truth, lossTolerance * truth)
          << entry << " " << name;
    };
    check("loss/sum", crossEntropy);
    check("loss/count", 15);
    check("hits/sum", hits);
    check("hits/count", 15);
    check("distance/sum", squares);
    check("distance/count", 15 * 19);
    runs.set("moved.shift", Tensor({1}, shift)); // the step changed it
  }
}

// Running averages of the batch's mean and unbiased variance, of which evaluation makes use.
TEST(BatchNorm, keepsRunningStatistics) {
  PreludeProgram program("train {\n  input x: [3, 5, 2, 7]\n  steps 5\n"
                         "  y = batch_norm(x, momentum = 0.25, eps = 0.125) as norm\n"
                         "  loss ratio(sum(y ^ 2), 1)\n  update sgd(lr = 0.0)\n}\n");
  ASSERT_TRUE(program.module);
  TwoRuns runs(program);
  beginRun(runs, 5);
  std::mt19937_64 random(4);
  Tensor mean = randomTensor(random, {5}, -1, 1), variance = randomTensor(random, {5}, 0.5, 1.5);
  Tensor weight = randomTensor(random, {5}, -1, 1), bias = randomTensor(random, {5}, -1, 1);
  runs.set("norm.weight", weight);
  runs.set("norm.bias", bias);
  runs.set("norm.running_mean", mean);
  runs.set("norm.running_var", variance);
  Tensor x;
  for (int step = 0; step < 3; ++step) {
    x = randomTensor(random, {3, 5, 2, 7}, -2, 3);
    constexpr double n = 3 * 2 * 7;
    for (int64_t c = 0; c < 5; ++c) {
      double sum = 0, squares = 0;
      forEachIndex(x.shape, [&](llvm::ArrayRef<int64_t> at) { sum += at[1] == c ? x.at(at) : 0; });
      forEachIndex(x.shape, [&](llvm::ArrayRef<int64_t> at) {
        squares += at[1] == c ? (x.at(at) - sum / n) * (x.at(at) - sum / n) : 0;
      });
      mean.values[c] = 0.75 * mean.values[c] + 0.25 * sum / n;
      variance.values[c] = 0.75 * variance.values[c] + 0.25 * squares / (n - 1);
    }
    runs.run("step", {x});
    for (const auto &[name, truth] :
         {std::pair("norm.running_mean", mean), {"norm.running_var", variance}}) {
      expectClose(runs.interpreted(name), truth, 1e-7, name);
      expectClose(runs.compiled(name), truth, compiledTolerance, std::string(name) + " compiled");
    }
  }
  double truth = 0;
  forEachIndex(x.shape, [&](llvm::ArrayRef<int64_t> at) {
    int64_t c = at[1];
    double y = (x.at(at) - mean.values[c]) / std::sqrt(variance.values[c] + 0.125);
    y = y * weight.values[c] + bias.values[c];
    truth += y * y;
  });
  auto [interpreted, compiled] = runs.run("eval", {x});
  EXPECT_NEAR(interpreted.at("loss/sum").values[0], truth, 1e-6 * truth);
  EXPECT_NEAR(compiled.at("loss/sum").values[0], truth, lossTolerance * truth);
}

} // namespace
