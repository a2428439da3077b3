//===- InspectSharding.h - weir inspect --sharding ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_INSPECT_INSPECTSHARDING_H
#define WEIR_TOOLS_WEIR_INSPECT_INSPECTSHARDING_H

#include "artifact/Artifact_generated.h"
#include "planner/machines/Cluster.h"
#include <nlohmann/json.hpp>

namespace weir {

/// The facts as JSON; the text form prints the same. Sizes are bytes:
///
///   model, target, mesh
///   ranks [{ranks, persistent, arena}]: ranks that run the same program, and the memory of each
///   pipeline: of a mesh with pp (InspectPipeline.h), else null
///   variables [{name, role, at, shape, layout, why, bytes, most}]: `shape` and `bytes` are of the
///     whole tensor, `most` is the largest shard; `layout` is the sharding, as
///     support/mesh/Layout.h writes it, null if it is replicated; `why`: what chose each axis
///   values [{at, ops, times, layout, why}]: the values of the forward pass, by line of the model
///     and sharding
///   collectives [{at, kind, axis, times, bytes}]: communication in a step, by line of the model:
///     the number of collectives, and the bytes that the first rank of each stage receives, added
///     up; without a pipeline, those of rank 0. A transfer between stages has the kind "receive"
///     and the axis pp
///   totals {axis: {times, bytes}}
///
/// If `cluster` is not null, collectives and totals also have `seconds`: their time on the
/// cluster's links without overlap, which is the cost that the planner uses.
///
/// `program` has been verified (artifact/Reader.h), and is of a mesh.
nlohmann::ordered_json describeSharding(const artifact::Program &program,
                                        const planner::Cluster *cluster);

/// Prints the facts of an artifact, with times for the cluster that the file describes unless its
/// path is "". Throws Failure(Exit::model); and Failure(Exit::usage) if the artifact is for one
/// device, or the cluster is too small or invalid.
void inspectSharding(const std::string &path, const std::string &cluster, bool json);

} // namespace weir

#endif
