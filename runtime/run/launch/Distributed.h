//===- Distributed.h - A run of several processes -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_LAUNCH_DISTRIBUTED_H
#define WEIR_RUNTIME_RUN_LAUNCH_DISTRIBUTED_H

#include "runtime/run/RunOptions.h"
#include "support/Error.h"
#include "support/mesh/Mesh.h"

namespace weir {

/// Calls `body`: at once with `options` if this process is alone; else after all processes of the
/// launch have met, with options that contain their group. Then only rank 0 reports, and the
/// failure of one rank ends all. `meshes` are those of the programs; one without axes is a single
/// device. Throws Failure: Exit::usage if the launch matches none of them, and what `body` throws,
/// after the rank's number.
Exit runDistributed(const RunOptions &options, const std::vector<Mesh> &meshes,
                    const std::function<Exit(const RunOptions &)> &body);

/// Whether this process reports and writes: it is alone, or rank 0.
bool isFirst(const RunOptions &options);

/// What the first process produces, on all processes. Its failure is theirs.
void shareArtifact(const RunOptions &options, std::vector<std::byte> &artifact);

} // namespace weir

#endif
