//===- Verify.cpp - Verifiers of constants and layout --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Shapes.h"
#include "ir/weir/structure/Structure.h"
#include <limits>

using namespace mlir;

namespace weir {

LogicalResult ConstantOp::verify() {
  // C1
  Type element = tensorType(getResult()).getElementType();
  if (getValue().getType() != element)
    return emitOpError() << "has a value of type " << getValue().getType()
                         << " for elements of type " << element;
  return success();
}

// Whether `dimension` is one of the value's.
static LogicalResult expectDimension(Operation *op, Value value, int64_t dimension) {
  int64_t rank = tensorType(value).getRank();
  if (dimension >= 0 && dimension < rank)
    return success();
  return op->emitOpError() << "has no dimension " << dimension << " among the " << rank << " of "
                           << printed(shapeOf(value));
}

LogicalResult IotaOp::verify() {
  // C1
  if (failed(expectDimension(*this, getResult(), getDimension())))
    return failure();
  // C2
  constexpr int64_t mostPlaces = int64_t(1) << 31;
  if (int64_t size = shapeOf(getResult())[getDimension()]; size > mostPlaces)
    return emitOpError() << "counts to " << size << ", and at most to " << mostPlaces << " in i32";
  return success();
}

LogicalResult BroadcastOp::verify() {
  auto input = shapeOf(getInput()), result = shapeOf(getResult());
  auto dimensions = getDimensions();
  // C1
  if (dimensions.size() != input.size())
    return emitOpError() << "needs " << input.size()
                         << " dimensions, one for each of the input's, but has "
                         << dimensions.size();
  for (auto [i, dimension] : llvm::enumerate(dimensions)) {
    if (failed(expectDimension(*this, getResult(), dimension)))
      return failure();
    if (i > 0 && dimensions[i - 1] >= dimension)
      return emitOpError("needs strictly increasing dimensions");
  }
  // C2
  for (auto [i, dimension] : llvm::enumerate(dimensions))
    if (input[i] != 1 && input[i] != result[dimension])
      return emitOpError() << "cannot make size " << input[i] << " of dimension " << i << " into "
                           << result[dimension];
  // C3
  return expectSameElements(*this, getInput(), getResult());
}

LogicalResult TransposeOp::verify() {
  // C1
  Shape sorted(getPermutation());
  llvm::sort(sorted);
  Shape all(llvm::to_vector(llvm::seq<int64_t>(0, tensorType(getInput()).getRank())));
  if (sorted != all)
    return emitOpError() << "needs a permutation of the input's " << all.size() << " dimensions";
  // C2
  return expectInferred(*this);
}

LogicalResult SplitDimOp::verify() {
  // C1
  if (failed(expectDimension(*this, getInput(), getDimension())))
    return failure();
  // C2
  int64_t size = shapeOf(getInput())[getDimension()];
  if (!fits(getSizes()) || llvm::product_of(getSizes()) != size)
    return emitOpError() << "cannot split size " << size << " into " << printed(getSizes());
  return expectInferred(*this);
}

LogicalResult MergeDimsOp::verify() {
  auto input = shapeOf(getInput());
  int64_t first = getFirst(), count = getCount();
  // C1
  if (first < 0 || count < 0 || first > int64_t(input.size()) - count)
    return emitOpError() << "cannot merge " << count << " dimensions from " << first
                         << " on: " << printed(input) << " has " << input.size();
  // C2
  return expectInferred(*this);
}

// C1 to C3 of slice and pad: elements of `small` at offset + i * stride of `large`.
static LogicalResult verifyStrided(Operation *op, Value small, Value large,
                                   ArrayRef<int64_t> offsets, ArrayRef<int64_t> strides) {
  auto inner = shapeOf(small), outer = shapeOf(large);
  // C1
  if (inner.size() != outer.size() || offsets.size() != inner.size() ||
      strides.size() != inner.size())
    return op->emitOpError("needs equal ranks, and an offset and a stride for each dimension");
  if (llvm::any_of(strides, [](int64_t stride) { return stride <= 0; }))
    return op->emitOpError("needs positive strides");
  // C2
  for (size_t i = 0; i < inner.size(); ++i) {
    int64_t last;
    if (__builtin_mul_overflow(inner[i] - 1, strides[i], &last) ||
        __builtin_add_overflow(offsets[i], last, &last))
      last = std::numeric_limits<int64_t>::max();
    if (offsets[i] < 0 || (inner[i] > 0 && last >= outer[i]))
      return op->emitOpError() << "reaches from " << offsets[i] << " to " << last
                               << " in dimension " << i << " of size " << outer[i];
  }
  // C3
  return expectSameElements(op, small, large);
}

LogicalResult SliceOp::verify() {
  return verifyStrided(*this, getResult(), getInput(), getOffsets(), getStrides());
}

LogicalResult PadOp::verify() {
  return verifyStrided(*this, getInput(), getResult(), getOffsets(), getStrides());
}

LogicalResult ConcatOp::verify() {
  // C1
  if (getInputs().empty())
    return emitOpError("needs an input");
  Value first = getInputs().front();
  if (failed(expectDimension(*this, first, getDimension())))
    return failure();
  for (Value input : getInputs().drop_front()) {
    Shape like(shapeOf(input));
    if (like.size() != shapeOf(first).size())
      return emitOpError("needs inputs of equal rank");
    like[getDimension()] = shapeOf(first)[getDimension()];
    if (ArrayRef<int64_t>(like) != shapeOf(first))
      return emitOpError() << "cannot join " << printed(shapeOf(first)) << " and "
                           << printed(shapeOf(input)) << " along dimension " << getDimension();
    if (failed(expectSameElements(*this, first, input)))
      return failure();
  }
  // C2
  return expectInferred(*this);
}

} // namespace weir
