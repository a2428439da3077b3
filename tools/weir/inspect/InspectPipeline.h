//===- InspectPipeline.h - Idle time of pipeline stages ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Estimates the pipeline bubble by simulating the plan: each stage runs its actions in order, and a
// receive waits for the matching send.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_INSPECT_INSPECTPIPELINE_H
#define WEIR_TOOLS_WEIR_INSPECT_INSPECTPIPELINE_H

#include "artifact/Artifact_generated.h"
#include "support/mesh/Mesh.h"
#include <nlohmann/json.hpp>
#include <ostream>

namespace weir {

/// Null where the mesh has no stages. Else, of a step:
///
///   stages [{rank, persistent, scratch, sent, work, waits}]: the first rank of each stage, the
///     bytes of its memory and of its sends, its share of all work, and its idle share of the step
///   microbatches, bubble: the idle time of stages over the time that they compute
///   textbook: (p - 1) / m, the bubble of GPipe and 1F1B with equal stages
///
/// Work is estimated by FLOPs and bytes, transfers take no time.
nlohmann::ordered_json describePipeline(const artifact::Program &program);

void printPipeline(const nlohmann::ordered_json &facts, std::ostream &out);

} // namespace weir

#endif
