//===- PrecisionOptions.h - --precision, --param-dtype and --loss-scale --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_OPTIONS_PRECISIONOPTIONS_H
#define WEIR_TOOLS_WEIR_OPTIONS_PRECISIONOPTIONS_H

#include "codegen/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "strategy/Strategy.h"
#include <set>

namespace weir {

/// "", or why the target cannot compile for the strategy's precision.
std::string wrongPrecision(const Strategy &strategy, const Target &target);

/// What the program's products and composites are of: `precision`, but for those that are pinned,
/// and those of optimizers, which are f32.
std::set<Precision> precisionsOf(mlir::ModuleOp program, Precision precision);

/// The strategy's loss scale, or the usual one where it gives none: only f16 needs one. Nothing
/// where it gives one that nothing needs, and why in `problem`.
std::optional<LossScale> lossScaleFor(const Strategy &strategy, mlir::ModuleOp program,
                                      std::string &problem);

/// Says so where a precision gains nothing on the target.
void noteWidened(mlir::MLIRContext *context, const Target &target,
                 const std::set<Precision> &precisions);

} // namespace weir

#endif
