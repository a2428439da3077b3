//===- LossScale.h - Which loss scale a precision has ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_PRECISION_LOSSSCALE_H
#define WEIR_PASSES_PRECISION_LOSSSCALE_H

#include "mlir/IR/BuiltinOps.h"
#include "runtime/base/LossScale.h"
#include "runtime/base/Precision.h"

namespace weir {

/// What `--loss-scale` names, where the program needs one: its precision is f16, or ops are pinned
/// to it. Of "" what is usual. Otherwise nothing, and why in `problem`.
std::optional<LossScale> lossScaleFor(std::string_view name, Precision precision,
                                      mlir::ModuleOp program, std::string &problem);

} // namespace weir

#endif
