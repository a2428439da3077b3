//===- Replicas.h - Checks that replicas are equal ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If an axis does not shard a variable, the ranks along it hold replicas, and each updates its own
// by the same operations. Replicas that differ once stay different. Then ranks started from
// different weights, or a processor, a memory or a network is faulty.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_RESUME_REPLICAS_H
#define WEIR_RUNTIME_RUN_RESUME_REPLICAS_H

#include "runtime/core/Group.h"
#include "runtime/core/Program.h"

namespace weir {

/// Hashes every replicated variable, and compares the hashes over exactly the ranks that replicate
/// it: virtual ones, and those of `group`, which is null if this process is alone. Returns "" if
/// all are equal; otherwise, with the same result on all processes, which variable differs, and on
/// which ranks. The ranks of a group call it together. Each reads all of its variables once.
std::string differingReplicas(const Program &program, Group *group);

} // namespace weir

#endif
