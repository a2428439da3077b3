//===- Tuning.h - What of schedules a device's clock decides --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule has numbers that no rule decides for every device, such as the threads of a block.
// `weir tune` measures them kernel by kernel and writes a file; a compile that is given the file
// takes them from there. It is an input like the model: the same file gives the same bytes.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_TUNING_H
#define WEIR_CODEGEN_TUNING_H

#include "ir/weir/WeirDialect.h"
#include <map>
#include <optional>
#include <string>

namespace weir {

/// A number of a kernel's schedule that may be chosen.
struct Knob {
  std::string name;
  int64_t used;                       ///< what the kernel was planned with
  llvm::SmallVector<int64_t> options; ///< each of which serves; `used` is one of them
};

/// What is chosen for one kernel, by the knobs' names.
using Settings = std::map<std::string, int64_t>;

struct TunedKernel {
  std::string what; ///< its ops and line, for people
  Settings settings;
  int64_t before = 0, after = 0; ///< nanoseconds of a run with no settings and with these
};

struct Tuning {
  std::string target, device;                 ///< what it is for, and what it was measured on
  std::map<std::string, TunedKernel> kernels; ///< by digestOf()

  /// One JSON object; kernels are ordered by their digests.
  std::string text() const;

  /// What text() wrote. Nothing where it is something else; `problem` then says what.
  static std::optional<Tuning> parse(llvm::StringRef text, std::string &problem);
};

/// A name for what a kernel computes: equal for kernels that KernelStructure holds for one,
/// whatever the keys of their random numbers, and in every process.
std::string digestOf(KernelOp kernel);

} // namespace weir

#endif
