//===- Verify.cpp - Proves that a planned entry is safe to run ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/planned/Verify.h"
#include "support/planned/Walk.h"

namespace weir::planned {

Verdict verify(const Entry &entry, const Limits &limits) {
  FlatPlan plan(entry);
  if (Finding fault = plan.build())
    return {fault};
  if (Finding fault = checkBounds(plan))
    return {fault};
  if (Finding fault = checkLifetimes(plan))
    return {fault};
  Walk walk(plan, limits);
  Finding fault = walk.run();
  return {fault, walk.steps(), walk.roundsLeftOut()};
}

} // namespace weir::planned
