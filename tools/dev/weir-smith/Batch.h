//===- Batch.h - Many programs, or one again ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Without MLIR's types, so that main.cpp is built like the other drivers.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_DEV_WEIR_SMITH_BATCH_H
#define WEIR_TOOLS_DEV_WEIR_SMITH_BATCH_H

#include "support/Error.h"
#include "tools/dev/weir-smith/Check.h"
#include <cstdint>
#include <string>

namespace weir::smith {

struct BatchOptions {
  uint64_t seed = 1; ///< of the first program; the next ones count on
  uint64_t count = 100;
  unsigned jobs = 1;
  double minutes = 0;     ///< ends after them; 0: never
  std::string keep = "."; ///< where shrunk programs of failures go
  std::string bits; ///< a file for a line per program that ran: its seed and a hash of its results
  CompileFor code;
  bool shrink = true;
  bool allOps = false; ///< an op of the dialect in no program is a failure
};

/// Progress and failures on standard error, the summary on standard output.
Exit runBatch(const BatchOptions &options);

/// One program from a file.
Exit runFile(const std::string &path, const BatchOptions &options);

/// The program of a seed, on standard output.
Exit printProgram(uint64_t seed);

} // namespace weir::smith

#endif
