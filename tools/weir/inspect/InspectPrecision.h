//===- InspectPrecision.h - weir inspect --precision ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_INSPECT_INSPECTPRECISION_H
#define WEIR_TOOLS_WEIR_INSPECT_INSPECTPRECISION_H

#include "artifact/Artifact_generated.h"
#include "tools/weir/commands/CountCasts.h"
#include <nlohmann/json.hpp>

namespace weir {

/// As JSON; the text form prints it and adds nothing:
///
///   model, precision, master
///   choices [{at, op, times, computes, stores, why}]: of the ops of a step, by line; none where
///     everything is f32
///   casts {parameters {name: times}, beside, of_variables, of_calls, for_calls, spare {at:
///   times}}:
///     see CountCasts.h
///
/// `program` has been verified (artifact/Reader.h).
nlohmann::ordered_json describePrecision(const artifact::Program &program,
                                         const CastCounts &counts);

void printPrecision(const nlohmann::ordered_json &facts, std::ostream &out);

/// Prints an artifact's. Throws Failure(Exit::model).
void inspectPrecision(const std::vector<std::byte> &artifact, const CastCounts &counts, bool json);

} // namespace weir

#endif
