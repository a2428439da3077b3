//===- Isa.h - CPU levels -------------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An artifact names the level its code needs (support/system/CpuLevel.h). The same level bounds
// oneDNN, so that a newer CPU computes the same bits. The library takes its bound once per process.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CPU_ISA_H
#define WEIR_RUNTIME_CPU_ISA_H

#include <string_view>

namespace weir::cpu {

/// Throws Failure{Exit::model} if this CPU (cpuLevel()) lacks `level`, naming both and the remedy,
/// or if `level` is none that Weir compiles for.
void requireLevel(std::string_view level);

/// Bounds oneDNN by `level`; to be called before anything of runtime/cpu is made. Throws
/// Failure{Exit::usage} when this process has bounded it otherwise.
void boundLibrary(std::string_view level);

} // namespace weir::cpu

#endif
