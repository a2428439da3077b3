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

  /// Node 0 is the source, node 1 the sink.
  explicit MinCut(int nodes) : edgesOf(nodes) {}

  /// Having `from` with the source and `to` with the sink costs so much, at least 0.
  void add(int from, int to, double cost);

  /// The nodes that are with the source where all costs least; of several ways, as few as can be.
  std::vector<bool> solve();

private:
  struct Edge {
    int to;
    double room;
  };
  bool findLevels();
  double push(int node, double flow);

  std::vector<Edge> edges; ///< each with its reverse behind it
  std::vector<std::vector<int>> edgesOf;
  std::vector<int> level;
  std::vector<size_t> next;
  double least = 0; ///< room that counts
};

} // namespace weir

#endif
