//===- Inspect.h - weir inspect -------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints what an artifact holds: parameters, memory with what is alive at its peak, kernels,
// products, costs.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_INSPECT_INSPECT_H
#define WEIR_TOOLS_WEIR_INSPECT_INSPECT_H

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

namespace weir {

/// Verifies the artifact and prints it to standard output, as one JSON object if `json`. Throws
/// Failure.
void inspect(const std::string &path, bool json);

/// The text form of describe()'s facts.
void printDescription(const nlohmann::ordered_json &facts, std::ostream &out);

} // namespace weir

#endif
