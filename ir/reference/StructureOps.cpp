//===- StructureOps.cpp - Layout and indexing, reference semantics --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each is its definition in ir/weir/structure/Structure.td, index by index.
//
//===----------------------------------------------------------------------===//

#include "ir/reference/Models.h"
#include "ir/weir/indexing/Indexing.h"
#include "ir/weir/structure/Structure.h"
#include <algorithm>
#include <cmath>

namespace weir::reference {
namespace {

/// The op's only result, to be filled in.
Tensors resultOf(mlir::Operation *op, double fill = 0) {
  Tensors results;
  results.emplace_back(shapeOf(op->getResult(0)), fill);
  return results;
}

Tensors constant(ConstantOp op, Inputs) {
  double value;
  if (auto number = llvm::dyn_cast<mlir::FloatAttr>(op.getValue()))
    value = number.getValueAsDouble();
  else if (auto number = llvm::cast<mlir::IntegerAttr>(op.getValue());
           number.getType().isSignlessInteger() && !number.getType().isInteger(1))
    value = static_cast<double>(number.getValue().getSExtValue());
  else
    value = static_cast<double>(number.getValue().getZExtValue());
  return resultOf(op, value);
}

Tensors iota(IotaOp op, Inputs) {
  Tensors result = resultOf(op);
  Shape strides(result[0].shape.size(), 0);
  strides[op.getDimension()] = 1;
  forEachOffset(result[0].shape, strides, 0, [&](int64_t i, int64_t place) {
    result[0].values[i] = static_cast<double>(place);
  });
  return result;
}

/// A result whose element i is the operand's at the i-th offset.
Tensors pulled(mlir::Operation *op, const Tensor &from, llvm::ArrayRef<int64_t> strides,
               int64_t start) {
  Tensors result = resultOf(op);
  forEachOffset(result[0].shape, strides, start,
                [&](int64_t i, int64_t offset) { result[0].values[i] = from.values[offset]; });
  return result;
}

Tensors broadcast(BroadcastOp op, Inputs in) {
  Shape strides(shapeOf(op.getResult()).size(), 0);
  for (auto [size, stride, dimension] :
       llvm::zip(in[0].shape, stridesOf(in[0].shape), op.getDimensions()))
    strides[dimension] = size == 1 ? 0 : stride;
  return pulled(op, in[0], strides, 0);
}

Tensors transpose(TransposeOp op, Inputs in) {
  Shape from = stridesOf(in[0].shape), strides;
  for (int64_t dimension : op.getPermutation())
    strides.push_back(from[dimension]);
  return pulled(op, in[0], strides, 0);
}

Tensors splitDim(SplitDimOp op, Inputs in) {
  Tensors result = resultOf(op);
  result[0].values = in[0].values;
  return result;
}

Tensors mergeDims(MergeDimsOp op, Inputs in) {
  Tensors result = resultOf(op);
  result[0].values = in[0].values;
  return result;
}

/// The part of a tensor that begins at `offsets` and takes every stride-th element: its strides and
/// where it starts.
std::pair<Shape, int64_t> partOf(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> offsets,
                                 llvm::ArrayRef<int64_t> strides) {
  Shape steps = stridesOf(shape);
  int64_t start = 0;
  for (size_t d = 0; d < steps.size(); ++d) {
    start += offsets[d] * steps[d];
    steps[d] *= strides[d];
  }
  return {steps, start};
}

Tensors slice(SliceOp op, Inputs in) {
  auto [strides, start] = partOf(in[0].shape, op.getOffsets(), op.getStrides());
  return pulled(op, in[0], strides, start);
}

Tensors pad(PadOp op, Inputs in) {
  Tensors result = resultOf(op);
  auto [strides, start] = partOf(result[0].shape, op.getOffsets(), op.getStrides());
  forEachOffset(in[0].shape, strides, start,
                [&](int64_t i, int64_t offset) { result[0].values[offset] = in[0].values[i]; });
  return result;
}

Tensors concat(ConcatOp op, Inputs in) {
  Tensors result = resultOf(op);
  Shape strides = stridesOf(result[0].shape);
  int64_t start = 0;
  for (const Tensor &input : in) {
    forEachOffset(input.shape, strides, start * strides[op.getDimension()],
                  [&](int64_t i, int64_t offset) { result[0].values[offset] = input.values[i]; });
    start += input.shape[op.getDimension()];
  }
  return result;
}

/// Elements of one row of a tensor with rows.
size_t rowSize(const Tensor &table) {
  return static_cast<size_t>(llvm::product_of(llvm::drop_begin(table.shape)));
}

Tensors gather(GatherOp op, Inputs in) {
  Tensors result = resultOf(op);
  const Tensor &table = in[0], &indices = in[1];
  size_t n = rowSize(table);
  for (size_t i = 0; i < indices.values.size() && n > 0; ++i) {
    double row = indices.values[i];
    auto to = result[0].values.begin() + i * n;
    if (std::isnan(row))
      std::fill_n(to, n, NAN);
    if (!(row >= 0 && row < table.shape[0]))
      continue;
    std::copy_n(table.values.begin() + static_cast<size_t>(row) * n, n, to);
  }
  return result;
}

Tensors segmentSum(SegmentSumOp op, Inputs in) {
  Tensors result = resultOf(op);
  const Tensor &input = in[0], &indices = in[1];
  size_t n = rowSize(result[0]);
  for (size_t i = 0; i < indices.values.size(); ++i) {
    double index = indices.values[i];
    if (std::isnan(index))
      llvm::fill(result[0].values, NAN);
    if (!(index >= 0 && index < result[0].shape[0]))
      continue;
    size_t segment = static_cast<size_t>(index);
    for (size_t j = 0; j < n; ++j)
      result[0].values[segment * n + j] += input.values[i * n + j];
  }
  return result;
}

} // namespace

void attachStructure(mlir::MLIRContext &context) {
  attach<ConstantOp, constant>(context);
  attach<IotaOp, iota>(context);
  attach<BroadcastOp, broadcast>(context);
  attach<TransposeOp, transpose>(context);
  attach<SplitDimOp, splitDim>(context);
  attach<MergeDimsOp, mergeDims>(context);
  attach<SliceOp, slice>(context);
  attach<PadOp, pad>(context);
  attach<ConcatOp, concat>(context);
  attach<GatherOp, gather>(context);
  attach<SegmentSumOp, segmentSum>(context);
}

} // namespace weir::reference
