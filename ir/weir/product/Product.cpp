//===- Product.cpp - What is known of matmul -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/product/Product.h"
#include "ir/weir/interfaces/Elements.h"
#include "ir/weir/interfaces/GradientFormula.h"
#include "ir/weir/interfaces/Rules.h"

using namespace mlir;

namespace weir {

using Indices = SmallVector<Value>;

static StringRef factorsOf(bool transposeLhs, bool transposeRhs) {
  if (transposeLhs)
    return transposeRhs ? "lhs: *b k m, rhs: *b n k -> result: *b m n"
                        : "lhs: *b k m, rhs: *b k n -> result: *b m n";
  return transposeRhs ? "lhs: *b m k, rhs: *b n k -> result: *b m n"
                      : "lhs: *b m k, rhs: *b k n -> result: *b m n";
}

ShardRule MatmulOp::shardRule() {
  return ruleOf(*this, factorsOf(getTransposeLhs(), getTransposeRhs()));
}

LogicalResult MatmulOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor op,
                                         SmallVectorImpl<Type> &types) {
  return inferByFactors(factorsOf(op.getTransposeLhs(), op.getTransposeRhs()), op.getOperands(),
                        types);
}

LogicalResult MatmulOp::verify() {
  auto lhs = shapeOf(getLhs()), rhs = shapeOf(getRhs());
  // C1
  if (lhs.size() < 2 || lhs.size() != rhs.size() || lhs.drop_back(2) != rhs.drop_back(2))
    return emitOpError() << "needs equal ranks of at least 2 and equal leading dimensions, but has "
                         << printed(lhs) << " and " << printed(rhs);
  // C2
  size_t rank = lhs.size();
  int64_t left = lhs[rank - (getTransposeLhs() ? 2 : 1)],
          right = rhs[rank - (getTransposeRhs() ? 1 : 2)];
  if (left != right)
    return emitOpError() << "sums over " << left << " elements on the left, but " << right
                         << " on the right";
  // C3
  return expectFactors(*this, factorsOf(getTransposeLhs(), getTransposeRhs()));
}

// With A and B the matrices that are multiplied (op(lhs), op(rhs)): A' = g B^T, B' = A^T g, stored
// as the operands are.
LogicalResult MatmulOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                            SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  Value a = getLhs(), b = getRhs();
  Value toA = asFactor(t, cotangents[0], b), toB = asFactor(t, cotangents[0], a);
  bool ta = getTransposeLhs(), tb = getTransposeRhs();
  auto product = [&](Value lhs, Value rhs, bool transposeLhs, bool transposeRhs) {
    return t.build<MatmulOp>(lhs, rhs, transposeLhs, transposeRhs, getAccumulateAttr());
  };
  operandCotangents.push_back(ta ? product(b, toA, tb, true) : product(toA, b, false, !tb));
  operandCotangents.push_back(tb ? product(toB, a, true, ta) : product(a, toB, !ta, false));
  return success();
}

Value MatmulOp::element(OpBuilder &builder, unsigned, ValueRange indices, ElementOf operand) {
  Scalars s(builder, getLoc());
  auto lhs = shapeOf(getLhs());
  int64_t inner = lhs[lhs.size() - (getTransposeLhs() ? 2 : 1)];
  auto batch = indices.drop_back(2);
  Value row = indices[indices.size() - 2], column = indices.back();
  auto at = [&](Value first, Value second, bool swapped) {
    Indices source(batch);
    source.push_back(swapped ? second : first);
    source.push_back(swapped ? first : second);
    return source;
  };
  return s.sum(inner, [&](ValueRange k) {
    Value left = operand(0, at(row, k[0], getTransposeLhs())),
          right = operand(1, at(k[0], column, getTransposeRhs()));
    return s.product(*this, left, right);
  });
}

} // namespace weir
