//===- Clip.cpp - The norm of the gradients, and clipping to it -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs after autodiff: until here the norm is of gradients that have no ops yet, and where it is
// computed is open.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Unary.h"
#include "ir/weir/recipe/Recipe.h"
#include "passes/Passes.h"
#include "passes/recipe/Scalars.h"

namespace weir {
#define GEN_PASS_DEF_CLIP
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

struct Clip : weir::impl::ClipBase<Clip> {
  void runOnOperation() override {
    bool any = false;
    getOperation().walk([&](ClipOp op) {
      any = true;
      OpBuilder builder(op);
      Value norm = normOf(builder, op);
      SmallVector<Value> results{norm};
      if (op.getLimit())
        llvm::append_range(results, clipped(builder, op, norm));
      op->replaceAllUsesWith(results);
      op.erase();
    });
    if (!any)
      markAllAnalysesPreserved();
  }

  static Value normOf(OpBuilder &builder, ClipOp op) {
    Location place = op.getLoc();
    Value squares;
    for (Value gradient : op.getGradients()) {
      Value square = MulOp::create(builder, place, gradient, gradient);
      Value sum = sumOfAll(builder, place, square);
      squares = squares ? AddOp::create(builder, place, squares, sum) : sum;
    }
    if (!squares)
      squares = scalar(builder, place, 0);
    return SqrtOp::create(builder, place, squares);
  }

  static SmallVector<Value> clipped(OpBuilder &builder, ClipOp op, Value norm) {
    Location place = op.getLoc();
    Value above = AddOp::create(builder, place, norm, scalar(builder, place, 1e-6));
    Value ratio = DivOp::create(builder, place, op.getLimit(), above);
    Value factor = MinOp::create(builder, place, ratio, scalar(builder, place, 1));
    SmallVector<Value> results;
    for (Value gradient : op.getGradients()) {
      Value wide = spread(builder, place, factor, shapeOf(gradient));
      results.push_back(MulOp::create(builder, place, gradient, wide));
    }
    return results;
  }
};

} // namespace
