//===- StridedView.cpp - Layout ops as strides ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/StridedView.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/structure/Structure.h"

using namespace mlir;

namespace weir {
namespace {

StridedView rowMajor(Value value) {
  StridedView view{{0, llvm::to_vector(shapeOf(value)), {}}, value};
  view.strides.resize(view.shape.size());
  int64_t stride = 1;
  for (size_t i = view.shape.size(); i-- > 0;) {
    view.strides[i] = stride;
    stride *= view.shape[i];
  }
  return view;
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
  if (auto cast = dyn_cast<CastOp>(op); cast && cast.narrows())
    return destination(cast.getInput(), result, view);
  auto layout = dyn_cast<View>(op);
  if (!layout || !layout.retrace(view))
    return std::nullopt;
  return destination(op->getOperand(0), result, view);
}

} // namespace

StridedView stridedView(Value value) {
  if (auto cast = value.getDefiningOp<CastOp>(); cast && cast.widens())
    return stridedView(cast.getInput());
  if (auto layout = value.getDefiningOp<View>()) {
    StridedView view = stridedView(layout->getOperand(0));
    if (layout.follow(view))
      return view;
  }
  return rowMajor(value);
}

std::optional<StridedView> stridedDestination(Value outer, Value result) {
  return destination(outer, result, rowMajor(outer));
}

} // namespace weir
