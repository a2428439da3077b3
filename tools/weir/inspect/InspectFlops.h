//===- InspectFlops.h - FLOPs and bytes in weir inspect -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_INSPECT_INSPECTFLOPS_H
#define WEIR_TOOLS_WEIR_INSPECT_INSPECTFLOPS_H

#include "artifact/Artifact_generated.h"
#include <nlohmann/json.hpp>
#include <ostream>

namespace weir {

/// Of one run of each entry (artifact/Flops.h says what is counted):
///
///   [{entry, model_flops, executed_flops, executed_over_model, all_flops, bytes, copied_bytes,
///     lines [{at, model_flops, executed_flops, all_flops, bytes, copied_bytes}]}]
///
/// model_flops and executed_flops are of products, convolutions and attention, null where the
/// artifact does not say (model_flops is a float from 2^64 on), as is what is divided by it or by
/// none. Lines are in the order of the files, and together all of the entry; `at` is "" for what is
/// of no line that is known.
nlohmann::ordered_json describeFlops(const artifact::Program &program);

/// describeFlops() as a table of the entries.
void printFlops(const nlohmann::ordered_json &entries, std::ostream &out);

/// As a table of lines for each entry that computes something, those that execute most first.
void printFlopsByLine(const nlohmann::ordered_json &entries, std::ostream &out);

/// Prints the FLOPs of an artifact by line. Throws Failure(Exit::model).
void inspectLines(const std::string &path, bool json);

} // namespace weir

#endif
