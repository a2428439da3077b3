//===- StructureOps.cpp - Layout and indexing, reference semantics --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each is its definition in WeirStructure.td, index by index.
//
//===----------------------------------------------------------------------===//

#include "ir/reference/Models.h"
#include <algorithm>

namespace weir::reference {
namespace {

Tensor resultOf(mlir::Operation *op) { return Tensor(shapeOf(op->getResult(0))); }

Tensors constant(ConstantOp op, Inputs) {
  double value;
  if (auto number = llvm::dyn_cast<mlir::FloatAttr>(op.getValue()))
    value = number.getValueAsDouble();
  else if (auto number = llvm::cast<mlir::IntegerAttr>(op.getValue());
           number.getType().isSignlessInteger() && !number.getType().isInteger(1))
    value = static_cast<double>(number.getValue().getSExtValue());
  else
    value = static_cast<double>(number.getValue().getZExtValue());
  return {Tensor(shapeOf(op.getResult()), value)};
}

Tensors iota(IotaOp op, Inputs) {
  Tensor result = resultOf(op);
  forEachIndex(result.shape, [&](llvm::ArrayRef<int64_t> index) {
    result.at(index) = static_cast<double>(index[op.getDimension()]);
  });
  return {result};
}

Tensors broadcast(BroadcastOp op, Inputs in) {
  Tensor result = resultOf(op);
  forEachIndex(result.shape, [&](llvm::ArrayRef<int64_t> index) {
    Shape from;
    for (auto [size, dimension] : llvm::zip(in[0].shape, op.getDimensions()))
      from.push_back(size == 1 ? 0 : index[dimension]);
    result.at(index) = in[0].at(from);
  });
  return {result};
}

Tensors transpose(TransposeOp op, Inputs in) {
  Tensor result = resultOf(op);
  forEachIndex(result.shape, [&](llvm::ArrayRef<int64_t> index) {
    Shape from(index.size());
    for (auto [i, dimension] : llvm::enumerate(op.getPermutation()))
      from[dimension] = index[i];
    result.at(index) = in[0].at(from);
  });
  return {result};
}

// Row-major elements keep their order when dimensions are cut or joined.
Tensors splitDim(SplitDimOp op, Inputs in) {
  Tensor result = resultOf(op);
  result.values = in[0].values;
  return {result};
}

Tensors mergeDims(MergeDimsOp op, Inputs in) {
  Tensor result = resultOf(op);
  result.values = in[0].values;
  return {result};
}

/// offsets + index * strides.
Shape stepped(llvm::ArrayRef<int64_t> index, llvm::ArrayRef<int64_t> offsets,
              llvm::ArrayRef<int64_t> strides) {
  Shape result;
  for (size_t d = 0; d < index.size(); ++d)
    result.push_back(offsets[d] + index[d] * strides[d]);
  return result;
}

Tensors slice(SliceOp op, Inputs in) {
  Tensor result = resultOf(op);
  forEachIndex(result.shape, [&](llvm::ArrayRef<int64_t> index) {
    result.at(index) = in[0].at(stepped(index, op.getOffsets(), op.getStrides()));
  });
  return {result};
}

Tensors pad(PadOp op, Inputs in) {
  Tensor result = resultOf(op);
  forEachIndex(in[0].shape, [&](llvm::ArrayRef<int64_t> index) {
    result.at(stepped(index, op.getOffsets(), op.getStrides())) = in[0].at(index);
  });
  return {result};
}

Tensors concat(ConcatOp op, Inputs in) {
  Tensor result = resultOf(op);
  int64_t start = 0;
  for (const Tensor &input : in) {
    forEachIndex(input.shape, [&](llvm::ArrayRef<int64_t> index) {
      Shape to(index);
      to[op.getDimension()] += start;
      result.at(to) = input.at(index);
    });
    start += input.shape[op.getDimension()];
  }
  return {result};
}

Tensors gather(GatherOp op, Inputs in) {
  Tensor result = resultOf(op);
  const Tensor &table = in[0], &indices = in[1];
  forEachIndex(result.shape, [&](llvm::ArrayRef<int64_t> index) {
    size_t rank = indices.shape.size();
    int64_t row = static_cast<int64_t>(indices.at(index.take_front(rank)));
    Shape from{std::clamp<int64_t>(row, 0, table.shape[0] - 1)};
    from.append(index.begin() + rank, index.end());
    result.at(index) = table.at(from);
  });
  return {result};
}

Tensors segmentSum(SegmentSumOp op, Inputs in) {
  Tensor result = resultOf(op);
  const Tensor &input = in[0], &indices = in[1];
  forEachIndex(input.shape, [&](llvm::ArrayRef<int64_t> index) {
    size_t rank = indices.shape.size();
    int64_t segment = static_cast<int64_t>(indices.at(index.take_front(rank)));
    if (segment < 0 || segment >= result.shape[0])
      return;
    Shape to{segment};
    to.append(index.begin() + rank, index.end());
    result.at(to) += input.at(index);
  });
  return {result};
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
