//===- Views.cpp - Layout ops as strides ------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/WeirDialect.h"
#include "ir/weir/structure/Structure.h"

using namespace mlir;

namespace weir {

static void split(Strides &over, int64_t dimension, ArrayRef<int64_t> sizes) {
  int64_t stride = over.strides[dimension];
  over.shape.erase(over.shape.begin() + dimension);
  over.strides.erase(over.strides.begin() + dimension);
  for (int64_t size : llvm::reverse(sizes)) {
    over.shape.insert(over.shape.begin() + dimension, size);
    over.strides.insert(over.strides.begin() + dimension, stride);
    stride *= size;
  }
}

// False where the dimensions do not follow each other in memory.
static bool merge(Strides &over, int64_t first, int64_t count) {
  int64_t size = 1, stride = 1;
  for (int64_t i = first + count; i-- > first;) {
    if (over.shape[i] == 1)
      continue;
    if (size > 1 && over.strides[i] != stride * size)
      return false;
    if (size == 1)
      stride = over.strides[i];
    size *= over.shape[i];
  }
  over.shape.erase(over.shape.begin() + first, over.shape.begin() + first + count);
  over.strides.erase(over.strides.begin() + first, over.strides.begin() + first + count);
  over.shape.insert(over.shape.begin() + first, size);
  over.strides.insert(over.strides.begin() + first, stride);
  return true;
}

bool TransposeOp::follow(Strides &over) {
  Strides input = over;
  for (auto [i, from] : llvm::enumerate(getPermutation())) {
    over.shape[i] = input.shape[from];
    over.strides[i] = input.strides[from];
  }
  return true;
}

bool TransposeOp::retrace(Strides &over) {
  Strides result = over;
  for (auto [i, from] : llvm::enumerate(getPermutation())) {
    over.shape[from] = result.shape[i];
    over.strides[from] = result.strides[i];
  }
  return true;
}

bool SplitDimOp::follow(Strides &over) {
  split(over, getDimension(), getSizes());
  return true;
}

bool SplitDimOp::retrace(Strides &over) { return merge(over, getDimension(), getSizes().size()); }

bool MergeDimsOp::follow(Strides &over) { return merge(over, getFirst(), getCount()); }

bool MergeDimsOp::retrace(Strides &over) {
  split(over, getFirst(), shapeOf(getInput()).slice(getFirst(), getCount()));
  return true;
}

bool SliceOp::follow(Strides &over) {
  for (size_t i = 0; i < over.shape.size(); ++i) {
    over.offset += getOffsets()[i] * over.strides[i];
    over.strides[i] *= getStrides()[i];
    over.shape[i] = shapeOf(getResult())[i];
  }
  return true;
}

ViewUse SliceOp::use() { return ViewUse::some; }

bool BroadcastOp::follow(Strides &over) {
  ArrayRef<int64_t> shape = shapeOf(getResult());
  SmallVector<int64_t> strides(shape.size(), 0);
  for (auto [i, to] : llvm::enumerate(getDimensions()))
    strides[to] = over.shape[i] == 1 ? 0 : over.strides[i];
  over.strides = strides;
  over.shape = llvm::to_vector(shape);
  return true;
}

ViewUse BroadcastOp::use() { return ViewUse::more; }

} // namespace weir
