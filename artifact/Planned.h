//===- Planned.h - An artifact's entry as what is proven of it ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_ARTIFACT_PLANNED_H
#define WEIR_ARTIFACT_PLANNED_H

#include "artifact/Artifact_generated.h"
#include "support/planned/Plan.h"
#include "support/planned/Ranks.h"

namespace weir::artifact {

/// The buffers are the program's variables, then the entry's. Every index of `entry` has been
/// checked, and every call's spec; places, lifetimes and order have not.
planned::Entry plannedEntry(const Program &program, const Entry &entry);

/// The programs of all ranks of a mesh, each of which has been checked as if it were alone.
planned::MeshPrograms plannedRanks(const Program &program);

} // namespace weir::artifact

#endif
