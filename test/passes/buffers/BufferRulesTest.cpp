//===- BufferRulesTest.cpp - The rules of buffers, by hand ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/buffers/BufferRules.h"
#include <gtest/gtest.h>

using namespace weir::buffers;

namespace {

int addTensor(Step &step, int64_t bytes) {
  step.tensors.push_back({.bytes = bytes});
  return int(step.tensors.size()) - 1;
}

/// An action that makes one tensor, in place of its first operand where it may.
int addAction(Step &step, llvm::SmallVector<int> reads, int64_t bytes) {
  int made = addTensor(step, bytes);
  step.tensors[made].madeBy = int(step.actions.size());
  Action action;
  action.reads = std::move(reads);
  action.writes = {made};
  action.inPlace = {{0, 0}};
  action.writesDirectly = true;
  step.actions.push_back(action);
  return made;
}

/// What an old value of a variable is.
int addOld(Step &step, int variable) {
  int old = addTensor(step, 0);
  step.tensors[old].readsVariable = variable;
  return old;
}

/// x -> a -> b; `a` is the only thing that `b` reads.
struct Pair {
  Pair() {
    x = addTensor(step, 128);
    step.tensors[x].lends = false;
    a = addAction(step, {x}, 128);
    b = addAction(step, {a}, 128);
    step.tensors[b].isPort = true;
  }
  bool lends() const {
    Memory memory = measure(step);
    return memory.buffers[a] == memory.buffers[b];
  }
  Step step;
  int x, a, b;
};

TEST(BufferRules, TheLastReaderTakesTheMemoryOfWhatItReads) {
  EXPECT_TRUE(Pair().lends());
  EXPECT_EQ(measure(Pair().step).bytes, 256);
}

TEST(BufferRules, AnArgumentLendsNothing) {
  Pair pair;
  Memory memory = measure(pair.step);
  EXPECT_NE(memory.buffers[pair.x], memory.buffers[pair.a]);
}

TEST(BufferRules, WhatIsReadLaterLendsNothing) {
  Pair pair;
  addAction(pair.step, {pair.a}, 64);
  EXPECT_FALSE(pair.lends());
}

TEST(BufferRules, WhatIsReadTwiceByItsLastReaderLendsNothing) {
  Pair pair;
  pair.step.actions.back().reads.push_back(pair.a);
  EXPECT_FALSE(pair.lends());
}

TEST(BufferRules, WhatTheHostReadsLendsNothing) {
  Pair pair;
  pair.step.tensors[pair.a].isPort = true;
  EXPECT_FALSE(pair.lends());
}

TEST(BufferRules, SizesAreComparedBeforeAlignment) {
  Pair pair;
  pair.step.tensors[pair.a].padding = 8;
  EXPECT_FALSE(pair.lends());
  pair.step.tensors[pair.b].padding = 8;
  EXPECT_TRUE(pair.lends());
}

TEST(BufferRules, AValueFromOutsideABlockLendsNothingInIt) {
  Pair pair;
  pair.step.actions.back().scope = 1;
  EXPECT_FALSE(pair.lends());
}

TEST(BufferRules, OneInputLendsItsMemoryToOneResult) {
  Pair pair;
  int other = addTensor(pair.step, 128);
  pair.step.tensors[other].madeBy = 1;
  pair.step.actions[1].writes.push_back(other);
  pair.step.actions[1].inPlace = {{0, 0}, {1, 0}};
  Memory memory = measure(pair.step);
  EXPECT_EQ(memory.buffers[pair.a], memory.buffers[pair.b]);
  EXPECT_NE(memory.buffers[other], memory.buffers[pair.b]);
}

/// A variable with number 0, its old value, and an action that makes the next from it.
struct Update {
  Update() {
    old = addOld(step, 0);
    next = addAction(step, {old}, 128);
    step.tensors[next].variable = 0;
  }
  bool isDirect() const { return measure(step).buffers[next] < 0; }
  Step step;
  int old, next;
};

TEST(BufferRules, ANextValueLiesWhereTheOldOneDoes) {
  Update update;
  EXPECT_TRUE(update.isDirect());
  EXPECT_EQ(measure(update.step).bytes, 0);
}

TEST(BufferRules, AnOldValueThatIsReadLaterStays) {
  Update update;
  addAction(update.step, {update.old}, 64);
  EXPECT_FALSE(update.isDirect());
}

TEST(BufferRules, AnOldValueThatIsNotReadElementByElementStays) {
  Update update;
  update.step.actions[0].inPlace.clear();
  EXPECT_FALSE(update.isDirect());
}

TEST(BufferRules, AnOldValueThatAnotherVariableGetsStays) {
  Update update;
  update.step.tensors[update.old].variable = 1;
  EXPECT_FALSE(update.isDirect());
}

TEST(BufferRules, WhatACollectiveMakesIsCopiedToItsVariable) {
  Update update;
  update.step.actions[0].writesDirectly = false;
  EXPECT_FALSE(update.isDirect());
}

TEST(BufferRules, OnlyWhatLiesInAVariableIsKept) {
  for (bool inVariable : {true, false}) {
    Update update;
    if (!inVariable)
      update.step.actions[0].inPlace.clear();
    int kept = addAction(update.step, {update.next}, 128);
    update.step.actions.back().keepsVariable = true;
    update.step.actions.back().inPlace.clear();
    EXPECT_EQ(measure(update.step).buffers[kept] >= 0, inVariable);
  }
}

} // namespace
