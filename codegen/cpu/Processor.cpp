//===- Processor.cpp - Processors to generate code for --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Processor.h"

#include "llvm/TargetParser/Host.h"

#include <vector>

using namespace llvm;

namespace weir {

namespace {

struct Level {
  Processor processor;
  std::vector<StringRef> needs; ///< LLVM's names of what it has beyond the level before it
};

} // namespace

/// In order. Code may use what its level has, and nothing else that the machine which compiles has:
/// equal models give equal bytes, and what an artifact says that it needs is true.
static ArrayRef<Level> levels() {
  static const Level all[] = {
      {{"x86-64-v3", "", "x86-64-v3", 256, false},
       {"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}},
      {{"x86-64-v4", "", "x86-64-v4", 512, false},
       {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}},
      {{"x86-64-v4", "+avx512bf16,+avx512vnni", "x86-64-v4+bf16", 512, true},
       {"avx512bf16", "avx512vnni"}},
      {{"x86-64-v4", "+avx512bf16,+avx512vnni", "x86-64-v4+bf16+amx", 512, true},
       {"amx-tile", "amx-int8", "amx-bf16"}},
  };
  return all;
}

std::optional<Processor> Processor::parse(StringRef option) {
  if (!option.consume_front("cpu"))
    return std::nullopt;
  std::optional<Processor> found;
  if (option.consume_front(":")) {
    for (const Level &level : levels())
      if (level.processor.level == option)
        found = level.processor;
    return found;
  }
  if (!option.empty())
    return std::nullopt;
  StringMap<bool> features = sys::getHostCPUFeatures();
  for (const Level &level : levels()) {
    if (!all_of(level.needs, [&](StringRef name) { return features.lookup(name); }))
      break;
    found = level.processor;
  }
  return found;
}

} // namespace weir
