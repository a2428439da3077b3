//===- Processor.h - Processors to generate code for ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_CPU_PROCESSOR_H
#define WEIR_CODEGEN_CPU_PROCESSOR_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace weir {

struct Processor {
  std::string cpu;      ///< LLVM's -mcpu
  std::string features; ///< LLVM's -mattr, may be empty
  std::string level;    ///< what the code needs at least (support/system/CpuLevel.h)
  int vectorBits = 256;
  bool multipliesBf16 = false; ///< in instructions of its own, twice as many a cycle as f32 or more

  /// From "cpu:" and a level, or "cpu", the highest one that this machine has (cpuLevel()); none
  /// for anything else, and for "cpu" on a machine below x86-64-v3.
  static std::optional<Processor> parse(llvm::StringRef option);
};

} // namespace weir

#endif
