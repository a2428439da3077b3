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
///   lost:N        device 1 is lost at its launch number N
///   late:N        that launch takes ten seconds
/// or to the program, as if it had been written so:
///   wait:N        the wait number N for an event on device 1 is left out
///   count:N       member 1 of a communicator moves half as much in its collective number N
///   swap:N        it has that one behind the next
inline bool isPlanted(std::string_view failure) {
  const char *named = std::getenv("WEIR_EMULATED_FAIL");
  return named && failure == named;
}

/// Which one of several fails.
constexpr int plantedDevice = 1;

/// The number that stands behind a failure that is planted, or 0.
inline int plantedNumber(std::string_view failure) {
  const char *named = std::getenv("WEIR_EMULATED_FAIL");
  std::string_view text = named ? named : "";
  if (!text.starts_with(failure) || text.substr(failure.size(), 1) != ":")
    return 0;
  return std::atoi(named + failure.size() + 1);
}

} // namespace weir::emulated

#endif
