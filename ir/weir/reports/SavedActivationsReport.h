//===- SavedActivationsReport.h - What a step keeps, and its price --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_REPORTS_SAVEDACTIVATIONSREPORT_H
#define WEIR_IR_WEIR_REPORTS_SAVEDACTIVATIONSREPORT_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace weir {

/// What becomes of a tensor between the forward computation and the backward one.
enum class Fate {
  kept,  ///< it stays where it is
  again, ///< it is given up, and computed again
  away,  ///< it lies with the host meanwhile
};
llvm::StringRef nameOf(Fate fate);

/// Tensors of a step that are alike: made by the forward computation and read by the backward one.
struct SavedTensor {
  mlir::Location at;
  std::string what; ///< in the words of plan.alloc's label: "matmul"
  int64_t bytes;    ///< of the arena that each takes; of one that is not kept, would take
  int64_t times;    ///< how many there are
  /// What computing each again takes from all else that is kept, or its transfers take; estimated.
  double seconds = 0;
  Fate fate = Fate::kept;
  /// Why it cannot be given up, or, of one that is not kept, who wants it so; else empty.
  std::string why;

  bool operator==(const SavedTensor &) const = default;
};

/// Of the step entry of a program.
struct SavedActivationsReport {
  double seconds = 0;  ///< a step's time with all kept, estimated
  int64_t scratch = 0; ///< bytes of the arena with all kept, variables left out
  int64_t least = 0;   ///< that the step as it is takes at least, in any order of its kernels
  llvm::SmallVector<SavedTensor> tensors;
};

/// The module attribute weir.keeping: [seconds, scratch, least, [[location, what, bytes, times,
/// seconds, fate, why] ..]].
void setSavedActivationsReport(mlir::ModuleOp module, const SavedActivationsReport &keeping);

/// Nothing where the module says nothing of it.
std::optional<SavedActivationsReport> savedActivationsReportOf(mlir::ModuleOp module);

} // namespace weir

#endif
