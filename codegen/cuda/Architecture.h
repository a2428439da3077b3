//===- Architecture.h - What is known of a GPU when compiling -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_CUDA_ARCHITECTURE_H
#define WEIR_CODEGEN_CUDA_ARCHITECTURE_H

#include "support/mesh/MachineRates.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace weir {

/// What launches are shaped for. The number of multiprocessors is that of the largest part of its
/// kind: plans do not depend on the machine that compiles.
struct Architecture {
  std::string name; ///< "cuda:sm_90"; "cuda" where it is known when loading alone
  int version = 0;  ///< 90; 0 for "cuda"
  int multiprocessors = 132;
  const DeviceRates *rates = &machines::cudaAny;
  bool libraries = true; ///< whether libraries may serve what they do

  /// Whether its tensor cores multiply floats of eight bits. What is known when loading alone may
  /// have none that do.
  bool multipliesF8() const { return version >= 89; }

  /// "cuda" or one of "cuda:sm_80", "cuda:sm_90", "cuda:sm_100", "+none" behind it for no
  /// libraries; nothing for anything else.
  static std::optional<Architecture> parse(llvm::StringRef option);
};

} // namespace weir

#endif
