//===- InspectMemory.h - weir inspect --memory --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_INSPECT_INSPECTMEMORY_H
#define WEIR_TOOLS_WEIR_INSPECT_INSPECTMEMORY_H

#include "runtime/artifact/Artifact_generated.h"
#include <nlohmann/json.hpp>

namespace weir {

/// As JSON; the text form prints it and adds nothing. Sizes are bytes of the arena, times parts of
/// a step's in which nothing is computed again, as the compiler estimated it:
///
///   model, target, arena, persistent, scratch: of the step; of a mesh, its first rank's
///   stages [{rank, arena, persistent, scratch}]: the same of the first rank of each stage of a
///     pipeline; null without
///   kept [{at, what, bytes, times, share, why}]: of the forward computation for its gradients, the
///     largest first; `share` is what computing each again takes from all else that is kept, null
///     where it cannot be given up, and `why` says why not
///   again [{at, what, bytes, times, share, why}]: what is computed again instead, and what each
///     would take and takes
///   totals {kept, fixed, again, share, scratch_if_kept, gained}: bytes kept, those of them that
///     cannot be given up; bytes that would be kept, and the time that is spent instead; the
///     scratch of the step if they were, and the difference
///
/// `kept`, `again`, `away` and `totals` are null of an artifact that does not say, as of stages.
/// `program` has been verified (runtime/artifact/Reader.h).
nlohmann::ordered_json describeMemory(const artifact::Program &program);

/// Prints an artifact's. Throws Failure(Exit::model).
void inspectMemory(const std::string &path, bool json);

} // namespace weir

#endif
