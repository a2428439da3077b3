//===- ParetoFrontier.cpp - The cheapest choices at the boundary ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/remat/ParetoFrontier.h"
#include "passes/MinCut.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

using namespace llvm;

namespace weir::remat {

ParetoFrontier::ParetoFrontier(const Step &step)
    : step(step), turn(boundaryOf(step)), needed(step.tensors.size()) {
  for (int i = turn; i < step.end; ++i)
    for (int read : step.actions[i].reads)
      needed[read] = true;
  findCandidates();
  findFixed();
  if (actions.empty())
    return;
  // Free at first; then so dear that nothing is kept that can be made again.
  double smallest = INFINITY;
  for (int action : actions) {
    most += step.actions[action].cost;
    for (int made : step.actions[action].writes)
      if (mayDrop(step, made)) {
        most += step.tensors[made].transfer;
        smallest = std::min(smallest, double(step.tensors[made].bytes));
      }
  }
  ParetoPoint low = cut(0), high = cut(2 * (most + 1e-12) / smallest);
  points.push_back(low);
  findBetween(low, high, 0);
  points.push_back(high);
}

double ParetoFrontier::boundAt(int64_t bytes) const {
  double bound = 0, kept = double(bytes) - double(fixed);
  for (const ParetoPoint &corner : points)
    bound = std::max(bound, corner.cost + corner.price * (corner.kept - kept));
  return bound;
}

int64_t ParetoFrontier::least() const {
  double kept = 0;
  for (const ParetoPoint &corner : points)
    if (corner.price > 0)
      kept = std::max(kept, corner.kept - (most - corner.cost) / corner.price);
  return fixed + int64_t(kept);
}

/// From what is needed on, back to where it comes from.
void ParetoFrontier::findCandidates() {
  wanted = needed;
  for (int i = turn - 1; i >= step.begin; --i) {
    const Action &action = step.actions[i];
    if (!action.repeats ||
        none_of(action.writes, [&](int made) { return wanted[made] && mayDrop(step, made); }))
      continue;
    actions.push_back(i);
    for (int read : action.reads)
      wanted[read] = true;
  }
  std::reverse(actions.begin(), actions.end());
}

SmallVector<int> ParetoFrontier::goers(int action) const {
  SmallVector<int> result;
  for (int made : step.actions[action].writes)
    if (wanted[made] && mayGo(step, made))
      result.push_back(made);
  return result;
}

void ParetoFrontier::findFixed() {
  Memory memory = measure(step);
  if (turn <= 0 || turn > int(memory.alive.size()))
    return;
  // Ahead of the boundary: what is alive there is what is alive in both actions beside it.
  for (auto [i, lifetime] : enumerate(memory.lifetimes))
    if (lifetime.first < turn && lifetime.second >= turn && step.tensors[i].bytes &&
        step.tensors[i].madeBy < 0)
      fixed += step.tensors[i].bytes;
}

/// The cheapest choice where a byte that is kept costs so much.
ParetoPoint ParetoFrontier::cut(double price) const {
  // Nodes: repeated actions, and tensors that are needed, are with the source.
  std::vector<int> ofAction(step.actions.size(), -1), ofTensor(step.tensors.size(), -1);
  int nodes = 2;
  for (int action : actions) {
    ofAction[action] = nodes++;
    for (int made : step.actions[action].writes)
      if (mayDrop(step, made))
        ofTensor[made] = nodes++;
  }
  // What it costs that a tensor is there, and whether it is by transfers.
  auto costOf = [&](int tensor) {
    double kept = price * double(step.tensors[tensor].bytes);
    double moved = mayGo(step, tensor) ? step.tensors[tensor].transfer : INFINITY;
    return std::pair(std::min(kept, moved), moved < kept);
  };
  MinCut graph(nodes);
  for (int action : actions) {
    graph.add(ofAction[action], 1, step.actions[action].cost);
    for (int made : step.actions[action].writes) {
      int tensor = ofTensor[made];
      if (tensor < 0)
        continue;
      graph.add(tensor, ofAction[action],
                step.actions[action].marked ? MinCut::never : costOf(made).first);
      if (needed[made])
        graph.add(0, tensor, MinCut::never);
    }
    for (int read : step.actions[action].reads)
      if (ofTensor[read] >= 0)
        graph.add(ofAction[action], ofTensor[read], MinCut::never);
  }
  std::vector<bool> side = graph.solve();
  ParetoPoint corner;
  corner.price = price;
  corner.released = Released(step);
  for (int action : actions) {
    bool again = side[ofAction[action]];
    corner.released.again[action] = again;
    if (again)
      corner.cost += step.actions[action].cost;
    for (int made : step.actions[action].writes) {
      if (ofTensor[made] < 0 || again || !side[ofTensor[made]])
        continue;
      if (costOf(made).second) {
        corner.released.away[made] = true;
        corner.cost += step.tensors[made].transfer;
      } else {
        corner.kept += double(step.tensors[made].bytes);
      }
    }
  }
  return corner;
}

void ParetoFrontier::findBetween(const ParetoPoint &low, const ParetoPoint &high, int depth) {
  constexpr int deepest = 6;
  if (low.kept <= high.kept || depth == deepest)
    return;
  double price = (high.cost - low.cost) / (low.kept - high.kept);
  ParetoPoint between = cut(price);
  double line = low.cost + price * low.kept, found = between.cost + price * between.kept;
  if (found >= line * (1 - 1e-9) || between.kept >= low.kept || between.kept <= high.kept)
    return;
  findBetween(low, between, depth + 1);
  points.push_back(between);
  findBetween(between, high, depth + 1);
}

} // namespace weir::remat
