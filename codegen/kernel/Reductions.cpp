//===- Reductions.cpp - Combining partial results --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/kernel/Reductions.h"
#include "ir/weir/structure/Structure.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weir {

static TypedAttr neutralAttr(Reduction kind, Type type) {
  Builder builder(type.getContext());
  if (auto floating = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &semantics = floating.getFloatSemantics();
    return FloatAttr::get(type, kind == Reduction::sum
                                    ? llvm::APFloat::getZero(semantics)
                                    : llvm::APFloat::getInf(semantics, kind == Reduction::max));
  }
  unsigned width = type.getIntOrFloatBitWidth();
  return IntegerAttr::get(type, kind == Reduction::sum   ? llvm::APInt::getZero(width)
                                : kind == Reduction::max ? llvm::APInt::getSignedMinValue(width)
                                                         : llvm::APInt::getSignedMaxValue(width));
}

Value neutralOf(OpBuilder &builder, Location loc, Reduction kind, Type type, int64_t lanes) {
  TypedAttr neutral = neutralAttr(kind, type);
  if (lanes > 1)
    neutral = DenseElementsAttr::get(VectorType::get({lanes}, type), Attribute(neutral));
  return arith::ConstantOp::create(builder, loc, neutral);
}

bool dependsOnOrder(Reduction kind, Type type) {
  return kind == Reduction::sum && isa<FloatType>(type);
}

Value combine(OpBuilder &builder, Location loc, Reduction kind, Value a, Value b) {
  bool floating = isa<FloatType>(getElementTypeOrSelf(a));
  // Maxima keep NaN, which takes four instructions for one: a fourteenth of softmax_cross_entropy's
  // time.
  switch (kind) {
  case Reduction::sum:
    return floating ? arith::AddFOp::create(builder, loc, a, b).getResult()
                    : arith::AddIOp::create(builder, loc, a, b).getResult();
  case Reduction::max:
    return floating ? arith::MaximumFOp::create(builder, loc, a, b).getResult()
                    : arith::MaxSIOp::create(builder, loc, a, b).getResult();
  case Reduction::min:
    return floating ? arith::MinimumFOp::create(builder, loc, a, b).getResult()
                    : arith::MinSIOp::create(builder, loc, a, b).getResult();
  }
  llvm_unreachable("no such reduction");
}

} // namespace weir
