//===- Plans.h - Planned entries that are right, to plant faults in -----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_SUPPORT_PLANNED_PLANS_H
#define WEIR_TEST_SUPPORT_PLANNED_PLANS_H

#include "support/planned/Plan.h"

namespace weir::planned {

Access reads(uint32_t buffer, uint64_t bytes, int64_t offset = 0);
Access writes(uint32_t buffer, uint64_t bytes, int64_t offset = 0);
Access updates(uint32_t buffer, uint64_t bytes, int64_t offset = 0);
/// The access, moving with the loop at this depth.
Access moving(Access access, int64_t bytes, uint32_t modulus = 0, uint32_t loop = 0);

Action work(std::string name, uint32_t queue, std::vector<Access> accesses);
Action record(uint32_t queue, uint32_t event);
Action wait(uint32_t queue, uint32_t event);
Action loop(uint64_t count, std::vector<Action> body, std::vector<Access> accesses = {});

/// Adds a buffer behind those of its space, alive throughout; its index.
uint32_t addBuffer(Entry &entry, std::string name, uint64_t size, Space space = Space::scratch);

/// The action with this number.
Action &at(Entry &entry, uint32_t number);
/// Takes it out, and the last of all lifetimes down.
void drop(Entry &entry, uint32_t number);

/// The number of an entry's last action.
uint32_t lastOf(const Entry &entry);
/// Lets all buffers live to the entry's end.
void keepAlive(Entry &entry);

/// Queue 1 copies the next microbatch from pinned memory into one of two slots, while queue 0
/// computes with the other: its first copy stands before the loop. Events that cross a round.
Entry doubleBuffers(uint64_t rounds = 10);

/// Three queues, each reading what the one before wrote, through two slots each.
Entry pipeline(uint64_t rounds = 12);

/// A scan forward, which keeps its states, and one backward over them; queue 1 sums the gradient of
/// the weights out of two slots.
Entry backwardScan(uint64_t rounds = 20);

/// Rows of a matrix by two loops, a column of it by dims.
Entry loopNest(uint64_t outer = 5, uint64_t inner = 7);

/// Microbatches out of an input, the round in an ordinal, a loss each.
Entry microbatches(uint64_t rounds = 8);

/// A variable updated in place, out of a gradient whose workspace shares its place with another
/// buffer's before.
Entry inPlace();

} // namespace weir::planned

#endif
