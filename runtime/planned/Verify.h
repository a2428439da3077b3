//===- Verify.h - Proves that a planned entry is safe to run ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Proves, without running it, of one entry in any timing of its queues:
//   - every access lies inside its buffer, in every round, and every buffer in its space;
//   - everything read was written, through the same buffer;
//   - lifetimes cover what they are used for, and buffers alive together do not overlap;
//   - of two accesses to the same bytes, one of them a write, one happens before the other, by its
//     queue or by events; the host comes before and after them all.
//
// It follows the actions in the order of issue, with a vector clock for each queue and event
// (Clocks.h) and, for each byte, who wrote it last and who has read it since (Memory.h). As what
// happens before is issued before, no other order can find anything else. Loops are followed until
// their rounds repeat (LoopPeriods.h). The time is near linear in the actions and the pieces of
// their accesses.
//
// Whatever the entry says, this ends, within the limits' time and memory, and throws nothing of its
// own. What it accepts is safe. What keeps the rules of Plan.h it refuses only as tooLongToProve:
// where accesses meet that keep no slots, in more rounds than the limits let it follow.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_PLANNED_VERIFY_H
#define WEIR_RUNTIME_PLANNED_VERIFY_H

#include "runtime/planned/Fault.h"
#include "runtime/planned/Plan.h"

namespace weir::planned {

struct Limits {
  uint64_t steps = 50'000'000;   ///< actions and pieces of accesses followed, and what they met
  uint64_t segments = 2'000'000; ///< runs of bytes told apart at a time, about 100 bytes each
};

struct Verdict {
  Finding fault;              ///< the first that was found
  uint64_t steps = 0;         ///< as Limits::steps
  uint64_t roundsLeftOut = 0; ///< of loops, for they would have found nothing new
};

Verdict verify(const Entry &entry, const Limits &limits = {});

} // namespace weir::planned

#endif
