//===- RecipeOps.cpp - What a recipe asks of a step, reference semantics --===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/reference/Models.h"
#include "ir/weir/recipe/Recipe.h"

namespace weir::reference {
namespace {

Tensors loss(LossOp op, Inputs in) {
  size_t terms = op.getWeights().size();
  double total = 0;
  for (auto [i, weight] : llvm::enumerate(op.getWeights()))
    if (double count = in[terms + i].values[0]; count != 0)
      total += weight * in[i].values[0] / count;
  return {Tensor({}, total)};
}

Tensors clip(ClipOp op, Inputs in) {
  Tensors gradients(in.take_front(op.getGradients().size()));
  double squares = 0;
  for (const Tensor &gradient : gradients)
    for (double value : gradient.values)
      squares += value * value;
  double norm = std::sqrt(squares);
  Tensors results{Tensor({}, norm)};
  if (!op.getLimit())
    return results;
  double ratio = in.back().values[0] / (norm + 1e-6);
  for (Tensor &gradient : gradients) {
    for (double &value : gradient.values)
      value *= ratio > 1 ? 1 : ratio;
    results.push_back(std::move(gradient));
  }
  return results;
}

Tensors allFinite(AllFiniteOp, Inputs in) {
  auto isFinite = [](const Tensor &tensor) {
    return llvm::all_of(tensor.values, [](double value) { return std::isfinite(value); });
  };
  return {Tensor({}, llvm::all_of(in, isFinite))};
}

} // namespace

void attachRecipe(mlir::MLIRContext &context) {
  attach<LossOp, loss>(context);
  attach<ClipOp, clip>(context);
  attach<AllFiniteOp, allFinite>(context);
}

} // namespace weir::reference
