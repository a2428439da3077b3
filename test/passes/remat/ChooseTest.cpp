//===- ChooseTest.cpp - Choices against all choices -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/remat/Choose.h"
#include "test/passes/remat/Chain.h"
#include <cstdio>
#include <gtest/gtest.h>
#include <optional>

using namespace weir::remat;
using namespace weir::test;

namespace {

constexpr int layers = 8;

/// The cost of the cheapest choice within the budget, by trying all of the forward actions.
std::optional<double> cheapest(const Step &step, int64_t budget) {
  int boundary = boundaryOf(step);
  std::optional<double> best;
  for (unsigned bits = 0; bits < 1u << layers; ++bits) {
    Released released(step);
    for (int i = 0; i < layers; ++i)
      released.again[i] = bits >> i & 1;
    Rewritten rewritten = rewrite(step, boundary, released);
    if (measure(rewritten.step).bytes <= budget && (!best || rewritten.cost < *best))
      best = rewritten.cost;
  }
  return best;
}

constexpr int fewLayers = 6;

/// A random step whose layers may go to the host, for some time.
Step withTransfers(unsigned seed) {
  Step step = randomStep(seed, fewLayers);
  for (int i = 0; i < fewLayers; ++i)
    if ((seed >> (i % 3)) % 4)
      step.tensors[step.actions[i].writes[0]].transfer = 1 + double(seed * 7 % (11 + i));
  return step;
}

/// The same with the host: each layer is kept, repeated, or goes there.
std::optional<double> cheapestWithHost(const Step &step, int64_t budget) {
  int boundary = boundaryOf(step), all = 1;
  for (int i = 0; i < fewLayers; ++i)
    all *= 3;
  std::optional<double> best;
  for (int number = 0; number < all; ++number) {
    Released released(step);
    for (int i = 0, rest = number; i < fewLayers; ++i, rest /= 3) {
      released.again[i] = rest % 3 == 1;
      released.away[step.actions[i].writes[0]] = rest % 3 == 2;
    }
    Rewritten rewritten = rewrite(step, boundary, released);
    if (measure(rewritten.step).bytes <= budget && (!best || rewritten.cost < *best))
      best = rewritten.cost;
  }
  return best;
}

int64_t budgetOf(const Step &step, unsigned seed) {
  // From what no choice reaches to what needs none.
  return measure(step).bytes * (40 + int64_t(seed * 37 % 65)) / 100;
}

TEST(Choose, IsTheCheapestOfAllInSmallSteps) {
  int found = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Step step = randomStep(seed, layers);
    int64_t budget = budgetOf(step, seed);
    Choices choices = choose(step, budget);
    std::optional<double> best = cheapest(step, budget);
    ASSERT_EQ(choices.fits, best.has_value()) << seed;
    if (!best)
      continue;
    ++found;
    EXPECT_LE(choices.best.cost, *best * 1.02) << seed;
    EXPECT_LE(choices.best.bytes, budget) << seed;
    EXPECT_LE(choices.bound, *best * (1 + 1e-9)) << seed;
    Rewritten rewritten = rewrite(step, boundaryOf(step), choices.best.released);
    EXPECT_EQ(measure(rewritten.step).bytes, choices.best.bytes) << seed;
  }
  EXPECT_GT(found, 100);
}

TEST(Choose, IsTheCheapestOfAllInSmallStepsWithAHost) {
  int found = 0, away = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Step step = withTransfers(seed);
    int64_t budget = budgetOf(step, seed);
    std::optional<double> best = cheapestWithHost(step, budget);
    Choices choices = choose(step, budget), few = choose(step, budget, /*mostTried=*/0);
    ASSERT_EQ(choices.fits, best.has_value()) << seed;
    EXPECT_TRUE(best || !few.fits) << seed;
    if (!best)
      continue;
    ++found;
    EXPECT_LE(choices.best.cost, *best * 1.02) << seed;
    for (const Choices &one : {choices, few}) {
      EXPECT_LE(one.bound, *best * (1 + 1e-9)) << seed;
      if (!one.fits)
        continue;
      EXPECT_LE(one.best.bytes, budget) << seed;
      Rewritten rewritten = rewrite(step, boundaryOf(step), one.best.released);
      EXPECT_EQ(measure(rewritten.step).bytes, one.best.bytes) << seed;
      EXPECT_EQ(rewritten.cost, one.best.cost) << seed;
      away += int(rewritten.away.size());
    }
  }
  EXPECT_GT(found, 100);
  EXPECT_GT(away, 100);
}

constexpr int twoLayers = 4;

/// Layers that make two tensors each, either of which may go to the host.
Step withTwoResults(unsigned seed) {
  std::mt19937 random(seed);
  auto below = [&](int n) { return int(random() % unsigned(n)); };
  Step step;
  llvm::SmallVector<int> last = {addTensor(step, 64, -1)};
  std::vector<std::pair<int, int>> made;
  for (int i = 0; i < twoLayers; ++i) {
    int first = addAction(step, last, 64 * (1 + below(32)), 1 + below(8));
    int second = addTensor(step, 64 * (1 + below(32)), i);
    step.actions[i].writes.push_back(second);
    step.tensors[first].transfer = 1 + below(16);
    step.tensors[second].transfer = 1 + below(16);
    made.push_back({first, second});
    last = {first};
    if (below(2))
      last.push_back(second);
  }
  int gradient = addAction(step, last, 64, 1);
  for (int i = twoLayers; i-- > 0;) {
    // The first result is wanted by one gradient, the second by another.
    gradient = addAction(step, {gradient, made[i].first}, 64 * (1 + below(16)), 1);
    gradient = addAction(step, {gradient, made[below(twoLayers)].second}, 64 * (1 + below(4)), 1);
  }
  step.tensors[gradient].isPort = true;
  for (int i = twoLayers; i < step.end; ++i)
    step.actions[i].repeats = false;
  return step;
}

/// Of each layer: it is repeated or not, and any of its results lies with the host.
TEST(Choose, OneResultMayLieWithTheHostWhileAnotherIsComputedAgain) {
  int found = 0, both = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    Step step = withTwoResults(seed);
    int64_t budget = budgetOf(step, seed);
    int boundary = boundaryOf(step);
    std::optional<double> best;
    for (unsigned bits = 0; bits < 1u << (3 * twoLayers); ++bits) {
      Released released(step);
      for (int i = 0; i < twoLayers; ++i) {
        released.again[i] = bits >> (3 * i) & 1;
        released.away[step.actions[i].writes[0]] = bits >> (3 * i + 1) & 1;
        released.away[step.actions[i].writes[1]] = bits >> (3 * i + 2) & 1;
      }
      Rewritten rewritten = rewrite(step, boundary, released);
      if ((!best || rewritten.cost < *best) && measure(rewritten.step).bytes <= budget)
        best = rewritten.cost;
    }
    Choices choices = choose(step, budget);
    ASSERT_EQ(choices.fits, best.has_value()) << seed;
    if (!best)
      continue;
    ++found;
    EXPECT_EQ(choices.best.cost, *best) << seed;
    EXPECT_LE(choices.bound, *best * (1 + 1e-9)) << seed;
    for (int i = 0; i < twoLayers; ++i)
      both += choices.best.released.again[i] &&
              (choices.best.released.away[step.actions[i].writes[0]] ||
               choices.best.released.away[step.actions[i].writes[1]]);
  }
  EXPECT_GT(found, 50);
  EXPECT_GT(both, 0);
}

/// What a refusal names is enough, whatever was asked for before.
TEST(Choose, WhatTheSmallestTakesIsEnough) {
  for (int64_t mostTried : {8192, 0})
    for (unsigned seed = 0; seed < 100; ++seed) {
      Step step = seed % 2 ? withTransfers(seed) : randomStep(seed, layers);
      Chooser chooser(step, mostTried);
      Choices none = chooser.within(0);
      ASSERT_FALSE(none.fits) << seed;
      Choices least = chooser.within(none.best.bytes);
      EXPECT_TRUE(least.fits) << seed;
      Choices alone = choose(step, none.best.bytes, mostTried);
      EXPECT_TRUE(alone.fits) << seed;
      EXPECT_EQ(alone.best.cost, least.best.cost) << seed;
      EXPECT_EQ(alone.best.bytes, least.best.bytes) << seed;
      Choices surely = chooser.within(0, /*wantsLeast=*/false);
      EXPECT_FALSE(surely.fits) << seed;
    }
}

/// Where only some choices are looked at, too.
TEST(Choose, AHostIsNoReasonToTakeLonger) {
  int cheaper = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Step step = withTransfers(seed), alone = step;
    for (Tensor &tensor : alone.tensors)
      tensor.transfer = 0;
    int64_t budget = budgetOf(step, seed);
    Choices with = choose(step, budget, /*mostTried=*/0);
    Choices without = choose(alone, budget, /*mostTried=*/0);
    EXPECT_TRUE(with.fits || !without.fits) << seed;
    if (without.fits) {
      EXPECT_LE(with.best.cost, without.best.cost) << seed;
    } else if (!with.fits) {
      EXPECT_LE(with.best.bytes, without.best.bytes) << seed;
    }
    cheaper += with.fits && (!without.fits || with.best.cost < without.best.cost);
  }
  EXPECT_GT(cheaper, 20);
}

/// Of large steps only some choices are looked at.
TEST(Choose, IsCloseToTheCheapestWithoutTryingAll) {
  int found = 0, missed = 0;
  double all = 0, cost = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    Step step = randomStep(seed, layers);
    int64_t budget = budgetOf(step, seed);
    Choices choices = choose(step, budget, /*mostTried=*/0);
    std::optional<double> best = cheapest(step, budget);
    EXPECT_TRUE(best || !choices.fits) << seed;
    if (!best || !choices.fits) {
      missed += best.has_value();
      continue;
    }
    ++found;
    EXPECT_LE(choices.bound, *best * (1 + 1e-9)) << seed;
    EXPECT_LE(choices.best.bytes, budget) << seed;
    all += *best;
    cost += choices.best.cost;
  }
  std::printf("%d fit, %d that others fit in were missed; cost %.3f of the cheapest\n", found,
              missed, cost / all);
  EXPECT_GT(found, 100);
  EXPECT_LE(missed, 10);
  EXPECT_LE(cost, 1.15 * all);
}

/// What is marked is repeated in each choice, and of the others the cheapest are.
TEST(Choose, MarksAreKept) {
  for (int mostTried : {12, 0})
    for (unsigned seed = 0; seed < 100; ++seed) {
      Step step = randomStep(seed, layers);
      for (int i = layers; i < step.end; ++i)
        step.actions[i].isBackward = true;
      step.actions[seed % layers].marked = step.actions[3 * seed % layers].marked = true;
      Rewritten least = rewrite(step, boundaryOf(step), marked(step));
      Choices choices = choose(step, budgetOf(step, seed), mostTried);
      for (int action : least.repeats)
        EXPECT_TRUE(choices.best.released.again[action]) << seed;
      EXPECT_GE(choices.best.cost, least.cost) << seed;
      if (choices.fits) {
        EXPECT_LE(choices.bound, choices.best.cost * (1 + 1e-9)) << seed;
      }
      Choices free = choose(step, INT64_MAX, mostTried);
      EXPECT_EQ(free.best.cost, least.cost) << seed;
    }
}

TEST(Choose, NothingIsRepeatedWhereThereIsRoom) {
  Step step = chain({1000, 2000, 3000});
  Choices choices = choose(step, measure(step).bytes);
  EXPECT_TRUE(choices.fits);
  EXPECT_EQ(choices.best.cost, 0);
  EXPECT_EQ(choices.bound, 0);
}

TEST(Choose, WhatDoesNotFitIsTheSmallest) {
  Step step = chain({1000, 2000, 3000});
  Choices choices = choose(step, 64);
  EXPECT_FALSE(choices.fits);
  EXPECT_GT(choices.best.bytes, 64);
  EXPECT_LE(choices.best.bytes, measure(step).bytes);
}

} // namespace
