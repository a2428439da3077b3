//===- Rules.cpp - What rules of ops are made of -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/interfaces/Rules.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/structure/Structure.h"

using namespace mlir;

namespace weir {

CastRule floatsBut(Operation *op, bool accumulates, Multiplies multiplies,
                   ArrayRef<unsigned> operands, ArrayRef<unsigned> results) {
  auto isFloat = [](Type type) {
    return isa<FloatType>(cast<RankedTensorType>(type).getElementType());
  };
  CastRule rule;
  for (auto [i, type] : llvm::enumerate(op->getOperandTypes()))
    rule.operands.push_back(isFloat(type) && !llvm::is_contained(operands, i));
  for (auto [i, type] : llvm::enumerate(op->getResultTypes()))
    rule.results.push_back(isFloat(type) && !llvm::is_contained(results, i));
  rule.accumulates = accumulates;
  rule.multiplies = multiplies;
  return rule;
}

int64_t elements(Value value) { return tensorType(value).getNumElements(); }
Cost costOf(Operation *op, double flops) { return {flops, trafficBytes(op)}; }
Cost costAt(Operation *op, const ShardRule &rule, double flops) {
  for (const Factor &factor : rule.factors)
    flops *= factor.loops ? double(factor.size) : 1;
  return costOf(op, flops);
}
Cost copyCost(Value result) { return {0, 2 * storageBytes(result.getType())}; }

unsigned Rule::factor(int64_t size, Kind kind) {
  rule.factors.push_back({size, kind});
  return rule.factors.size() - 1;
}

Factors Rule::factors(ArrayRef<int64_t> sizes, Kind kind) {
  Factors made;
  for (int64_t size : sizes)
    made.push_back(factor(size, kind));
  return made;
}

Dimensions Rule::dimensions(ArrayRef<unsigned> factors) {
  Dimensions made;
  for (unsigned factor : factors)
    made.push_back({factor});
  return made;
}

Rule &Rule::operand(Dimensions dimensions) {
  rule.operands.push_back(std::move(dimensions));
  return *this;
}

Rule &Rule::result(Dimensions dimensions) {
  rule.results.push_back(std::move(dimensions));
  return *this;
}

Operation *localizeCounted(OpBuilder &builder, Shardable op, ValueRange operands, TypeRange types,
                           Shares &shares, unsigned integers) {
  ShardRule rule = op.shardRule();
  const Factor *counted = llvm::find_if(rule.factors, [](auto &one) { return one.counted; });
  SmallVector<Value> own(operands);
  if (Value begin = shares.begin(counted - rule.factors.begin())) {
    Value &numbers = own[integers];
    begin =
        BroadcastOp::create(builder, op.getLoc(), tensorType(numbers), begin, ArrayRef<int64_t>());
    numbers = SubOp::create(builder, op.getLoc(), numbers, begin);
  }
  return cloneWith(builder, op, own, types);
}

} // namespace weir
