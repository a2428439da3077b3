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

/// The limits of a new order.
struct SchedulingLimits {
  int64_t most = INT64_MAX; ///< bytes of scratch that may be alive because of early starts
  bool passes = true;       ///< an action that would wait for a collective may let others go first
};

/// The actions of a block in a new order, in which collectives start when their operands are
/// computed, and other actions overlap with them.
class ListScheduler {
public:
  using Node = Dependences::Node;

  /// `seconds` of each node; `queues` of collectives, 0 for all others.
  ListScheduler(const Dependences &actions, std::vector<double> seconds,
                std::vector<uint64_t> queues, const SchedulingLimits &limits);

  /// The numbers of the nodes in the new order. Collectives, and loops that contain some, keep
  /// their order, so all ranks have the same.
  std::vector<unsigned> order();

private:
  struct State {
    unsigned waits = 0; ///< dependences that are not issued yet
    llvm::SmallVector<unsigned, 4> next;
    bool given = false;
    double done = 0; ///< its end, by the clock
  };

  void findReleases();
  void give(unsigned node);
  void await(unsigned collective);
  void touch(unsigned node);
  void letGo(unsigned node);
  bool isCollective(unsigned node) const { return queues[node] != 0; }
  bool isReady(unsigned node) const;
  /// The time at which all collectives that it depends on are done.
  double waitsUntil(unsigned node) const;
  /// The bytes that it would make alive.
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
  std::vector<double> releases; ///< start times of collectives that depend only on initial values
  std::vector<bool> late;       ///< collectives of variables only, and what follows from them
  std::vector<unsigned> ordered;
  size_t head = 0;                       ///< the next of these
  unsigned first = 0;                    ///< the first node that is not issued
  double now = 0;                        ///< the clock of queue 0
  llvm::DenseMap<uint64_t, double> free; ///< when each queue is free
  llvm::DenseMap<uint64_t, llvm::SmallVector<unsigned>> beside; ///< collectives in flight, by queue
  llvm::DenseMap<Dependences::Memory, unsigned> left; ///< remaining accesses to each memory
  llvm::DenseSet<Dependences::Memory> live;
  int64_t alive = 0;
  std::vector<unsigned> given;
};

} // namespace weir

#endif
