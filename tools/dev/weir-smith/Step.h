//===- Step.h - The parts of a step behind its forward computation --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_DEV_WEIR_SMITH_STEP_H
#define WEIR_TOOLS_DEV_WEIR_SMITH_STEP_H

#include "tools/dev/weir-smith/Scope.h"

namespace weir::smith {

struct Output {
  std::string name, part;
  mlir::Value value;
  int64_t term = 0;
  double weight = 1;
};

/// A loss or metric is the sum over terms of weight * sum / count.
struct LossTerm {
  mlir::Value sum, count;
  double weight;
};

/// Terms of what is in the scope's pool, so that all of it counts that has a gradient. Counts are
/// constants or sums of masks, outside of microbatches.
std::vector<LossTerm> makeLoss(Scope &scope);

/// The loss of the terms, as weir.loss.
mlir::Value lossOf(Scope &scope, llvm::ArrayRef<LossTerm> terms);

/// The same by ops that the trial runs.
void tryLoss(Scope &scope, llvm::ArrayRef<LossTerm> terms);

/// The next value of a state of the scope.
mlir::Value nextState(Scope &scope, const Scope::State &state);

struct Trained {
  std::string name;
  mlir::Value gradient;
};

/// Clips at times, and writes parameters, optimizer states and `nexts` (by variable), unless the
/// loss, the gradients' norm, the learning rate or anything that would be written is not finite.
void makeUpdate(Scope &scope, mlir::Value loss, std::vector<Trained> trained,
                llvm::ArrayRef<std::pair<std::string, mlir::Value>> nexts,
                std::vector<Output> &outputs);

/// The sum of all elements.
mlir::Value sumOf(Scope &scope, mlir::Value value);

} // namespace weir::smith

#endif
