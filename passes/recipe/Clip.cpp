//===- Clip.cpp - Gradient norm and clipping ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs after autodiff, which creates the ops of the gradients.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Phase.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Selection.h"
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
      PhaseListener phase(phaseOf(op));
      OpBuilder builder(op, &phase);
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

  /// Sums the squares of elements above `large` separately, and scales them, so that a norm that
  /// f32 can represent does not overflow on the way: Blue, "A portable Fortran program to find the
  /// Euclidean norm of a vector", ACM TOMS 4 (1978). If there are no such elements, the bits are
  /// those of the plain sum.
  static Value normOf(OpBuilder &builder, ClipOp op) {
    constexpr double large = 0x1p48, scale = 0x1p-64;
    Location place = op.getLoc();
    Value squares, largeSquares;
    auto addSquares = [&](Value &to, Value gradient) {
      Value square = MulOp::create(builder, place, gradient, gradient);
      Value sum = sumOfAll(builder, place, square);
      to = to ? AddOp::create(builder, place, to, sum) : sum;
    };
    for (Value gradient : op.getGradients()) {
      auto all = [&](double value) {
        return spread(builder, place, scalar(builder, place, value), shapeOf(gradient));
      };
      Value zero = all(0), size = AbsOp::create(builder, place, gradient);
      Value isLarge = CompareOp::create(builder, place, Predicate::gt, size, all(large));
      addSquares(squares, SelectOp::create(builder, place, isLarge, zero, gradient));
      Value scaled = MulOp::create(builder, place, gradient, all(scale));
      addSquares(largeSquares, SelectOp::create(builder, place, isLarge, scaled, zero));
    }
    if (!squares)
      return SqrtOp::create(builder, place, scalar(builder, place, 0));
    Value by = scalar(builder, place, scale), zero = scalar(builder, place, 0);
    Value scaled = MulOp::create(builder, place, MulOp::create(builder, place, squares, by), by);
    Value all = AddOp::create(builder, place, largeSquares, scaled);
    Value ofLarge = DivOp::create(builder, place, SqrtOp::create(builder, place, all), by);
    Value anyLarge = CompareOp::create(builder, place, Predicate::gt, largeSquares, zero);
    Value usual = SqrtOp::create(builder, place, squares);
    return SelectOp::create(builder, place, anyLarge, ofLarge, usual);
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
