//===- StepTest.cpp - The model of memory, by hand ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/passes/remat/Chain.h"
#include <algorithm>
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
  Released released(step);
  released.again[1] = true;
  Rewritten rewritten = rewrite(step, boundary, released);
  ASSERT_EQ(rewritten.repeats, std::vector<int>{1});
  EXPECT_EQ(rewritten.step.actions.size(), step.actions.size() + 1);
  EXPECT_EQ(rewritten.cost, step.actions[1].cost);
  EXPECT_LT(measure(rewritten.step).bytes, measure(step).bytes);
}

TEST(Step, WhatARepetitionReadsIsRepeatedBeforeIt) {
  Step step = chain({1000, 1000, 1000});
  Released released(step);
  released.again[0] = released.again[1] = true;
  Rewritten rewritten = rewrite(step, boundaryOf(step), released);
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

TEST(Step, OffloadsWhereAValueIsMadeAndReloadsWhereItIsRead) {
  Step step = chain({1000, 1000, 1000, 1000});
  int made = step.actions[1].writes[0];
  Released released(step);
  released.away[made] = true;
  EXPECT_TRUE(rewrite(step, boundaryOf(step), released).away.empty()) << "it must not go";
  step.tensors[made].transfer = 6;
  Rewritten rewritten = rewrite(step, boundaryOf(step), released);
  EXPECT_EQ(rewritten.away, std::vector<int>{made});
  EXPECT_TRUE(rewritten.repeats.empty());
  EXPECT_EQ(rewritten.cost, 6);
  ASSERT_EQ(rewritten.step.actions.size(), step.actions.size() + 2);
  const Action &offload = rewritten.step.actions[2];
  EXPECT_EQ(offload.away, made);
  EXPECT_EQ(offload.reads[0], made);
  int onHost = offload.writes[0];
  EXPECT_EQ(rewritten.step.tensors[onHost].bytes, 0);
  // x, its four layers, and a gradient each: what the gradient of the third layer reads.
  auto reload = std::find_if(rewritten.step.actions.begin(), rewritten.step.actions.end(),
                             [&](const Action &action) { return action.reads[0] == onHost; });
  ASSERT_NE(reload, rewritten.step.actions.end());
  EXPECT_EQ((reload + 1)->reads[1], reload->writes[0]);
  EXPECT_LT(measure(rewritten.step).bytes, measure(step).bytes);
}

TEST(Step, ReloadsWhatARepetitionReads) {
  Step step = chain({1000, 1000, 1000});
  int first = step.actions[0].writes[0], second = step.actions[1].writes[0];
  step.tensors[first].transfer = step.tensors[second].transfer = 6;
  Released released(step);
  released.again[1] = released.away[first] = true;
  Rewritten rewritten = rewrite(step, boundaryOf(step), released);
  EXPECT_EQ(rewritten.repeats, std::vector<int>{1});
  EXPECT_EQ(rewritten.away, std::vector<int>{first});
  EXPECT_EQ(rewritten.cost, 6 + step.actions[1].cost);
  // Of two ways, the host.
  released.away[second] = true;
  rewritten = rewrite(step, boundaryOf(step), released);
  EXPECT_TRUE(rewritten.repeats.empty());
  EXPECT_EQ(rewritten.away, (std::vector<int>{first, second}));
}

TEST(Step, ThereIsMemoryWithoutActions) {
  Step step;
  step.tensors[addTensor(step, 100, -1)].isPort = true;
  EXPECT_EQ(measure(step).bytes, 128);
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
