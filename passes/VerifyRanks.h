//===- VerifyRanks.h - Proves that the programs of all ranks match --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// runtime/planned/Ranks.h has the rules. The loader checks the same of artifacts.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_VERIFYRANKS_H
#define WEIR_PASSES_VERIFYRANKS_H

#include "mlir/IR/BuiltinOps.h"
#include <optional>

namespace weir {

/// Why ranks do not fit together, and where it shows: a collective, an entry or a program.
struct RanksProblem {
  std::string message;
  mlir::Operation *op;
};

/// Of programs of weir IR behind weir-partition, or of plans; `programOf` says which one each rank
/// runs.
std::optional<RanksProblem> findRanksProblem(llvm::ArrayRef<mlir::ModuleOp> programs,
                                             llvm::ArrayRef<uint32_t> programOf);

/// Failure, with a diagnostic, where there is one.
mlir::LogicalResult verifyRanks(llvm::ArrayRef<mlir::ModuleOp> programs,
                                llvm::ArrayRef<uint32_t> programOf);

} // namespace weir

#endif
