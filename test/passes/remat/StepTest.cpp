//===- StepTest.cpp - The model of memory, by hand ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/passes/remat/Chain.h"
#include <gtest/gtest.h>

using namespace weir::remat;
using namespace weir::test;

namespace {

TEST(Step, WhatIsKeptIsAliveUntilItIsRead) {
  // x -> a -> b -> loss; the gradient of b reads a, that of a reads x.
  Step step = chain({100, 100});
  Memory memory = measure(step);
  EXPECT_EQ(step.actions.size(), 5u);
  // Ahead of the last forward action both are alive, and the argument.
  EXPECT_EQ(memory.alive[1], 64 + 128 + 128);
  EXPECT_EQ(memory.bytes, *std::max_element(memory.alive.begin(), memory.alive.end()));
}

TEST(Step, WhatIsComputedAgainIsNotKept) {
  Step step = chain({1000, 1000, 1000, 1000});
  int boundary = boundaryOf(step);
  std::vector<bool> again(step.actions.size());
  again[1] = true;
  Rewritten rewritten = rewrite(step, boundary, again);
  ASSERT_EQ(rewritten.repeats, std::vector<int>{1});
  EXPECT_EQ(rewritten.step.actions.size(), step.actions.size() + 1);
  EXPECT_EQ(rewritten.cost, step.actions[1].cost);
  EXPECT_LT(measure(rewritten.step).bytes, measure(step).bytes);
}

TEST(Step, WhatARepetitionReadsIsRepeatedBeforeIt) {
  Step step = chain({1000, 1000, 1000});
  std::vector<bool> again(step.actions.size());
  again[0] = again[1] = true;
  Rewritten rewritten = rewrite(step, boundaryOf(step), again);
  EXPECT_EQ(rewritten.repeats, (std::vector<int>{0, 1}));
}

TEST(Step, WhatIsMarkedIsGivenUpFromItsFirstGradientOn) {
  Step step = chain({1000, 4000, 2000});
  int boundary = boundaryOf(step);
  EXPECT_EQ(boundary, 3);
  for (int i = 3; i < step.end; ++i)
    step.actions[i].isBackward = true;
  step.actions[2].marked = true; // read by the loss's gradient
  EXPECT_EQ(boundaryOf(step), 3);
  EXPECT_EQ(rewrite(step, boundaryOf(step), marked(step)).repeats, std::vector<int>{2});
  step.actions[2].marked = false;
  step.actions[0].marked = true; // read later: where most is kept is before it
  EXPECT_EQ(boundaryOf(step), 3);
  EXPECT_EQ(rewrite(step, boundaryOf(step), marked(step)).repeats, std::vector<int>{0});
}

TEST(Step, PortsAndVariablesAreKept) {
  Step step = chain({1000, 1000});
  EXPECT_TRUE(mayDrop(step, step.actions[0].writes[0]));
  step.tensors[step.actions[0].writes[0]].isPort = true;
  EXPECT_FALSE(mayDrop(step, step.actions[0].writes[0]));
  step.tensors[step.actions[1].writes[0]].variable = 0;
  EXPECT_FALSE(mayDrop(step, step.actions[1].writes[0]));
}

} // namespace
