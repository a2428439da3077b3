//===- MinCut.h - Minimum cut of a graph ----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Maximum flow by shortest augmenting levels (Dinic, "Algorithm for solution of a problem of
// maximum flow in a network with power estimation", 1970).
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_MINCUT_H
#define WEIR_PASSES_MINCUT_H

#include <limits>
#include <vector>

namespace weir {

class MinCut {
public:
  static constexpr double never = std::numeric_limits<double>::infinity();

  /// Node 0 is the source, node 1 is the sink.
  explicit MinCut(int nodes) : edgesOf(nodes) {}

  /// Cutting between `from`, on the source's side, and `to`, on the sink's, costs this much; at
  /// least 0.
  void add(int from, int to, double cost);

  /// The nodes on the source's side of a minimum cut; of several minimum cuts, the one with the
  /// fewest.
  std::vector<bool> solve();

private:
  struct Edge {
    int to;
    double room;
  };
  bool findLevels();
  double push(int node, double flow);

  std::vector<Edge> edges; ///< each is followed by its reverse
  std::vector<std::vector<int>> edgesOf;
  std::vector<int> level;
  std::vector<size_t> next;
  double least = 0; ///< smaller capacities count as none
};

} // namespace weir

#endif
