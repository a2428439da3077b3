//===- Replicas.h - Whether ranks have the same copies --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a mesh does not cut a variable over an axis, the ranks along that axis hold copies of the
// same values, and each updates its own by the same operations. Copies that differ once stay apart
// for ever: ranks began with other weights, or a processor, a memory or a network has a fault.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_RESUME_REPLICAS_H
#define WEIR_RUNTIME_RUN_RESUME_REPLICAS_H

#include "runtime/core/Group.h"
#include "runtime/core/Program.h"

namespace weir {

/// Hashes every variable that is replicated and compares the hashes over exactly the ranks that
/// replicate it, virtual ones and those of `group`, which is null where this process is alone.
/// Returns "" where all are the same; otherwise, the same on all processes, which variable is not,
/// and on which ranks. The ranks of a group call it together. Each reads all of its variables once.
std::string differingReplicas(const Program &program, Group *group);

} // namespace weir

#endif
