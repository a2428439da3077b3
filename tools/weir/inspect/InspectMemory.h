//===- InspectMemory.h - weir inspect --memory --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_INSPECT_INSPECTMEMORY_H
#define WEIR_TOOLS_WEIR_INSPECT_INSPECTMEMORY_H

#include "artifact/Artifact_generated.h"
#include <nlohmann/json.hpp>

namespace weir {

/// The facts as JSON; the text form prints the same. Sizes are bytes of the arena. Times are shares
/// of the compiler's estimate for a step that recomputes nothing:
///
///   model, target, arena, persistent, scratch: of the step; on a mesh, of its first rank
///   stages [{rank, arena, persistent, scratch}]: the same for the first rank of each pipeline
///     stage; null without a pipeline
///   kept [{at, what, bytes, times, share, why}]: saved activations, the largest first; `share` is
///     the time to recompute one of them from the other saved activations, null if it cannot be
///     recomputed, and `why` says why not
///   again [{at, what, bytes, times, share, why}]: recomputed activations, with the bytes that
///     saving each would take and the time that recomputing it takes
///   away: the same for offloaded activations, with the time of the transfers
///   totals {kept, fixed, again, away, share, scratch_if_kept, gained}: bytes of saved activations,
///     and of those that cannot be recomputed; bytes of recomputed and offloaded activations, and
///     the time that this costs; the scratch of the step if it saved them, and the difference
///
/// `kept`, `again`, `away` and `totals` are null if the artifact does not list saved activations,
/// as with pipeline stages.
/// `program` has been verified (artifact/Reader.h).
nlohmann::ordered_json describeMemory(const artifact::Program &program);

/// Prints the facts of an artifact. Throws Failure(Exit::model).
void inspectMemory(const std::string &path, bool json);

} // namespace weir

#endif
