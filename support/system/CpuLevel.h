//===- CpuLevel.h - What this machine's processor can execute -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A level is an x86-64 level (psABI), plus the bf16 extensions. This is the one place
// that reads the processor's flags: the environment variable WEIR_MAX_CPU lowers the level, and
// then all of Weir behaves as on a processor of that level.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_SYSTEM_CPULEVEL_H
#define WEIR_SUPPORT_SYSTEM_CPULEVEL_H

#include <string_view>

namespace weir {

/// The levels that Weir compiles for, lowest first: a processor of one executes the code of those
/// before it. The names compare (<) as the levels do.
inline constexpr std::string_view cpuLevels[] = {"x86-64-v3", "x86-64-v4", "x86-64-v4+bf16",
                                                 "x86-64-v4+bf16+amx"};

/// The highest level this process may use: the processor's, or that of WEIR_MAX_CPU where it is
/// lower. One of cpuLevels, or "x86-64-v2" or "x86-64" on a processor below those. Read once.
/// Throws Failure{Exit::usage} where WEIR_MAX_CPU is not one of cpuLevels.
std::string_view cpuLevel();

/// The processor's own level, whatever WEIR_MAX_CPU says.
std::string_view processorLevel();

/// What cpuLevel() gives on a processor of level `processor` where WEIR_MAX_CPU is `bound`: null or
/// empty where it is unset.
std::string_view lowerCpuLevel(std::string_view processor, const char *bound);

} // namespace weir

#endif
