//===- Product.cpp - What is known of matmul -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Elements.h"
#include "ir/weir/GradientFormula.h"
#include "ir/weir/Rules.h"

using namespace mlir;

namespace weir {

using Indices = SmallVector<Value>;

void MatmulOp::build(OpBuilder &builder, OperationState &state, Value lhs, Value rhs,
                     bool transposeLhs, bool transposeRhs) {
  build(builder, state,
        typeLike(lhs, matmulShape(shapeOf(lhs), shapeOf(rhs), transposeLhs, transposeRhs)), lhs,
        rhs, transposeLhs, transposeRhs, TypeAttr());
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
  return expectShape(*this, "the result", getResult(),
                     matmulShape(lhs, rhs, getTransposeLhs(), getTransposeRhs()));
}

CastRule MatmulOp::castRule() { return floats(*this, true); }

Cost MatmulOp::cost() {
  auto lhs = shapeOf(getLhs());
  return costOf(*this, 2 * elements(getResult()) * lhs[lhs.size() - (getTransposeLhs() ? 2 : 1)]);
}

ShardRule MatmulOp::shardRule() {
  Rule rule;
  auto result = shapeOf(getResult()), lhs = shapeOf(getLhs());
  Factors batch = rule.factors(result.drop_back(2));
  unsigned m = rule.factor(result[result.size() - 2]), n = rule.factor(result.back());
  unsigned k = rule.factor(lhs[lhs.size() - (getTransposeLhs() ? 2 : 1)], Kind::sum);
  return rule.operand(joined(batch, getTransposeLhs() ? Factors{k, m} : Factors{m, k}))
      .operand(joined(batch, getTransposeRhs() ? Factors{n, k} : Factors{k, n}))
      .result(joined(batch, {m, n}))
      .rule;
}

// With A and B the matrices that are multiplied (op(lhs), op(rhs)): A' = g B^T, B' = A^T g, stored
// as the operands are.
LogicalResult MatmulOp::vjp(OpBuilder &builder, ArrayRef<Value> cotangents,
                            SmallVectorImpl<Value> &operandCotangents) {
  Formula t(builder, *this);
  Value a = getLhs(), b = getRhs(), g = cotangents[0];
  bool ta = getTransposeLhs(), tb = getTransposeRhs();
  auto product = [&](Value like, Value lhs, Value rhs, bool transposeLhs, bool transposeRhs) {
    return t.build<MatmulOp>(like.getType(), lhs, rhs, transposeLhs, transposeRhs,
                             getAccumulateAttr());
  };
  operandCotangents.push_back(ta ? product(a, b, g, tb, true) : product(a, g, b, false, !tb));
  operandCotangents.push_back(tb ? product(b, g, a, true, ta) : product(b, a, g, !ta, false));
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
    return s.mulf(operand(0, at(row, k[0], getTransposeLhs())),
                  operand(1, at(k[0], column, getTransposeRhs())));
  });
}

} // namespace weir
