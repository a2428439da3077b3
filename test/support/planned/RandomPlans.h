//===- RandomPlans.h - Random planned entries ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_SUPPORT_PLANNED_RANDOMPLANS_H
#define WEIR_TEST_SUPPORT_PLANNED_RANDOMPLANS_H

#include "support/planned/Plan.h"
#include <random>

namespace weir::planned {

using Random = std::mt19937;

/// A small entry in which all that is named exists: loops, queues, buffers that share places over
/// time. Every work is ordered after all before it, and then some of that order is taken away, so
/// that about a third of the entries are without a fault.
Entry randomPlan(Random &random);

/// Any values at all, many at the edges of their types.
Entry garbage(Random &random);

} // namespace weir::planned

#endif
