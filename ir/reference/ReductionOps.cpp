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

#include "ir/reference/Models.h"
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

Tensors reduce(ReduceOp op, Inputs in) {
  Tensor result(shapeOf(op.getResult()), neutral(op.getKind()));
  forEachIndex(in[0].shape, [&](llvm::ArrayRef<int64_t> index) {
    Shape to;
    for (size_t d = 0; d < index.size(); ++d)
      if (!llvm::is_contained(op.getAxes(), static_cast<int64_t>(d)))
        to.push_back(index[d]);
    double &element = result.at(to);
    element = combine(op.getKind(), element, in[0].at(index));
  });
  if (llvm::isa<mlir::IntegerType>(tensorType(op.getResult()).getElementType()))
    for (double &value : result.values)
      value = static_cast<int32_t>(static_cast<int64_t>(value));
  return {result};
}

Tensors argmax(ArgMaxOp op, Inputs in) {
  Tensor result(shapeOf(op.getResult()));
  size_t axis = op.getAxis();
  if (in[0].values.empty()) // no element has a place
    return {result};
  forEachIndex(result.shape, [&](llvm::ArrayRef<int64_t> index) {
    Shape from(index);
    from.insert(from.begin() + axis, 0);
    double largest = in[0].at(from);
    for (int64_t i = 1; i < in[0].shape[axis]; ++i) {
      from[axis] = i;
      if (isLarger(in[0].at(from), largest)) {
        largest = in[0].at(from);
        result.at(index) = static_cast<double>(i);
      }
    }
  });
  return {result};
}

Tensors matmul(MatmulOp op, Inputs in) {
  Tensor result(shapeOf(op.getResult()));
  const Tensor &lhs = in[0], &rhs = in[1];
  size_t rank = result.shape.size();
  int64_t m = result.shape[rank - 2], n = result.shape[rank - 1];
  int64_t k = lhs.shape[op.getTransposeLhs() ? rank - 2 : rank - 1];
  int64_t batches = static_cast<int64_t>(result.values.size()) / std::max<int64_t>(1, m * n);
  for (int64_t batch = 0; batch < batches; ++batch) {
    const double *a = lhs.values.data() + batch * m * k, *b = rhs.values.data() + batch * k * n;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < k; ++l)
          sum += a[op.getTransposeLhs() ? l * m + i : i * k + l] *
                 b[op.getTransposeRhs() ? j * k + l : l * n + j];
        result.values[(batch * m + i) * n + j] = sum;
      }
  }
  return {result};
}

} // namespace

void attachReductions(mlir::MLIRContext &context) {
  attach<ReduceOp, reduce>(context);
  attach<ArgMaxOp, argmax>(context);
  attach<MatmulOp, matmul>(context);
}

} // namespace weir::reference
