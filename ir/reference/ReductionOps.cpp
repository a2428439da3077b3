//===- ReductionOps.cpp - Reductions and products, reference semantics ----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums run in row-major order of what is summed.
//
//===----------------------------------------------------------------------===//

#include "ir/reference/Loops.h"
#include "ir/reference/Models.h"
#include "ir/weir/product/Product.h"
#include "ir/weir/reduction/Reduction.h"
#include <cmath>
#include <limits>

namespace weir::reference {
namespace {

double combine(Reduction kind, double a, double b) {
  if (kind == Reduction::sum)
    return a + b;
  if (std::isnan(a) || std::isnan(b))
    return NAN;
  return kind == Reduction::max ? std::max(a, b) : std::min(a, b);
}

double neutral(Reduction kind) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return kind == Reduction::sum ? 0 : kind == Reduction::max ? -infinity : infinity;
}

/// Calls `visit(i, to)` for every element i of the input, which becomes part of result `to`.
template <class Visit> void forEachPart(ReduceOp op, Visit visit) {
  llvm::ArrayRef<int64_t> shape = shapeOf(op.getInput());
  Shape kept = stridesOf(shapeOf(op.getResult())), strides(shape.size(), 0);
  for (size_t d = 0, next = 0; d < strides.size(); ++d)
    if (!llvm::is_contained(op.getAxes(), static_cast<int64_t>(d)))
      strides[d] = kept[next++];
  forEachOffset(shape, strides, 0, visit);
}

Tensors reduce(ReduceOp op, Inputs in) {
  Tensors results;
  Tensor &result = results.emplace_back(shapeOf(op.getResult()), neutral(op.getKind()));
  forEachPart(op, [&, kind = op.getKind()](int64_t i, int64_t to) {
    result.values[to] = combine(kind, result.values[to], in[0].values[i]);
  });
  if (llvm::isa<mlir::IntegerType>(tensorType(op.getResult()).getElementType()))
    for (double &value : result.values)
      value = static_cast<int32_t>(static_cast<int64_t>(value));
  return results;
}

/// A maximum or minimum is the first element that attained it.
Tensors chosenReduce(ReduceOp op, Inputs in, Before before) {
  if (op.getKind() == Reduction::sum)
    return reduce(op, in);
  Tensors results = reduce(op, before(0));
  Tensor &result = results[0];
  std::vector<bool> found(result.values.size());
  forEachPart(op, [&](int64_t i, int64_t to) {
    if (found[to] || before(0).values[i] != result.values[to])
      return;
    found[to] = true;
    result.values[to] = in[0].values[i];
  });
  return results;
}

Tensors argmax(ArgMaxOp op, Inputs in) {
  Tensors results;
  Tensor &result = results.emplace_back(shapeOf(op.getResult()));
  if (in[0].values.empty()) // no element has a place
    return results;
  int64_t step = stridesOf(in[0].shape)[op.getAxis()], count = in[0].shape[op.getAxis()];
  for (size_t i = 0; i < result.values.size(); ++i) {
    const double *first = in[0].values.data() + i / step * step * count + i % step;
    int64_t best = 0;
    for (int64_t j = 1; j < count; ++j)
      if (isLarger(first[j * step], first[best * step]))
        best = j;
    result.values[i] = static_cast<double>(best);
  }
  return results;
}

/// The other way round: [n, m] as [m, n].
std::vector<double> flipped(const double *matrix, int64_t n, int64_t m) {
  std::vector<double> result(n * m);
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < m; ++j)
      result[j * n + i] = matrix[i * m + j];
  return result;
}

Tensors matmul(MatmulOp op, Inputs in, Interpreter &interpreter) {
  Tensors results;
  Tensor &result = results.emplace_back(shapeOf(op.getResult()));
  const Tensor &lhs = in[0], &rhs = in[1];
  size_t rank = result.shape.size();
  int64_t m = result.shape[rank - 2], n = result.shape[rank - 1];
  int64_t k = lhs.shape[op.getTransposeLhs() ? rank - 2 : rank - 1];
  int64_t batches = static_cast<int64_t>(result.values.size()) / std::max<int64_t>(1, m * n);
  for (int64_t batch = 0; batch < batches; ++batch) {
    const double *a = lhs.values.data() + batch * m * k, *b = rhs.values.data() + batch * k * n;
    std::vector<double> lhsRows, rhsRows;
    if (op.getTransposeLhs())
      a = (lhsRows = flipped(a, k, m)).data();
    if (op.getTransposeRhs())
      b = (rhsRows = flipped(b, n, k)).data();
    interpreter.multiplyAdds += addProduct(m, n, k, a, b, result.values.data() + batch * m * n);
  }
  return results;
}

} // namespace

void attachReductions(mlir::MLIRContext &context) {
  attach<ReduceOp, reduce, chosenReduce>(context);
  attach<ArgMaxOp, argmax>(context);
  attach<MatmulOp, matmul>(context);
}

} // namespace weir::reference
