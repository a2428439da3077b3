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

/// The memory that is in use as long as a program runs, independent of its entries.
class ResidentMemory {
public:
  /// Variables on the device, and the memory of a run outside the arena.
  ResidentMemory(mlir::ModuleOp module, const Reserve &reserve, int64_t threads);

  int64_t bytes() const;
  /// "parameters 8.1 MB and optimizer state 16.3 MB".
  std::string words() const;
  /// Adds notes for the lines whose variables need the most memory.
  void note(mlir::InFlightDiagnostic &error) const;

private:
  struct Part {
    std::string what;
    int64_t bytes;
  };
  /// Variables of one role and line.
  struct Line {
    mlir::Location at;
    const char *what;
    int64_t bytes;
  };
  void add(mlir::Location at, const char *what, int64_t bytes);

  llvm::SmallVector<Part> parts; ///< with more than 0 bytes
  llvm::SmallVector<Line> lines;
};

/// Adds notes for the largest buffers of the entry at its peak, as its step ended up: of buffers
/// that share an offset, the one that is alive then.
void noteAlive(mlir::InFlightDiagnostic &error, const EntryStep &entry, const Step &now);

} // namespace weir::remat

#endif
