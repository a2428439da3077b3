//===- InspectSharding.h - weir inspect --sharding ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_INSPECT_INSPECTSHARDING_H
#define WEIR_TOOLS_WEIR_INSPECT_INSPECTSHARDING_H

#include "planner/machines/Cluster.h"
#include "runtime/artifact/Artifact_generated.h"
#include <nlohmann/json.hpp>

namespace weir {

/// As JSON; the text form prints it and adds nothing. Sizes are bytes:
///
///   model, target, mesh
///   ranks [{ranks, persistent, arena}]: those that run the same program, and what each takes
///   pipeline: of a mesh with pp (InspectPipeline.h), else null
///   variables [{name, role, at, shape, layout, why, bytes, most}]: of the whole tensor, and the
///     most that a rank has of it; `layout` as runtime/base/Layout.h writes it, null: all ranks
///     have it; `why`: on whose account each axis cuts it
///   values [{at, ops, times, layout, why}]: what the lines of the model make in the forward
///     computation of a step, by how it lies
///   collectives [{at, kind, axis, times, bytes}]: of a step, by line of the model: how often it is
///     done, and the bytes that the first rank of each stage gets of others so, together; of no
///     pipeline rank 0. What stages send each other is among them, of kind "receive" over pp
///   totals {axis: {times, bytes}}
///
/// With `cluster`, unless null, collectives and totals have `seconds` besides: what they take one
/// after the other on the cluster's links, which is what a planner weighs them by.
///
/// `program` has been verified (runtime/artifact/Reader.h), and is of a mesh.
nlohmann::ordered_json describeSharding(const artifact::Program &program,
                                        const planner::Cluster *cluster);

/// Prints an artifact's, priced as in a cluster's file unless its path is "". Throws
/// Failure(Exit::model), and Failure(Exit::usage) of one device's and of a cluster that is too
/// small or none.
void inspectSharding(const std::string &path, const std::string &cluster, bool json);

} // namespace weir

#endif
