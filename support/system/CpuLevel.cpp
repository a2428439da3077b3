//===- CpuLevel.cpp - What this machine's processor can execute -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/system/CpuLevel.h"
#include "support/Error.h"
#include "support/Text.h"
#include <algorithm>
#include <cstdlib>

namespace weir {

std::string_view processorLevel() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("x86-64-v3"))
    return __builtin_cpu_supports("x86-64-v2") ? "x86-64-v2" : "x86-64";
  if (!__builtin_cpu_supports("x86-64-v4"))
    return "x86-64-v3";
  if (!__builtin_cpu_supports("avx512bf16") || !__builtin_cpu_supports("avx512vnni"))
    return "x86-64-v4";
  bool hasAmx = __builtin_cpu_supports("amx-tile") && __builtin_cpu_supports("amx-int8") &&
                __builtin_cpu_supports("amx-bf16");
  return hasAmx ? "x86-64-v4+bf16+amx" : "x86-64-v4+bf16";
}

std::string_view lowerCpuLevel(std::string_view processor, const char *bound) {
  if (!bound || !*bound)
    return processor;
  for (std::string_view level : cpuLevels)
    if (level == bound)
      return std::min(level, processor);
  throw Failure(Exit::usage,
                concat("the environment variable WEIR_MAX_CPU is '", bound, "': expected ",
                       join({std::begin(cpuLevels), std::end(cpuLevels)})));
}

std::string_view cpuLevel() {
  static const std::string_view level =
      lowerCpuLevel(processorLevel(), std::getenv("WEIR_MAX_CPU"));
  return level;
}

} // namespace weir
