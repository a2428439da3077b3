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

/// Calls `body`: at once where this process is alone, with `options`; else once all processes of
/// the launch have met, with options that name their group. Rank 0 alone reports then, and what one
/// fails with ends all. `meshes` are what the programs are for; one without axes is a single
/// device. Throws Failure: Exit::usage where the launch is not of the ranks of one of them, and
/// what `body` throws, with the rank before it.
Exit runDistributed(const RunOptions &options, const std::vector<Mesh> &meshes,
                    const std::function<Exit(const RunOptions &)> &body);

/// Whether this process reports and writes: it is alone, or rank 0.
bool isFirst(const RunOptions &options);

/// What the first process has made, for all. Its failures are theirs.
void shareArtifact(const RunOptions &options, std::vector<std::byte> &artifact);

} // namespace weir

#endif
