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
  persistent, ///< survives the entry: its buffers live to the entry's end
  constant,   ///< has its contents for good and is never written
  scratch,
  pinned, ///< the host's side of transfers
  host    ///< what there is no room for on the device
};
constexpr unsigned spaceCount = 5;

/// A range of a space. Offset and size are bytes, the offset a multiple of 64.
struct Buffer {
  Space space = Space::scratch;
  uint64_t offset = 0;
  uint64_t size = 0;
  std::string name;
  bool holds = false; ///< has contents when the entry begins: a variable. A constant always has.
  uint32_t first = 0; ///< the numbers of the actions it lives from and to, both included
  uint32_t last = 0;
};

/// How an access moves with a loop around it: by `bytes` a round, backwards where negative.
struct Stride {
  uint32_t loop = 0; ///< the loop's depth, 0 the outermost; an access has one stride a loop at most
  int64_t bytes = 0;
  uint32_t modulus = 0; ///< the round counts modulo this, as where buffers are double; 0: as it is
};

using spec::Dim;
using spec::Mode;

/// Bytes of one buffer that an action touches: `bytes` of them at each point of `dims`, from
/// offset + sum over loops of stride * (round mod modulus), counted from the buffer's start.
struct Access {
  uint32_t buffer = 0;
  int64_t offset = 0;
  std::vector<Stride> strides;
  uint64_t bytes = 0;
  std::vector<Dim> dims;
  Mode mode = Mode::read;
  std::string name;
};

/// What an action reads may overlap what it writes (in place: how is the kernel's own business),
/// but no two of its accesses write the same byte.
struct Action {
  enum class Kind : uint8_t {
    work,   ///< touches its accesses
    loop,   ///< runs `body` `count` times; its accesses happen at the start of each round
    record, ///< `event` is reached when all that was issued on the queue before is done
    wait    ///< what the queue is issued from here on begins after the event's last record so far;
            ///< where there is none yet, as in a loop's first round, at once
  };
  Kind kind = Kind::work;
  uint32_t queue = 0; ///< of a loop, where its own accesses happen
  std::vector<Access> accesses;
  uint32_t event = 0;
  uint64_t count = 0;
  std::vector<Action> body;
  std::string name;
};

/// The host writes the inputs and starts queue 0, which ends the entry: the host then reads the
/// outputs, or starts the next. Every other queue begins after nothing: before anything else it has
/// to wait for what queue 0 has recorded (or another queue that has), and queue 0 for its last
/// work.
struct Entry {
  std::vector<Buffer> buffers;
  uint32_t queues = 1;
  uint32_t events = 0;
  std::array<uint64_t, spaceCount> sizes = {}; ///< bytes of each Space
  std::vector<Access> inputs;                  ///< whatever their mode, the host writes these
  std::vector<Access> outputs;                 ///< and reads these
  std::vector<Action> actions;
};

} // namespace weir::planned

#endif
