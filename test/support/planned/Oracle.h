//===- Oracle.h - The slow, obvious answer about a planned entry --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Unrolls every loop, closes happens-before transitively, and compares all pairs of accesses, byte
// by byte. For entries of at most maxBytes in each space and maxOps actions unrolled.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_SUPPORT_PLANNED_ORACLE_H
#define WEIR_TEST_SUPPORT_PLANNED_ORACLE_H

#include "support/planned/Fault.h"
#include "support/planned/Plan.h"
#include <optional>
#include <set>

namespace weir::planned {

constexpr size_t maxBytes = 1024, maxOps = 1200;

/// All kinds of faults there are, but that overwritten counts as readBeforeWrite, and
/// inputNotVisible as queueNotForked; nothing where the entry is too large. Expects that what is
/// named exists.
std::optional<std::set<FaultKind>> faultsOf(const Entry &entry);

} // namespace weir::planned

#endif
