//===- StridedView.cpp - Layout ops as strides ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/StridedView.h"

using namespace mlir;

namespace weir {
namespace {

StridedView rowMajor(Value value) {
  StridedView view{value, 0, llvm::to_vector(shapeOf(value)), {}};
  view.strides.resize(view.shape.size());
  int64_t stride = 1;
  for (size_t i = view.shape.size(); i-- > 0;) {
    view.strides[i] = stride;
    stride *= view.shape[i];
  }
  return view;
}

void split(StridedView &view, int64_t dimension, ArrayRef<int64_t> sizes) {
  int64_t stride = view.strides[dimension];
  view.shape.erase(view.shape.begin() + dimension);
  view.strides.erase(view.strides.begin() + dimension);
  for (int64_t size : llvm::reverse(sizes)) {
    view.shape.insert(view.shape.begin() + dimension, size);
    view.strides.insert(view.strides.begin() + dimension, stride);
    stride *= size;
  }
}

/// False where the dimensions do not follow each other in memory.
bool merge(StridedView &view, int64_t first, int64_t count) {
  int64_t size = 1, stride = 1;
  for (int64_t i = first + count; i-- > first;) {
    if (view.shape[i] == 1)
      continue;
    if (size > 1 && view.strides[i] != stride * size)
      return false;
    if (size == 1)
      stride = view.strides[i];
    size *= view.shape[i];
  }
  view.shape.erase(view.shape.begin() + first, view.shape.begin() + first + count);
  view.strides.erase(view.strides.begin() + first, view.strides.begin() + first + count);
  view.shape.insert(view.shape.begin() + first, size);
  view.strides.insert(view.strides.begin() + first, stride);
  return true;
}

/// The view of `op`'s result from that of its operand; false where there is none.
bool apply(Operation *op, StridedView &view) {
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    StridedView input = view;
    for (auto [i, from] : llvm::enumerate(transpose.getPermutation())) {
      view.shape[i] = input.shape[from];
      view.strides[i] = input.strides[from];
    }
    return true;
  }
  if (auto slice = dyn_cast<SliceOp>(op)) {
    for (size_t i = 0; i < view.shape.size(); ++i) {
      view.offset += slice.getOffsets()[i] * view.strides[i];
      view.strides[i] *= slice.getStrides()[i];
      view.shape[i] = shapeOf(slice.getResult())[i];
    }
    return true;
  }
  if (auto splitDim = dyn_cast<SplitDimOp>(op)) {
    split(view, splitDim.getDimension(), splitDim.getSizes());
    return true;
  }
  if (auto mergeDims = dyn_cast<MergeDimsOp>(op))
    return merge(view, mergeDims.getFirst(), mergeDims.getCount());
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    ArrayRef<int64_t> shape = shapeOf(broadcast.getResult());
    SmallVector<int64_t> strides(shape.size(), 0);
    for (auto [i, to] : llvm::enumerate(broadcast.getDimensions()))
      strides[to] = view.shape[i] == 1 ? 0 : view.strides[i];
    view.strides = strides;
    view.shape = llvm::to_vector(shape);
    return true;
  }
  return false;
}

/// The view of the operand of `op` in memory where its result has `view`; false where there is
/// none. Only ops that use every element of their result once.
bool invert(Operation *op, StridedView &view) {
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    StridedView result = view;
    for (auto [i, from] : llvm::enumerate(transpose.getPermutation())) {
      view.shape[from] = result.shape[i];
      view.strides[from] = result.strides[i];
    }
    return true;
  }
  if (auto splitDim = dyn_cast<SplitDimOp>(op))
    return merge(view, splitDim.getDimension(), splitDim.getSizes().size());
  if (auto mergeDims = dyn_cast<MergeDimsOp>(op)) {
    split(view, mergeDims.getFirst(),
          shapeOf(mergeDims.getInput()).slice(mergeDims.getFirst(), mergeDims.getCount()));
    return true;
  }
  return false;
}

/// The pads that `value` is the sum of, if each element is in exactly one of them.
SmallVector<PadOp> partition(Value value) {
  SmallVector<PadOp> pads;
  SmallVector<Value> terms{value};
  while (!terms.empty()) {
    Operation *op = terms.pop_back_val().getDefiningOp();
    if (auto pad = dyn_cast_or_null<PadOp>(op)) {
      pads.push_back(pad);
    } else if (auto add = dyn_cast_or_null<AddOp>(op)) {
      terms.push_back(add.getLhs());
      terms.push_back(add.getRhs());
    } else {
      return {};
    }
  }
  // Side by side along one dimension, without strides.
  ArrayRef<int64_t> full = shapeOf(value);
  std::optional<size_t> cut;
  for (PadOp pad : pads)
    for (size_t i = 0; i < full.size(); ++i) {
      if (pad.getStrides()[i] != 1 && shapeOf(pad.getInput())[i] > 1)
        return {};
      if (shapeOf(pad.getInput())[i] == full[i])
        continue;
      if (cut && *cut != i)
        return {};
      cut = i;
    }
  if (!cut)
    return {};
  llvm::sort(pads, [&](PadOp a, PadOp b) { return a.getOffsets()[*cut] < b.getOffsets()[*cut]; });
  int64_t next = 0;
  for (PadOp pad : pads) {
    if (pad.getOffsets()[*cut] != next)
      return {};
    next += shapeOf(pad.getInput())[*cut];
  }
  return next == full[*cut] ? pads : SmallVector<PadOp>();
}

std::optional<StridedView> destination(Value at, Value result, StridedView view) {
  if (at == result)
    return view;
  Operation *op = at.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto concat = dyn_cast<ConcatOp>(op)) {
    int64_t dimension = concat.getDimension();
    for (Value input : concat.getInputs()) {
      StridedView part = view;
      part.shape = llvm::to_vector(shapeOf(input));
      if (auto found = destination(input, result, part))
        return found;
      view.offset += shapeOf(input)[dimension] * view.strides[dimension];
    }
    return std::nullopt;
  }
  if (isa<PadOp, AddOp>(op)) {
    for (PadOp pad : partition(at)) {
      StridedView part = view;
      part.shape = llvm::to_vector(shapeOf(pad.getInput()));
      for (auto [offset, stride] : llvm::zip_equal(pad.getOffsets(), view.strides))
        part.offset += offset * stride;
      if (auto found = destination(pad.getInput(), result, part))
        return found;
    }
    return std::nullopt;
  }
  if (!invert(op, view))
    return std::nullopt;
  return destination(op->getOperand(0), result, view);
}

} // namespace

StridedView stridedView(Value value) {
  if (Operation *op = value.getDefiningOp())
    if (op->getNumOperands() == 1 && op->getNumResults() == 1) {
      StridedView view = stridedView(op->getOperand(0));
      if (apply(op, view))
        return view;
    }
  return rowMajor(value);
}

std::optional<StridedView> stridedDestination(Value outer, Value result) {
  return destination(outer, result, rowMajor(outer));
}

} // namespace weir
