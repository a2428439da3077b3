//===- Rounder.cpp - Rounds values to low precision -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/precision/Rounder.h"
#include "ir/weir/WeirDialect.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/reduction/Reduction.h"

using namespace mlir;

namespace weir {

Value Rounder::rounded(Value value, StringRef what) {
  Operation *op = value.getDefiningOp();
  if (auto widened = dyn_cast_or_null<CastOp>(op))
    if (tensorType(widened.getInput()).getElementType() == low)
      return widened.getInput();
  Value &known = lows[value];
  if (known)
    return known;
  builder.setInsertionPointAfterValue(value);
  auto type = tensorType(value).clone(low);
  Value result;
  if (isa_and_nonnull<View>(op)) {
    Value source = rounded(op->getOperand(0), what);
    builder.setInsertionPointAfterValue(value);
    Operation *moved = builder.clone(*op);
    moved->setOperand(0, source);
    moved->getResult(0).setType(type);
    result = moved->getResult(0);
  } else {
    auto cast = CastOp::create(builder, value.getLoc(), type, value);
    made[cast] = what;
    result = cast;
  }
  return lows[value] = result;
}

Value Rounder::widened(Value value, StringRef what) {
  Value source = rounded(value, what);
  Value &known = wides[source];
  if (!known) {
    builder.setInsertionPointAfterValue(source);
    known = CastOp::create(builder, value.getLoc(), tensorType(value), source);
  }
  return known;
}

void Rounder::round(Value value, StringRef what) {
  Value source = rounded(value, what), again = widened(value, what);
  value.replaceAllUsesExcept(again, source.getDefiningOp());
}

void Rounder::roundForSums(const llvm::DenseSet<Value> &forward) {
  for (auto [value, narrow] : llvm::to_vector(lows)) {
    auto isSum = [](Operation *user) { return isa<ReduceOp>(user); };
    auto isElse = [&](Operation *user) {
      bool isMoved = isa<View>(user) && user->use_empty(); // and has been replaced
      return !isSum(user) && !isMoved && user != narrow.getDefiningOp();
    };
    if (isa_and_nonnull<ReadOp>(value.getDefiningOp()) || forward.contains(value) ||
        llvm::any_of(value.getUsers(), isElse) || llvm::none_of(value.getUsers(), isSum))
      continue;
    Value again = widened(value, "");
    value.replaceUsesWithIf(again, [&](OpOperand &use) { return isSum(use.getOwner()); });
  }
}

} // namespace weir
