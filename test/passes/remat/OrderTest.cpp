//===- OrderTest.cpp - The least of all orders ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/remat/Order.h"
#include "test/passes/remat/Chain.h"
#include <cstdio>
#include <gtest/gtest.h>

using namespace weir::remat;
using namespace weir::test;

namespace {

/// The step with its actions in this order.
Step ordered(const Step &step, const std::vector<int> &order) {
  Step result = step;
  std::vector<int> placeOf(step.actions.size());
  for (int place = 0; place < int(order.size()); ++place) {
    result.actions[place] = step.actions[order[place]];
    placeOf[order[place]] = place;
  }
  for (Tensor &tensor : result.tensors)
    if (tensor.madeBy >= 0)
      tensor.madeBy = placeOf[tensor.madeBy];
  return result;
}

/// What the best order takes, by trying all.
void tryAll(const Step &step, std::vector<int> &order, std::vector<bool> &done, int64_t &least,
            int &tried) {
  if (order.size() == step.actions.size()) {
    least = std::min(least, measure(ordered(step, order)).bytes);
    ++tried;
    return;
  }
  for (int i = 0; i < int(step.actions.size()); ++i) {
    bool ready = !done[i];
    for (int read : step.actions[i].reads)
      ready &= step.tensors[read].madeBy < 0 || done[step.tensors[read].madeBy];
    if (!ready)
      continue;
    done[i] = true;
    order.push_back(i);
    tryAll(step, order, done, least, tried);
    order.pop_back();
    done[i] = false;
  }
}

/// Actions that read some of what was made before; some write in place of what they read.
Step loose(unsigned seed) {
  std::mt19937 random(seed);
  auto below = [&](int n) { return int(random() % unsigned(n)); };
  Step step;
  std::vector<int> made = {addTensor(step, 64 * (1 + below(8)), -1)};
  for (int i = 0; i < 8; ++i) {
    llvm::SmallVector<int> reads = {made[below(int(made.size()))]};
    if (below(2))
      reads.push_back(made[below(int(made.size()))]);
    made.push_back(addAction(step, reads, 64 * (1 + below(16)), 1));
    Action &action = step.actions.back();
    if (below(2))
      action.inPlace.push_back({0, 0});
    if (below(3) == 0)
      action.workspace = 64 * below(8);
  }
  step.tensors[0].lends = below(2);
  step.tensors[made.back()].isPort = true;
  return step;
}

TEST(Order, NoneTakesLessThanTheBound) {
  int exact = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    Step step = loose(seed);
    std::vector<int> order;
    std::vector<bool> done(step.actions.size());
    int64_t least = INT64_MAX;
    int tried = 0;
    tryAll(step, order, done, least, tried);
    int64_t bound = leastInAnyOrder(step);
    EXPECT_LE(bound, least) << seed;
    EXPECT_GT(bound, 0) << seed;
    exact += bound == least;
  }
  std::printf("the bound is the least of all orders in %d of 100 steps\n", exact);
  EXPECT_GT(exact, 20);
}

TEST(Order, AChainHasOne) {
  Step step = chain({1000, 2000, 500});
  EXPECT_EQ(leastInAnyOrder(step), measure(step).bytes);
}

} // namespace
