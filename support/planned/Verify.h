//===- Verify.h - Proves that a planned entry is safe to run --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Proves, without running it, of one entry, for any timing of its queues:
// - every access is inside its buffer, in every round, and every buffer is inside its space;
// - every byte that is read was written before, through the same buffer;
// - lifetimes cover the uses of buffers, and buffers that are alive at the same time do not
//   overlap;
// - of two accesses to the same bytes, at least one of them a write, one happens before the other,
//   by its queue or by events; the host comes before and after them all.
//
// It simulates the actions in the order of issue, with a vector clock for each queue and event
// (Clocks.h) and, for each byte, the last write and the reads since (Memory.h). An action that
// happens before another is also issued before it, so no other order can find anything else. Loops
// are simulated until their rounds repeat (LoopPeriods.h). The time is near linear in the actions
// and the pieces of their accesses.
//
// For any entry, this terminates within the limits' time and memory, and throws no exception of its
// own. An entry that it accepts is safe. An entry that keeps the rules of Plan.h is refused only as
// tooLongToProve: if accesses meet that do not keep to slots, in more rounds than the limits allow
// to simulate.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_PLANNED_VERIFY_H
#define WEIR_SUPPORT_PLANNED_VERIFY_H

#include "support/planned/Fault.h"
#include "support/planned/Plan.h"

namespace weir::planned {

struct Limits {
  uint64_t steps =
      50'000'000; ///< simulated actions and pieces of accesses, and the segments that they visit
  uint64_t segments = 2'000'000; ///< segments at a time, about 100 bytes each
};

struct Verdict {
  Finding fault;              ///< the first that was found
  uint64_t steps = 0;         ///< as Limits::steps
  uint64_t roundsLeftOut = 0; ///< of loops, because they find nothing new
};

Verdict verify(const Entry &entry, const Limits &limits = {});

} // namespace weir::planned

#endif
