//===- Generate.h - A random training program -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_DEV_WEIR_SMITH_GENERATE_H
#define WEIR_TOOLS_DEV_WEIR_SMITH_GENERATE_H

#include "ir/weir/WeirDialect.h"
#include "mlir/IR/OwningOpRef.h"

namespace weir::smith {

/// A module as the frontend makes it, with the numbers it runs on as attributes `smith.*`
/// (Trial.h): variables, a @step with a loss, its gradients, clipping and an optimizer, at times
/// microbatches, an @eval and a @predict. The results `gradient/NAME` of @step are the gradients by
/// parameter. The same seed gives the same module, or none where it led to nothing that f32 holds.
mlir::OwningOpRef<mlir::ModuleOp> generate(mlir::MLIRContext &context, uint64_t seed);

} // namespace weir::smith

#endif
