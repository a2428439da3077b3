//===- PrintPlans.h - The tables of weir plan ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_PLANNING_PRINTPLANS_H
#define WEIR_TOOLS_WEIR_PLANNING_PRINTPLANS_H

#include <nlohmann/json.hpp>
#include <ostream>

namespace weir {

/// `facts` are those of `weir plan --json`: the plans, the fastest first, as tables.
void printPlans(const nlohmann::ordered_json &facts, std::ostream &out);

/// Says which parts of a step differ between two of the plans, counted from 1, the largest first.
void printDifference(const nlohmann::ordered_json &facts, int64_t first, int64_t second,
                     std::ostream &out);

} // namespace weir

#endif
