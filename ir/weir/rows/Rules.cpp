//===- Rules.cpp - Verifiers of composites of rows ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/interfaces/Rules.h"
#include "ir/weir/elementwise/Selection.h"
#include "ir/weir/elementwise/Unary.h"
#include "ir/weir/kernel/RowBuilder.h"
#include "ir/weir/reduction/Reduction.h"
#include "ir/weir/rows/Rows.h"
#include "ir/weir/structure/Structure.h"

using namespace mlir;

namespace weir {

// C1 of all of them; traits compare the other types.
LogicalResult verifyRows(Operation *op, StringRef factors) {
  ArrayRef<int64_t> rows = shapeOf(op->getOperand(0));
  if (rows.empty() || rows.back() == 0)
    return op->emitOpError("needs a last dimension, and elements in it");
  return expectFactors(op, factors);
}

LogicalResult NormalizeOp::verify() {
  // C1
  if (failed(verifyRows(*this, factors())))
    return failure();
  // C2
  if (getEps().isNegative())
    return emitOpError("needs an eps that is not negative");
  return success();
}

Operation *SoftmaxCrossEntropyOp::localize(OpBuilder &builder, ValueRange operands, TypeRange types,
                                           Shares &shares) {
  return localizeCounted(builder, *this, operands, types, shares, 1);
}

Operation *SoftmaxCrossEntropyGradOp::localize(OpBuilder &builder, ValueRange operands,
                                               TypeRange types, Shares &shares) {
  return localizeCounted(builder, *this, operands, types, shares, 1);
}

// The shard that has a row's label is the one whose loss is not its log_sum_exp. The row's loss is
// that one's, and what its log_sum_exp is larger by with the other shards' classes, which is no
// difference of large numbers.
SmallVector<Value> SoftmaxCrossEntropyOp::combine(OpBuilder &builder, ValueRange parts) {
  RowBuilder b(builder, *this);
  Value losses = parts[0], sums = parts[1];
  auto dimensions = llvm::to_vector(llvm::seq<int64_t>(1, shapeOf(sums).size()));
  auto each = [&](Value one) -> Value {
    return BroadcastOp::create(builder, getLoc(), typeLike(one, shapeOf(sums)), one, dimensions);
  };
  auto over = [&](Value all, Reduction kind) -> Value {
    return ReduceOp::create(builder, getLoc(), all, kind, ArrayRef<int64_t>{0});
  };
  Value largest = over(sums, Reduction::max);
  Value rest = b.log(over(b.exp(b.sub(sums, each(largest))), Reduction::sum));
  Value whole = b.add(losses, b.add(b.sub(each(largest), sums), each(rest)));
  Value labelled =
      ArgMaxOp::create(builder, getLoc(), AbsOp::create(builder, getLoc(), b.sub(losses, sums)), 0);
  Value isLabelled =
      CompareOp::create(builder, getLoc(), Predicate::eq, b.iota(sums, 0), each(labelled));
  Value loss = over(b.select(isLabelled, whole, b.constant(whole, 0)), Reduction::sum);
  return {loss, b.add(largest, rest)};
}

Picks SoftmaxCrossEntropyOp::picks() { return {getLabels(), shapeOf(getLogits()).back()}; }

} // namespace weir
