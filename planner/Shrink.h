//===- Shrink.h - A model with fewer layers -------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layers of a deep model are alike, so a few layers show what each additional layer costs. The
// code finds layers by what they compute: a sequence of a microbatch's ops that repeats, except for
// the variables that it reads.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PLANNER_SHRINK_H
#define WEIR_PLANNER_SHRINK_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace weir::planner {

/// Repetitions in the ops of a microbatch.
struct Repeats {
  size_t begin = 0;  ///< position of the first op
  size_t period = 0; ///< ops per repetition
  int64_t rounds = 1;
};

/// The repetitions that cover most ops of the entry "step"; one repetition if there are none.
Repeats repeatsOf(mlir::ModuleOp model);

/// Only the model's step, with so many repetitions, and without the variables of the others.
mlir::OwningOpRef<mlir::ModuleOp> shrunk(mlir::ModuleOp model, const Repeats &repeats,
                                         int64_t rounds);

} // namespace weir::planner

#endif
