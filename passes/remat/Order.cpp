//===- Order.cpp - A lower bound on memory for any order of kernels -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/remat/Order.h"
#include "passes/MinCut.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace llvm;

namespace weir::remat {
namespace {

/// What is alive at an action at least: the cheapest way to do some of the other actions before it
/// and the rest behind it, a minimum cut.
class Bound {
public:
  explicit Bound(const Step &step)
      : step(step), count(int(step.actions.size())), readers(step.tensors.size()),
        makers(step.tensors.size()) {
    for (auto [i, action] : enumerate(step.actions)) {
      for (int read : action.reads)
        readers[read].push_back(int(i));
      for (int made : action.writes)
        makers[made].push_back(int(i));
    }
  }

  /// Bytes that are alive when the action runs, in any order.
  int64_t at(int action) const;

private:
  /// Whether it has memory of its own in every order. Several make what lies in one memory round by
  /// round.
  bool counts(int tensor) const {
    const Tensor &one = step.tensors[tensor];
    return one.bytes && one.variable < 0 && makers[tensor].size() <= 1 &&
           !(one.madeBy >= 0 && step.actions[one.madeBy].keepsVariable);
  }
  int64_t bytesMade(const Action &action) const;

  const Step &step;
  const int count;
  std::vector<SmallVector<int, 2>> readers, makers; ///< by tensor
};

int64_t Bound::at(int here) const {
  // With the source is what is done before; nodes of actions, then of tensors: that all of its
  // readers are done.
  constexpr int before = 0, behind = 1, first = 2;
  MinCut graph(first + count + int(step.tensors.size()));
  auto nodeOf = [&](int action) { return action == here ? behind : first + action; };
  for (int i = 0; i < count; ++i)
    for (int read : step.actions[i].reads)
      for (int maker : makers[read])
        if (maker < i) {
          graph.add(nodeOf(i), nodeOf(maker), MinCut::never);
          if (i == here)
            graph.add(before, nodeOf(maker), MinCut::never);
        }
  for (int tensor = 0; tensor < int(step.tensors.size()); ++tensor) {
    if (!counts(tensor))
      continue;
    int node = first + count + tensor;
    int maker = makers[tensor].empty() ? before : nodeOf(makers[tensor].front());
    if (maker == behind)
      continue;
    graph.add(maker, node, double(step.tensors[tensor].bytes));
    for (int reader : readers[tensor])
      graph.add(node, nodeOf(reader), MinCut::never);
    if (step.tensors[tensor].isPort)
      graph.add(node, behind, MinCut::never);
  }
  std::vector<bool> done = graph.solve();
  int64_t bytes = bytesMade(step.actions[here]);
  for (int tensor = 0; tensor < int(step.tensors.size()); ++tensor)
    if (counts(tensor) && !done[first + count + tensor] &&
        (makers[tensor].empty() || done[nodeOf(makers[tensor].front())]))
      bytes += step.tensors[tensor].bytes;
  return bytes;
}

/// Of its own memory: what may lie where something that it reads does is left out.
int64_t Bound::bytesMade(const Action &action) const {
  int64_t bytes = action.workspace;
  for (auto [i, made] : enumerate(action.writes)) {
    bool mayLieElsewhere = any_of(action.inPlace, [&](auto pair) {
      const Tensor &read = step.tensors[action.reads[pair.second]];
      return pair.first == i && read.lends && read.bytes == step.tensors[made].bytes;
    });
    if (counts(made) && !mayLieElsewhere)
      bytes += step.tensors[made].bytes;
  }
  return bytes;
}

} // namespace

int64_t leastInAnyOrder(const Step &step) {
  // Where most is alive in the order that there is, and where forward ends; until what is found is
  // as good as what there is. A cut's time grows faster than the step: about a second of them.
  const int near = std::min(8, 2000 / std::max(1, int(step.actions.size())));
  constexpr double enough = 0.999;
  int64_t least = 0;
  Memory memory = measure(step);
  Bound bound(step);
  for (int distance = 0; distance <= near; ++distance)
    for (int middle : {memory.peak, boundaryOf(step)})
      for (int i : {middle - distance, middle + distance})
        if (i >= 0 && i < int(step.actions.size()) && double(least) < enough * double(memory.bytes))
          least = std::max(least, bound.at(i));
  return least;
}

} // namespace weir::remat
