//===- Plan.h - A planned entry's accesses to memory ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of an entry that its safety depends on: the bytes that each action touches, its queue,
// and the events that order actions. The compiler fills these in from IR, and the loader from a
// file, and both call verify (Verify.h). Nothing here has to be true: verify checks every number
// before it relies on it.
//
// Actions are numbered depth first from 0: a loop takes a number, then the actions of its body,
// once. They are issued in this order, the body of a loop once per round, each on its queue. A
// queue runs its actions in the order of issue, and only events order actions of different queues.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_PLANNED_PLAN_H
#define WEIR_SUPPORT_PLANNED_PLAN_H

#include "support/spec/Footprint.h"
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace weir::planned {

enum class Space : uint8_t {
  persistent, ///< survives the entry: its buffers are alive until the entry's end
  constant,   ///< has fixed contents, and is never written
  scratch,
  pinned, ///< host side of transfers
  host    ///< offloaded buffers
};
constexpr unsigned spaceCount = 5;

/// A range of a space. Offset and size are bytes, the offset a multiple of 64.
struct Buffer {
  Space space = Space::scratch;
  uint64_t offset = 0;
  uint64_t size = 0;
  std::string name;
  bool holds = false; ///< has contents when the entry begins: a variable. A constant always has.
  uint32_t first = 0; ///< its lifetime as numbers of actions, both included
  uint32_t last = 0;
};

/// How an access moves with a loop around it: by `bytes` per round, backwards if negative.
struct Stride {
  uint32_t loop =
      0; ///< the loop's depth, 0 the outermost; an access has at most one stride per loop
  int64_t bytes = 0;
  uint32_t modulus = 0; ///< the round counts modulo this, as with double buffering; 0: not
};

using spec::Dim;
using spec::Mode;

/// Bytes of one buffer that an action accesses: `bytes` of them at each point of `dims`, from
/// offset + sum over loops of stride * (round mod modulus), relative to the buffer's start.
struct Access {
  uint32_t buffer = 0;
  int64_t offset = 0;
  std::vector<Stride> strides;
  uint64_t bytes = 0;
  std::vector<Dim> dims;
  Mode mode = Mode::read;
  std::string name;
};

/// An action's reads may overlap its writes (in-place updates are the kernel's own business), but
/// no two of its accesses write the same byte.
struct Action {
  enum class Kind : uint8_t {
    work,   ///< performs its accesses
    loop,   ///< runs `body` `count` times; its own accesses happen at the start of each round
    record, ///< the event is reached when all work issued on the queue before is done
    wait ///< later work of the queue begins after the event's last record so far, if there is one
  };
  Kind kind = Kind::work;
  uint32_t queue = 0; ///< of a loop: the queue of its own accesses
  std::vector<Access> accesses;
  uint32_t event = 0;
  uint64_t count = 0;
  std::vector<Action> body;
  std::string name;
};

/// The host writes the inputs and starts queue 0, whose end is the end of the entry: the host then
/// reads the outputs, or starts the next entry. Every other queue begins independently: before its
/// first work, it has to wait for an event of queue 0 (or of another queue that has waited), and
/// queue 0 has to wait for its last work.
struct Entry {
  std::vector<Buffer> buffers;
  uint32_t queues = 1;
  uint32_t events = 0;
  std::array<uint64_t, spaceCount> sizes = {}; ///< bytes of each Space
  std::vector<Access> inputs;                  ///< written by the host, with any mode
  std::vector<Access> outputs;                 ///< read by the host
  std::vector<Action> actions;
};

} // namespace weir::planned

#endif
