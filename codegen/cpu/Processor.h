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
  std::string level;    ///< x86-64-v3 or x86-64-v4: what the code needs at least
  int vectorBits = 256;

  /// From "cpu" (this machine), "cpu:x86-64-v3" or "cpu:x86-64-v4"; none for anything else, and for
  /// "cpu" on a machine below x86-64-v3.
  static std::optional<Processor> parse(llvm::StringRef option);
};

} // namespace weir

#endif
