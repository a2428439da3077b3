//===- LoopPeriods.h - What a loop's rounds have in common ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop of many rounds is followed until it repeats, and from there to its last rounds at once.
// This is exact:
//
// 1. What following a round finds depends on the clocks, the events' clocks and the marks in memory
//    only through comparing sequence numbers of the same queue, and on the round's number only
//    through addresses. Call two states alike if the numbers that the loop issued differ by the
//    same amount, queue by queue, and everything else is equal. From alike states the same round
//    finds the same and leads to states alike by the same amounts (a bisimulation).
//
// 2. Say nothing travels, so that all depends on the round modulo some numbers, and let the period
//    be their least common multiple. If the states before the rounds n - period and n are alike, so
//    are those before n and n + period, and before n plus any multiple: leaving out whole periods
//    changes nothing that is found later. How soon this happens is observed, not assumed. (It is
//    soon. A wait reaches back a round at most, and the shortest chain of waits from one queue to
//    another visits none twice: after as many rounds as there are queues, clocks lag by a constant.
//    A period later every byte has been touched that ever is.)
//
// 3. An access that travels, by S bytes a round, finds new bytes in each. Let all accesses in the
//    loop that meet such bytes travel by the same S, and let what they touch in one round fit into
//    S bytes, a slot. Then no slot is touched in two rounds, and states leave slots out. Inside a
//    slot its round orders what it does as any other round does, by 1; what was there before the
//    loop is compared with numbers from before the loop, which in the clocks no longer change once
//    two states are alike. So the first round behind those left out touches their slots as well,
//    and finds what they would have found. Its marks are later than theirs; as many rounds as a
//    clock can lag are followed behind it, so that whoever sees any of these slots sees them all.
//    What the loop only reads needs no slots: reads never conflict.
//
// Where accesses keep no slots, as in a scan that reads what its last round wrote, each round is
// followed, as far as the limits let it.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_PLANNED_LOOPPERIODS_H
#define WEIR_RUNTIME_PLANNED_LOOPPERIODS_H

#include "runtime/base/Limits.h"
#include "runtime/planned/Memory.h"

namespace weir::planned {

/// The round that a loop is in, and how many rounds before it were left out: its travelling
/// accesses touch what those of the rounds left out would.
struct Round {
  uint64_t index = 0;
  uint64_t leftOut = 0;
};
using Rounds = std::array<Round, limits::loops>; // by depth

/// Where the access lies in its space in these rounds.
uint64_t addressIn(const Placed &placed, const Rounds &rounds);
/// Its bytes from there on, those of the rounds left out included.
ByteRanges byteRangesIn(const Placed &placed, const Rounds &rounds);

/// What of a loop has to repeat.
struct LoopPeriod {
  uint64_t period = 0;         ///< 0: nothing can be said, each round has to be followed
  std::string obstacle;        ///< why not
  bool hasSlots = false;       ///< something in it travels
  std::vector<Region> regions; ///< what the loop touches but for slots
};

/// Of the loop `loop`, in these rounds of the loops around it.
LoopPeriod loopPeriodOf(const FlatPlan &plan, uint32_t loop, const Rounds &around, Effort &effort);

/// The state before a round, such that alike states are equal. `begin` are the clocks' issued()
/// when the loop began.
using State = std::vector<uint64_t>;
State stateOf(const FlatPlan &plan, uint32_t loop, const LoopPeriod &pattern, const Clocks &clocks,
              const std::vector<uint64_t> &begin, const Memory &memory);

} // namespace weir::planned

#endif
