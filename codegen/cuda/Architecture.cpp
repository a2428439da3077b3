//===- Architecture.cpp - What is known of a GPU when compiling -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/Architecture.h"

namespace weir {

std::optional<Architecture> Architecture::parse(llvm::StringRef option) {
  static const Architecture known[] = {{"cuda", 0, 132, &machines::cudaAny},
                                       {"cuda:sm_80", 80, 108, &machines::cudaSm80},
                                       {"cuda:sm_90", 90, 132, &machines::cudaSm90},
                                       {"cuda:sm_100", 100, 148, &machines::cudaSm100}};
  bool libraries = !option.consume_back("+none");
  for (Architecture architecture : known)
    if (option == architecture.name) {
      architecture.libraries = libraries;
      return architecture;
    }
  return std::nullopt;
}

} // namespace weir
