//===- Indexing.h - Slices, new axes and gathers --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_ELABORATE_INDEXING_H
#define WEIR_FRONTEND_ELABORATE_INDEXING_H

#include "frontend/elaborate/Evaluator.h"
#include "frontend/elaborate/TensorBuilder.h"

namespace weir::elab {

/// The configs that are the limits of ops that pick rows or classes.
using LimitConfigs = std::map<mlir::Operation *, std::string>;

/// `base[…]` of an evaluated base, a list or a tensor. Poison where something was reported.
/// `limits`, where it is not null, gets the configs of the gathers that this emits.
Value indexValue(const Value &base, const ast::IndexExpr &expr, Evaluator &evaluator,
                 TensorBuilder &tensors, LimitConfigs *limits);

} // namespace weir::elab

#endif
