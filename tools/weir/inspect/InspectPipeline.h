//===- InspectPipeline.h - How long stages wait ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a schedule comes to, of the plan as it is: each stage does its actions in their order, as
// soon as what it receives has been sent.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_INSPECT_INSPECTPIPELINE_H
#define WEIR_TOOLS_WEIR_INSPECT_INSPECTPIPELINE_H

#include "runtime/artifact/Artifact_generated.h"
#include "runtime/base/Mesh.h"
#include <nlohmann/json.hpp>
#include <ostream>

namespace weir {

/// Null where the mesh has no stages. Else, of a step:
///
///   stages [{rank, persistent, scratch, sent, work, waits}]: of each the first rank, the bytes
///   that
///     it takes and sends, its share of all work, and the share of the step's time that it waits
///   microbatches, bubble: the time that stages wait, as a part of that in which they work
///   textbook: (p - 1) / m, which GPipe and 1F1B have where stages take as long
///
/// Work is estimated by FLOPs and bytes, transfers take no time.
nlohmann::ordered_json describePipeline(const artifact::Program &program);

void printPipeline(const nlohmann::ordered_json &facts, std::ostream &out);

} // namespace weir

#endif
