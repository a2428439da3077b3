//===- Processor.cpp - Processors to generate code for --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Processor.h"
#include "support/system/CpuLevel.h"
#include <algorithm>

namespace weir {

/// Code may use what its level has, and nothing else that the machine which compiles has: equal
/// models give equal bytes, and what an artifact says that it needs is true.
static const Processor processors[] = {
    {"x86-64-v3", "", "x86-64-v3", 256, false},
    {"x86-64-v4", "", "x86-64-v4", 512, false},
    {"x86-64-v4", "+avx512bf16,+avx512vnni", "x86-64-v4+bf16", 512, true},
    {"x86-64-v4", "+avx512bf16,+avx512vnni", "x86-64-v4+bf16+amx", 512, true},
};

std::optional<Processor> Processor::parse(llvm::StringRef option) {
  if (!option.consume_front("cpu"))
    return std::nullopt;
  if (option.empty())
    option = cpuLevel();
  else if (!option.consume_front(":"))
    return std::nullopt;
  auto *found = std::ranges::find(processors, option, &Processor::level);
  return found == std::end(processors) ? std::nullopt : std::optional(*found);
}

} // namespace weir
