//===- Tensor.h - A tensor of the reference interpreter -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Row-major; every element type is held as double, which is exact for i32, ui8 and i1 (0 or 1).
// Slow and obvious on purpose.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_REFERENCE_TENSOR_H
#define WEIR_IR_REFERENCE_TENSOR_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace weir {

using Shape = llvm::SmallVector<int64_t>;

struct Tensor {
  Tensor() = default;
  explicit Tensor(llvm::ArrayRef<int64_t> shape, double fill = 0)
      : shape(shape), values(static_cast<size_t>(mlir::ShapedType::getNumElements(shape)), fill) {}

  int64_t offset(llvm::ArrayRef<int64_t> index) const {
    assert(index.size() == shape.size());
    int64_t result = 0;
    for (size_t d = 0; d < index.size(); ++d) {
      assert(index[d] >= 0 && index[d] < shape[d]);
      result = result * shape[d] + index[d];
    }
    return result;
  }
  double &at(llvm::ArrayRef<int64_t> index) { return values[offset(index)]; }
  double at(llvm::ArrayRef<int64_t> index) const { return values[offset(index)]; }

  /// Rows [n i / count, n (i + 1) / count) of n, a multiple of `count`.
  Tensor part(int64_t i, int64_t count) const {
    Shape some = shape;
    some[0] /= count;
    Tensor result(some);
    std::copy_n(values.begin() + i * result.values.size(), result.values.size(),
                result.values.begin());
    return result;
  }

  Shape shape;
  std::vector<double> values;
};

using Tensors = llvm::SmallVector<Tensor>;

/// Calls `visit(index)` for every index of the shape, in row-major order.
template <class Visit> void forEachIndex(llvm::ArrayRef<int64_t> shape, Visit visit) {
  for (int64_t size : shape)
    if (size == 0)
      return;
  Shape index(shape.size(), 0);
  while (true) {
    visit(llvm::ArrayRef<int64_t>(index));
    size_t d = shape.size();
    while (d > 0 && ++index[d - 1] == shape[d - 1])
      index[--d] = 0;
    if (d == 0)
      return;
  }
}

/// What a step along each dimension of a row-major tensor moves its offset by.
inline Shape stridesOf(llvm::ArrayRef<int64_t> shape) {
  Shape strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

/// Calls `visit(i, offset)` for every index of the shape, in row-major order: i counts them, and
/// offset is `start` plus the sum of index[d] * strides[d].
template <class Visit>
void forEachOffset(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides, int64_t start,
                   Visit visit) {
  assert(shape.size() == strides.size());
  int64_t inner = shape.empty() ? 1 : shape.back(), step = shape.empty() ? 0 : strides.back();
  int64_t count = mlir::ShapedType::getNumElements(shape);
  Shape index(shape.size(), 0);
  for (int64_t i = 0; i < count; i += inner) {
    for (int64_t j = 0; j < inner; ++j)
      visit(i + j, start + j * step);
    for (size_t d = shape.size(); d-- > 1;) {
      start += strides[d - 1];
      if (++index[d - 1] < shape[d - 1])
        break;
      start -= strides[d - 1] * shape[d - 1];
      index[d - 1] = 0;
    }
  }
}

} // namespace weir

#endif
