//===- Blame.h - Which op a difference begins with ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Asked only when two forms of a program are known to disagree: runs both again, looks at every
// value, and names the first op that computes something the other form does not know.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_VERIFY_BLAME_H
#define WEIR_VERIFY_BLAME_H

#include "ir/reference/PlanInterpreter.h"
#include "verify/Feed.h"
#include "verify/Outcome.h"
#include <optional>

namespace weir {

struct Blame {
  std::string op; ///< "weir.mul", "launch of kernel_3 (weir.reduce)"
  mlir::Location loc;
  std::string why; ///< one sentence
};

/// A copy of the module whose gradient ops have become their backward computation. `afterwards` may
/// change the copy. Each gradient passes through a weir.stop_gradient with the attribute
/// `verify.gradient`, its number within the op.
mlir::OwningOpRef<mlir::ModuleOp>
differentiated(mlir::ModuleOp module, llvm::function_ref<void(mlir::ModuleOp)> afterwards);

/// The gradients of every gradient op that runs, in the order in which they run.
using Gradients = std::vector<Tensors>;
mlir::FailureOr<Gradients> gradientsOf(mlir::ModuleOp differentiated, llvm::StringRef entry,
                                       const Feed &feed);

/// Two forms of weir IR without gradient ops.
std::optional<Blame> blame(mlir::ModuleOp before, mlir::ModuleOp after, const Disagreement &what,
                           const Feed &feed);

/// The last weir IR and the plan made of it.
std::optional<Blame> blamePlan(mlir::ModuleOp before, mlir::ModuleOp plan, const Disagreement &what,
                               const Feed &feed);

/// A plan with memory of its own for each buffer against the same with its offsets.
std::optional<Blame> blameOffsets(mlir::ModuleOp plan, const Disagreement &what, const Feed &feed);

/// A gradient that is not what differences say. `module` has its gradient ops; `afterwards` is as
/// for differentiated().
std::optional<Blame> blameGradient(mlir::ModuleOp module, llvm::StringRef entry, const Feed &feed,
                                   llvm::function_ref<void(mlir::ModuleOp)> afterwards);

/// Ones with random signs.
Tensor randomDirection(llvm::ArrayRef<int64_t> shape, unsigned seed);

/// Whether a gradient g of a source agrees with the difference of the loss along a direction u: the
/// two are within 1e-5 of max(||g||, `largest` / 1000). `relative` gets what it is off by. For use
/// in Interpreter::gradients.
mlir::FailureOr<bool> agreesWithDifferences(GradientOp op, unsigned source, const Tensor &gradient,
                                            double largest, const Tensor &direction,
                                            Interpreter &interpreter, double &relative);

} // namespace weir

#endif
