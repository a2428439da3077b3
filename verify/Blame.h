//===- Blame.h - Finds the op at which two programs differ ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Used only if two forms of a program are known to differ. Runs both again, compares every value,
// and names the first op that computes a value that the other form does not contain.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_VERIFY_BLAME_H
#define WEIR_VERIFY_BLAME_H

#include "ir/reference/PlanInterpreter.h"
#include "verify/Outcome.h"
#include "verify/RandomInputs.h"
#include "verify/RankInterpreter.h"
#include <optional>

namespace weir {

struct Blame {
  std::string op; ///< "weir.mul", "launch of kernel_3 (weir.reduce)"
  mlir::Location loc;
  std::string why;    ///< one sentence
  bool isNew = false; ///< it computes a value that no op before computes
};

/// Compares two forms of weir IR without gradient ops.
std::optional<Blame> blame(mlir::ModuleOp before, mlir::ModuleOp after, const Disagreement &what,
                           const RandomInputs &feed);

/// Compares two forms of ranks' programs, for the named ranks.
std::optional<Blame> blame(RankInterpreter &before, RankInterpreter &after,
                           llvm::ArrayRef<int64_t> looked, const Disagreement &what,
                           const RandomInputs &feed);

/// Compares a whole program with the ranks' programs made from it, whose values state their
/// shardings (weir-partition).
std::optional<Blame> blamePartition(mlir::ModuleOp before, RankInterpreter &after, const Mesh &mesh,
                                    const Disagreement &what, const RandomInputs &feed);

/// Compares the last weir IR with the plan made from it.
std::optional<Blame> blamePlan(mlir::ModuleOp before, mlir::ModuleOp plan, const Disagreement &what,
                               const RandomInputs &feed);

/// The same for ranks, of which only the named ones are compared.
std::optional<Blame> blamePlan(RankInterpreter &before, RankInterpreter &plans,
                               llvm::ArrayRef<int64_t> looked, const Disagreement &what,
                               const RandomInputs &feed);

/// Compares a plan with separate memory for each buffer with the same plan with its offsets.
std::optional<Blame> blameOffsets(mlir::ModuleOp plan, const Disagreement &what,
                                  const RandomInputs &feed);

/// A gradient that differs from central differences. `module` has its gradient ops; `afterwards` is
/// as for differentiated() (verify/Gradients.h).
std::optional<Blame> blameGradient(mlir::ModuleOp module, llvm::StringRef entry,
                                   const RandomInputs &feed,
                                   llvm::function_ref<void(mlir::ModuleOp)> afterwards);

} // namespace weir

#endif
