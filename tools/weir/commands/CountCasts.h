//===- CountCasts.h - What rounding costs a step --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_COMMANDS_COUNTCASTS_H
#define WEIR_TOOLS_WEIR_COMMANDS_COUNTCASTS_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weir {

/// Casts between floats in a step of an artifact; what a loop repeats counts as often as it runs.
struct CastCounts {
  std::map<std::string, uint64_t> parameters; ///< how often each that is rounded is
  uint64_t beside = 0;                        ///< in kernels that do other work
  // Kernels of casts alone:
  uint64_t ofVariables = 0; ///< of parameters and inputs, which nothing of the step computes
  uint64_t ofCalls = 0;     ///< of what a library's routine gives
  uint64_t forCalls = 0;    ///< widening what such a routine does not take as it is
  /// Of what a kernel gives, which could have done it, by their line.
  std::map<std::string, uint64_t> spareAt;
};

/// Throws Failure(Exit::model) where the plan cannot be read.
CastCounts countCasts(const std::vector<std::byte> &artifact);

} // namespace weir

#endif
