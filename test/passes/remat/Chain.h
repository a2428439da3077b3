//===- Chain.h - Small steps for tests ------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_PASSES_REMAT_CHAIN_H
#define WEIR_TEST_PASSES_REMAT_CHAIN_H

#include "passes/remat/Rewrite.h"
#include "llvm/Support/MathExtras.h"
#include <random>

namespace weir::test {

inline int addTensor(remat::Step &step, int64_t bytes, int madeBy) {
  remat::Tensor tensor;
  tensor.bytes = int64_t(llvm::alignTo(bytes, 64));
  tensor.madeBy = madeBy;
  step.tensors.push_back(tensor);
  return int(step.tensors.size()) - 1;
}

/// An action that makes a tensor of what it reads.
inline int addAction(remat::Step &step, llvm::SmallVector<int> reads, int64_t bytes, double cost) {
  int made = addTensor(step, bytes, int(step.actions.size()));
  remat::Action action;
  action.reads = std::move(reads);
  action.writes = {made};
  action.cost = cost;
  action.repeats = true;
  step.actions.push_back(action);
  step.end = int(step.actions.size());
  return made;
}

/// Layers of these sizes forward, a loss, and a gradient for each, which reads what the layer read.
inline remat::Step chain(std::vector<int64_t> sizes) {
  remat::Step step;
  std::vector<int> read;
  int last = addTensor(step, 64, -1);
  for (int64_t size : sizes) {
    read.push_back(last);
    last = addAction(step, {last}, size, double(size));
  }
  int gradient = addAction(step, {last}, 64, 1);
  for (size_t i = sizes.size(); i-- > 0;)
    gradient = addAction(step, {gradient, read[i]}, 64, 1);
  step.tensors[gradient].isPort = true;
  return step;
}

/// A random step: every forward action reads some of what was made before, and has a gradient that
/// reads what it read, or what it made.
inline remat::Step randomStep(unsigned seed, int layers) {
  std::mt19937 random(seed);
  auto below = [&](int n) { return int(random() % unsigned(n)); };
  remat::Step step;
  std::vector<int> made = {addTensor(step, 64 * (1 + below(8)), -1)};
  std::vector<llvm::SmallVector<int>> read;
  for (int i = 0; i < layers; ++i) {
    llvm::SmallVector<int> reads = {made.back()};
    if (below(3) == 0)
      reads.push_back(made[below(int(made.size()))]);
    read.push_back(reads);
    made.push_back(addAction(step, reads, 64 * (1 + below(32)), 1 + below(20)));
  }
  int gradient = addAction(step, {made.back()}, 64, 1);
  for (int i = layers; i-- > 0;) {
    llvm::SmallVector<int> reads = {gradient};
    if (below(4))
      reads.push_back(read[i][below(int(read[i].size()))]);
    if (below(3) == 0)
      reads.push_back(made[i + 1]);
    gradient = addAction(step, reads, 64 * (1 + below(4)), 1);
  }
  step.tensors[gradient].isPort = true;
  return step;
}

} // namespace weir::test

#endif
