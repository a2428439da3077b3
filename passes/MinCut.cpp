//===- MinCut.cpp - Minimum cut of a graph --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/MinCut.h"
#include <algorithm>

namespace weir {

constexpr int source = 0, sink = 1;

void MinCut::add(int from, int to, double cost) {
  edgesOf[from].push_back(int(edges.size()));
  edges.push_back({to, cost});
  edgesOf[to].push_back(int(edges.size()));
  edges.push_back({from, 0});
  // Capacities that only rounding leaves do not count.
  if (cost < never)
    least = std::max(least, cost * 1e-12);
}

bool MinCut::findLevels() {
  level.assign(edgesOf.size(), -1);
  level[source] = 0;
  std::vector<int> queue{source};
  for (size_t i = 0; i < queue.size(); ++i)
    for (int edge : edgesOf[queue[i]])
      if (int to = edges[edge].to; edges[edge].room > least && level[to] < 0) {
        level[to] = level[queue[i]] + 1;
        queue.push_back(to);
      }
  return level[sink] >= 0;
}

double MinCut::push(int node, double flow) {
  if (node == sink)
    return flow;
  for (size_t &i = next[node]; i < edgesOf[node].size(); ++i) {
    int at = edgesOf[node][i];
    Edge &edge = edges[at];
    if (edge.room <= least || level[edge.to] != level[node] + 1)
      continue;
    if (double pushed = push(edge.to, std::min(flow, edge.room)); pushed > 0) {
      edge.room -= pushed;
      edges[at ^ 1].room += pushed;
      return pushed;
    }
  }
  return 0;
}

std::vector<bool> MinCut::solve() {
  while (findLevels()) {
    next.assign(edgesOf.size(), 0);
    while (push(source, never) > 0)
      ;
  }
  std::vector<bool> withSource(edgesOf.size());
  for (size_t i = 0; i < withSource.size(); ++i)
    withSource[i] = level[i] >= 0;
  return withSource;
}

} // namespace weir
