//===- Walk.h - Actions one after the other -------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For devices that one thread drives action by action: the order, the loops, where operands lie in
// each round, traces, observers and poison are the same for all of them. Every index and offset of
// the artifact is resolved when the walk is made; walking looks nothing up and allocates nothing.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CORE_WALK_H
#define WEIR_RUNTIME_CORE_WALK_H

#include "runtime/core/Device.h"
#include <optional>
#include <vector>

namespace weir {

/// An action that a device has made ready.
class Work {
public:
  virtual ~Work() = default;

  /// Its operands lie there from now on.
  virtual void bind(std::span<const Address> operands) = 0;

  /// Carries it out: before all that is carried out later.
  virtual void run() = 0;
};

/// What a device gives its walks.
class Workshop {
public:
  virtual ~Workshop() = default;

  /// Makes an action that is no loop ready; null where it asks for nothing, such as a wait of who
  /// does one action after the other.
  virtual std::unique_ptr<Work> make(const artifact::Action &action) = 0;

  /// Stores the round of a loop, on the queue of the loop.
  virtual void setRound(uint32_t queue, Address at, int32_t round) = 0;

  /// Fills bytes with what is no number, on the queue of the last action that used them; of a loop
  /// in whose body they were used, on the loop's own.
  virtual void poison(uint32_t queue, Address from, uint64_t bytes) = 0;

  /// A moment on a queue: when all that was carried out there is done.
  virtual int64_t mark(uint32_t queue) = 0;

  /// Records in the trace what ran between two marks of one queue.
  virtual void record(Trace &trace, const ActionPlace &place, int64_t begin, int64_t end) = 0;
};

class Walk {
public:
  /// Of the entry number `index`; with `poison`, what is dead is poisoned.
  Walk(const artifact::Program &program, uint32_t index, Workshop &workshop, bool poison);

  /// Both may be null.
  void run(Trace *trace, Observer *observer);

private:
  struct Move {
    uint32_t operand, loop, modulus; ///< a modulus of 0 is none
    int64_t bytes;
  };
  struct Range {
    Address begin;
    uint64_t size;
  };
  struct Ready {
    uint32_t action; ///< its number
    uint32_t queue = 0;
    std::unique_ptr<Work> work;  ///< null: a loop, or nothing to do
    std::vector<Address> places; ///< of the operands in no round
    std::vector<Move> moves;
    uint32_t count = 0; ///< rounds of a loop
    std::vector<Ready> body;
    std::vector<Range> dead; ///< poisoned behind it
  };
  using Actions = flatbuffers::Vector<flatbuffers::Offset<artifact::Action>>;

  std::vector<Ready> prepare(const Actions &actions, std::optional<uint32_t> around);
  Ready prepare(const artifact::Action &action, std::optional<uint32_t> around);
  std::vector<Range> deadBehind(uint32_t first, uint32_t last,
                                std::optional<uint32_t> around) const;
  void poisonBefore();
  void place(const Ready &step);
  void carryOut(Ready &step);
  void runAll(std::vector<Ready> &steps);
  void loop(Ready &step);

  const artifact::Program &program;
  const artifact::Entry &entry;
  const uint32_t index;
  Workshop &workshop;
  const bool poison;
  uint32_t nextAction = 0;
  std::vector<Ready> steps;

  // Of the run:
  Trace *trace = nullptr;
  Observer *observer = nullptr;
  std::vector<Address> placed;
  std::vector<uint32_t> rounds; ///< of the loops that are running, the outermost first
  uint32_t round = 0;           ///< counted over all of them together
};

} // namespace weir

#endif
