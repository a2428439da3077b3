//===- LoopPeriods.h - Skips rounds of a loop that repeat -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop of many rounds is simulated until its state repeats; then the rounds up to the last ones
// are skipped. This is exact:
//
// 1. What a round finds depends on the clocks, the events' clocks and the marks in memory only by
//    comparisons of sequence numbers of the same queue, and on the number of the round only by
//    addresses. Call two states alike if the numbers that the loop issued differ by the same
//    amount, for each queue, and everything else is equal. From alike states, the same round finds
//    the same, and leads to states that are alike by the same amounts (a bisimulation).
// 2. Assume first that no access travels from round to round, so that everything depends on the
//    round modulo some numbers, and let the period be their least common multiple. If the states
//    before the rounds n - period and n are alike, so are those before n and n + period, and before
//    n plus any multiple. So skipping whole periods does not change any later result. When this
//    happens is observed, not assumed. (It happens soon. A wait reaches back one round at most, and
//    the shortest chain of waits from one queue to another visits no queue twice. So after as many
//    rounds as there are queues, clocks lag by a constant. One period later, every byte that the
//    loop accesses has been accessed.)
// 3. An access that travels by S bytes per round finds new bytes in each round. Require that all
//    accesses in the loop that meet such bytes travel by the same S, and that their bytes of one
//    round fit into S bytes, a slot. Then no two rounds touch the same slot, and states omit slots.
//    Inside a slot, a round orders its accesses as any other round does, by 1. Accesses before the
//    loop are compared with sequence numbers from before the loop, which no longer change in the
//    clocks once two states are alike. So the first round after the skipped ones touches their
//    slots as well, and finds what they would have found. Its marks are later than theirs; so as
//    many rounds as a clock can lag are simulated after it, and an action that sees any of these
//    slots sees them all. Bytes that the loop only reads need no slots, because reads never
//    conflict.
//
// If accesses do not keep to slots, as in a scan that reads the result of its last round, each
// round is simulated, as far as the limits allow.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_PLANNED_LOOPPERIODS_H
#define WEIR_SUPPORT_PLANNED_LOOPPERIODS_H

#include "support/planned/Memory.h"
#include "support/program/Limits.h"

namespace weir::planned {

/// The current round of a loop, and the number of skipped rounds before it. Its travelling accesses
/// also touch the bytes of the skipped rounds.
struct Round {
  uint64_t index = 0;
  uint64_t leftOut = 0;
};
using Rounds = std::array<Round, limits::loops>; // by depth

/// The address of the access in its space in these rounds.
uint64_t addressIn(const Placed &placed, const Rounds &rounds);
/// Its bytes from there on, with those of the skipped rounds.
ByteRanges byteRangesIn(const Placed &placed, const Rounds &rounds);

/// The part of a loop's state that has to repeat.
struct LoopPeriod {
  uint64_t period = 0;         ///< 0: unknown; each round has to be simulated
  std::string obstacle;        ///< why it is unknown
  bool hasSlots = false;       ///< an access travels
  std::vector<Region> regions; ///< touched by the loop, without slots
};

/// For the loop `loop`, in these rounds of the loops around it.
LoopPeriod loopPeriodOf(const FlatPlan &plan, uint32_t loop, const Rounds &around, Effort &effort);

/// The state before a round, normalized so that alike states are equal. `begin` is the clocks'
/// issued() at the start of the loop.
using State = std::vector<uint64_t>;
State stateOf(const FlatPlan &plan, uint32_t loop, const LoopPeriod &pattern, const Clocks &clocks,
              const std::vector<uint64_t> &begin, const Memory &memory);

} // namespace weir::planned

#endif
