//===- Planted.h - Failures that tests ask for ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_EMULATED_CUDA_PLANTED_H
#define WEIR_TEST_EMULATED_CUDA_PLANTED_H

#include <cstdlib>
#include <string_view>

namespace weir::emulated {

/// Whether WEIR_EMULATED_FAIL names this failure, what a real machine may do to any program:
///   no-gpu        there is no device
///   old-gpu       compute capability 7.5
///   memory        device memory of more than 1 KiB is not to be had
///   pinned        nor is the host's that stays in place
///   module        the driver loads no code
///   builtins      NVRTC's own library is missing
///   algorithm     cuBLASLt offers no algorithm
///   first-state   the first that it offers does not run here
inline bool isPlanted(std::string_view failure) {
  const char *named = std::getenv("WEIR_EMULATED_FAIL");
  return named && failure == named;
}

} // namespace weir::emulated

#endif
