//===- ListScheduler.h - Starts collectives early, for overlap ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_COLLECTIVES_LISTSCHEDULER_H
#define WEIR_PASSES_COLLECTIVES_LISTSCHEDULER_H

#include "passes/collectives/Dependences.h"

namespace weir {

/// What an order may do.
struct SchedulingLimits {
  int64_t most = INT64_MAX; ///< bytes of the block's scratch that may be alive for what is hurried
  bool passes = true;       ///< what would wait for a collective lets others go first
};

/// The actions of a block in a new order, in which collectives begin when what they read is made
/// and others go on beside them.
class ListScheduler {
public:
  using Node = Dependences::Node;

  /// `seconds` of each node; `queues` of those that are collectives, 0 for all others.
  ListScheduler(const Dependences &actions, std::vector<double> seconds,
                std::vector<uint64_t> queues, const SchedulingLimits &limits);

  /// The numbers of the nodes. Collectives, and loops that have some, are in the order they had:
  /// so all ranks have the same.
  std::vector<unsigned> order();

private:
  struct State {
    unsigned waits = 0; ///< nodes that it is behind, and are not given out
    llvm::SmallVector<unsigned, 4> next;
    bool given = false;
    double done = 0; ///< when, by the clock
  };

  void findReleases();
  void give(unsigned node);
  void await(unsigned collective);
  void touch(unsigned node);
  void letGo(unsigned node);
  bool isCollective(unsigned node) const { return queues[node] != 0; }
  bool isReady(unsigned node) const;
  /// When all collectives that it is behind are done.
  double waitsUntil(unsigned node) const;
  /// What it would make alive.
  int64_t bytesAdded(unsigned node) const;
  bool hasRoom(unsigned node) const { return alive + bytesAdded(node) <= limits.most; }
  bool begin();
  bool hurry();
  unsigned upcoming();
  unsigned neededFor(unsigned node);
  double soonestEnd();
  unsigned next();

  const Dependences &actions;
  const std::vector<Node> &nodes;
  const std::vector<double> seconds;
  const std::vector<uint64_t> queues;
  const SchedulingLimits limits;
  std::vector<State> states;
  std::vector<double> releases; ///< when collectives of what is there from the start are to begin
  std::vector<bool> late;       ///< what is made of variables by collectives, these too
  std::vector<unsigned> ordered;
  size_t head = 0;                                              ///< the next of these
  unsigned first = 0;                                           ///< node that is not given out
  double now = 0;                                               ///< of queue 0
  llvm::DenseMap<uint64_t, double> free;                        ///< when each queue is
  llvm::DenseMap<uint64_t, llvm::SmallVector<unsigned>> beside; ///< that are not awaited
  llvm::DenseMap<Dependences::Memory, unsigned> left;           ///< who will touch it
  llvm::DenseSet<Dependences::Memory> live;
  int64_t alive = 0;
  std::vector<unsigned> given;
};

} // namespace weir

#endif
