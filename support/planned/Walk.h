//===- Walk.h - Walks a planned entry in the order of issue ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_PLANNED_WALK_H
#define WEIR_SUPPORT_PLANNED_WALK_H

#include "support/planned/LoopPeriods.h"
#include "support/planned/Verify.h"
#include "support/program/Limits.h"

namespace weir::planned {

/// Finds reads before writes, and unordered accesses, in an entry that passed the other checks.
class Walk {
public:
  Walk(const FlatPlan &plan, const Limits &limits);

  Finding run();
  uint64_t steps() const { return effort.steps; }
  uint64_t roundsLeftOut() const { return leftOut; }

private:
  Finding body(uint32_t first, uint32_t last);
  Finding loop(uint32_t number);
  Finding work(uint32_t number);
  Finding end();
  Finding touch(uint32_t access, const Mark &mark, bool writes);
  Finding notForked(uint32_t number);
  Finding tooLong() const;

  const FlatPlan &plan;
  const Limits limits;
  Effort effort;
  Clocks clocks;
  Memory memory;
  Rounds rounds = {};
  uint64_t leftOut = 0;
  std::vector<uint32_t> lastWork; // by queue
  std::array<std::string, limits::loops>
      obstacles; // why all rounds of a loop are simulated, by depth
};

} // namespace weir::planned

#endif
