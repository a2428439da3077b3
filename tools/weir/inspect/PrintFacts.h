//===- PrintFacts.h - What weir inspect has found, in one of two forms --===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_INSPECT_PRINTFACTS_H
#define WEIR_TOOLS_WEIR_INSPECT_PRINTFACTS_H

#include <nlohmann/json.hpp>
#include <ostream>

namespace weir {

/// On standard output: as JSON, or as `print` writes them, with what a terminal should not get made
/// visible.
void printFacts(const nlohmann::ordered_json &facts, bool json,
                void (*print)(const nlohmann::ordered_json &, std::ostream &));

} // namespace weir

#endif
