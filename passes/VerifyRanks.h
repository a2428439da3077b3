//===- VerifyRanks.h - Proves that the programs of all ranks match --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// support/planned/Ranks.h has the rules. The loader checks the same of artifacts.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_VERIFYRANKS_H
#define WEIR_PASSES_VERIFYRANKS_H

#include "mlir/IR/BuiltinOps.h"
#include <optional>

namespace weir {

/// Why ranks do not match, and where: at a collective, an entry or a program.
struct RanksProblem {
  std::string message;
  mlir::Operation *op;
};

/// Checks programs of weir IR after weir-partition, or plans. `programOf` is the program of each
/// rank.
std::optional<RanksProblem> findRanksProblem(llvm::ArrayRef<mlir::ModuleOp> programs,
                                             llvm::ArrayRef<uint32_t> programOf);

/// Fails, with a diagnostic, if there is a mismatch.
mlir::LogicalResult verifyRanks(llvm::ArrayRef<mlir::ModuleOp> programs,
                                llvm::ArrayRef<uint32_t> programOf);

} // namespace weir

#endif
