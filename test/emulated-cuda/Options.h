//===- Options.h - How the emulation runs -------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_EMULATED_CUDA_OPTIONS_H
#define WEIR_TEST_EMULATED_CUDA_OPTIONS_H

#include <cstdint>
#include <string>

namespace weir::emulated {

struct Options {
  bool checked = true; ///< every access is checked: WEIR_EMULATED_MODE=check|plain
  uint64_t seed = 0;   ///< of every order: WEIR_EMULATED_SEED
  std::string report;  ///< a file to which each launch adds a line: WEIR_EMULATED_REPORT

  /// Orders as a reader of the program would expect them; else they are drawn.
  bool isForward() const { return !checked && seed == 0; }
};

/// Read from the environment once; `weirEmulatedReset` changes them.
Options &options();

/// Appends a line to the report, where one is wanted.
void appendToReport(const std::string &line);

/// A small generator (splitmix64): the same numbers on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// Below `limit`, which is not zero.
  uint32_t below(uint32_t limit) { return uint32_t((next() >> 32) * limit >> 32); }

private:
  uint64_t state;
};

/// The one from which every order is drawn.
Random &random();

} // namespace weir::emulated

#endif
