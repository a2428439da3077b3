//===- OutOfMemoryReport.h - Reports what uses too much memory ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_REMAT_OUTOFMEMORYREPORT_H
#define WEIR_PASSES_REMAT_OUTOFMEMORYREPORT_H

#include "passes/buffers/ReadStep.h"
#include "passes/memory/Reserve.h"
#include "passes/remat/Rewrite.h"

namespace weir::remat {

/// What is in memory as long as a program runs, whatever its entries do.
class ResidentMemory {
public:
  /// Variables of the device, and what a run takes besides the arena.
  ResidentMemory(mlir::ModuleOp module, const Reserve &reserve, int64_t threads);

  int64_t bytes() const;
  /// "parameters 8.1 MB and optimizer state 16.3 MB".
  std::string words() const;
  /// Notes the lines whose variables take most.
  void note(mlir::InFlightDiagnostic &error) const;

private:
  struct Part {
    std::string what;
    int64_t bytes;
  };
  /// Of variables, those of one role and line.
  struct Line {
    mlir::Location at;
    const char *what;
    int64_t bytes;
  };
  void add(mlir::Location at, const char *what, int64_t bytes);

  llvm::SmallVector<Part> parts; ///< that take anything
  llvm::SmallVector<Line> lines;
};

/// Notes what takes most of the entry, in what has become of its step, where most is alive: of
/// what lies in one place one after the other, what is there then.
void noteAlive(mlir::InFlightDiagnostic &error, const EntryStep &entry, const Step &now);

} // namespace weir::remat

#endif
