//===- Architecture.cpp - What is known of a GPU when compiling -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/Architecture.h"

namespace weir {

std::optional<Architecture> Architecture::parse(llvm::StringRef option) {
  // Those of sm_90 were measured within steps on an H100 (docs/benchmarks.md), the others are from
  // data sheets.
  static const Architecture known[] = {{"cuda", 0, 132, 500e12, 2.8e12, 25e9},
                                       {"cuda:sm_80", 80, 108, 220e12, 1.6e12, 25e9},
                                       {"cuda:sm_90", 90, 132, 700e12, 2.9e12, 55e9},
                                       {"cuda:sm_100", 100, 148, 1200e12, 6.5e12, 50e9}};
  bool libraries = !option.consume_back("+none");
  for (Architecture architecture : known)
    if (option == architecture.name) {
      architecture.libraries = libraries;
      return architecture;
    }
  return std::nullopt;
}

} // namespace weir
