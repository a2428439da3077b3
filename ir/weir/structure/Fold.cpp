//===- Fold.cpp - Folding layout ops -------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A layout op of a constant is the same constant, of another shape. Chains of the same op become
// one, in place.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Shapes.h"
#include "ir/weir/structure/Structure.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace weir {

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

static bool isIota(ArrayRef<int64_t> numbers) {
  return llvm::all_of(llvm::enumerate(numbers),
                      [](auto item) { return int64_t(item.index()) == item.value(); });
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (adaptor.getInput())
    return adaptor.getInput();
  if (getInput().getType() == getType())
    return getInput();
  if (auto inner = getInput().getDefiningOp<BroadcastOp>()) {
    Shape dimensions;
    for (int64_t dimension : inner.getDimensions())
      dimensions.push_back(getDimensions()[dimension]);
    setDimensions(dimensions);
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  // A broadcast puts in dimensions of size 1 by itself.
  if (auto inner = getInput().getDefiningOp<MergeDimsOp>(); inner && inner.getCount() == 0) {
    Shape dimensions(getDimensions());
    dimensions.erase(dimensions.begin() + inner.getFirst());
    setDimensions(dimensions);
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  return {};
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (adaptor.getInput())
    return adaptor.getInput();
  if (isIota(getPermutation()))
    return getInput();
  if (auto inner = getInput().getDefiningOp<TransposeOp>()) {
    setPermutation(transposed(inner.getPermutation(), getPermutation()));
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  return {};
}

OpFoldResult SplitDimOp::fold(FoldAdaptor adaptor) {
  if (adaptor.getInput())
    return adaptor.getInput();
  if (getSizes().size() == 1)
    return getInput();
  if (auto inner = getInput().getDefiningOp<MergeDimsOp>())
    if (inner.getFirst() == getDimension() && inner.getCount() == getSizes().size() &&
        inner.getInput().getType() == getType())
      return inner.getInput();
  return {};
}

OpFoldResult MergeDimsOp::fold(FoldAdaptor adaptor) {
  if (adaptor.getInput())
    return adaptor.getInput();
  if (getCount() == 1)
    return getInput();
  if (auto inner = getInput().getDefiningOp<SplitDimOp>())
    if (inner.getDimension() == getFirst() && inner.getSizes().size() == getCount())
      return inner.getInput();
  return {};
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if (adaptor.getInput())
    return adaptor.getInput();
  // Equal sizes leave no room for offsets or strides.
  if (getInput().getType() == getType())
    return getInput();
  if (auto inner = getInput().getDefiningOp<SliceOp>()) {
    Shape offsets, strides;
    for (size_t i = 0; i < getOffsets().size(); ++i) {
      offsets.push_back(inner.getOffsets()[i] + getOffsets()[i] * inner.getStrides()[i]);
      strides.push_back(getStrides()[i] * inner.getStrides()[i]);
    }
    setOffsets(offsets);
    setStrides(strides);
    getInputMutable().assign(inner.getInput());
    return getResult();
  }
  return {};
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  return getInput().getType() == getType() ? getInput() : OpFoldResult();
}

} // namespace weir
