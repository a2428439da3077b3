//===- Streams.h - Work that waits for its turn -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every call that enqueues adds a node, with those it must come after. Nothing runs until the host
// waits for something: then nodes that are ready run, drawn at random, until that is done. A
// program that relies on an order that it has not asked for sees another one.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_EMULATED_CUDA_STREAMS_H
#define WEIR_TEST_EMULATED_CUDA_STREAMS_H

#include "test/emulated-cuda/Clocks.h"
#include "test/emulated-cuda/Shadow.h"
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weir::emulated {

/// What a node does; a graph's nodes share theirs with every launch of it.
struct Work {
  std::string name;
  uint32_t blocks = 1;       ///< serial numbers that it takes in the shadow
  std::function<void()> run; ///< faults are reported, not thrown
  /// Until when it does not run, though nothing that the device knows of keeps it: what another
  /// device does. Null: at once.
  std::function<bool()> isOpen = nullptr;
};

/// Of the calling thread's context, from 0 on; 0 without one.
int currentDevice();
/// Of the node that runs; else the current one.
int activeDevice();

struct Node {
  std::shared_ptr<const Work> work; ///< none: only joins
  std::vector<std::shared_ptr<Node>> successors;
  int pending = 0; ///< nodes it must come after that have not run
  bool isDone = false;
  int device = 0;
  uint64_t number = 0;
  Clock clock;
  Moment moment;
  double doneAt = 0; ///< milliseconds
};
using NodeRef = std::shared_ptr<Node>;

/// Adds a node behind `after`; entries may be done, none is null.
NodeRef enqueue(std::shared_ptr<const Work> work, const std::vector<NodeRef> &after);

/// Runs nodes, of any device, until this one is done, or all of the current device, or a fault has
/// become sticky. What the host enqueues on the device then is ordered after it.
void waitFor(const NodeRef &node);
void waitForAll();

/// Runs one node that is ready, if there is one: a query makes progress, too. False without one.
bool runOne();

/// When the node is that runs now, and whether it comes after one that ran before.
Moment runningMoment();
bool runsAfter(Moment moment);

/// The host has seen that the node is done.
void noticed(const Node &node);

/// Forgets all nodes, run or not.
void resetStreams();

} // namespace weir::emulated

#endif
