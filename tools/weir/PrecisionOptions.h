//===- PrecisionOptions.h - --precision, --master and --loss-scale --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_PRECISIONOPTIONS_H
#define WEIR_TOOLS_WEIR_PRECISIONOPTIONS_H

#include "codegen/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/base/LossScale.h"
#include "runtime/base/Precision.h"
#include "tools/weir/Compile.h"
#include <set>

namespace weir {

struct Precisions {
  Precision precision;
  Element master;
};

/// What the options name, for this target. Otherwise nothing, and why in `problem`.
std::optional<Precisions> precisionsNamed(const CompileOptions &options, const Target &target,
                                          std::string &problem);

/// What the program's products and composites are of: `precision`, but for those that are pinned,
/// and those of optimizers, which are f32.
std::set<Precision> precisionsOf(mlir::ModuleOp program, Precision precision);

/// What `--loss-scale` names, where one of the program's precisions needs it: f16. Of "" what is
/// usual. Otherwise nothing, and why in `problem`.
std::optional<LossScale> lossScaleFor(std::string_view name, mlir::ModuleOp program,
                                      Precision precision, std::string &problem);

/// Says so where a precision gains nothing on the target.
void noteWidened(mlir::MLIRContext *context, const Target &target,
                 const std::set<Precision> &precisions);

} // namespace weir

#endif
