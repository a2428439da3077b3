//===- Processor.cpp - Processors to generate code for --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Processor.h"

#include "llvm/TargetParser/Host.h"

#include <set>

using namespace llvm;

namespace weir {

std::optional<Processor> Processor::parse(StringRef option) {
  if (option == "cpu:x86-64-v3")
    return Processor{"x86-64-v3", "", "x86-64-v3", 256};
  if (option == "cpu:x86-64-v4")
    return Processor{"x86-64-v4", "", "x86-64-v4", 512};
  if (option != "cpu")
    return std::nullopt;

  StringMap<bool> features = sys::getHostCPUFeatures();
  auto hasAll = [&](std::initializer_list<StringRef> names) {
    return all_of(names, [&](StringRef name) { return features.lookup(name); });
  };
  if (!hasAll({"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}))
    return std::nullopt;
  bool wide = hasAll({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"});
  // A virtual machine may hide features that the processor's name implies. Sorted, so that equal
  // machines give equal code.
  std::set<std::string> list;
  for (auto &feature : features)
    list.insert((feature.second ? "+" : "-") + feature.first().str());
  return Processor{sys::getHostCPUName().str(), join(list, ","), wide ? "x86-64-v4" : "x86-64-v3",
                   wide ? 512 : 256};
}

} // namespace weir
