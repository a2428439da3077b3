//===- Shapes.cpp - Result shapes of ops --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Shapes.h"

#include "ir/weir/ElementTypes.h"
#include "support/Text.h"

using namespace mlir;

namespace weir {

bool fits(ArrayRef<int64_t> shape, int64_t most) {
  int64_t elements = 1;
  for (int64_t size : shape)
    if (__builtin_mul_overflow(elements, std::max<int64_t>(size, 1), &elements))
      return false;
  return elements <= most;
}

/// A tensor of no elements is nothing to compute, and would be divided by.
static bool hasElements(ArrayRef<int64_t> shape) {
  return !llvm::is_contained(shape, 0) && fits(shape);
}

bool isWhole(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && hasElements(tensor.getShape());
}

std::string missingOfTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return "a tensor";
  if (!tensor.hasStaticShape())
    return "a static shape";
  Type element = tensor.getElementType();
  if (!elementOf(element))
    return "elements of type " + elementTypes(type.getContext());
  return hasElements(tensor.getShape()) ? "" : "from 1 to 2^56 elements";
}

RankedTensorType typeLike(Value like, ArrayRef<int64_t> shape) {
  return RankedTensorType::get(shape, tensorType(like).getElementType());
}

Shape withoutAxes(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes) {
  Shape result;
  for (int64_t i = 0; i < int64_t(shape.size()); ++i)
    if (!llvm::is_contained(axes, i))
      result.push_back(shape[i]);
  return result;
}

Shape withoutLast(ArrayRef<int64_t> shape) { return Shape(shape.drop_back()); }

Shape withReplaced(ArrayRef<int64_t> shape, int64_t first, int64_t count, ArrayRef<int64_t> sizes) {
  Shape result(shape.take_front(first));
  result.append(sizes.begin(), sizes.end());
  auto rest = shape.drop_front(first + count);
  result.append(rest.begin(), rest.end());
  return result;
}

Shape transposed(ArrayRef<int64_t> shape, ArrayRef<int64_t> permutation) {
  Shape result;
  for (int64_t source : permutation)
    result.push_back(shape[source]);
  return result;
}

// The number of windows along one dimension. Dividing rounds towards zero, which would make one
// window of an extent that is a little too small.
static int64_t windows(int64_t extent, int64_t window, int64_t stride) {
  return extent < window ? 0 : (extent - window) / stride + 1;
}

Shape convolutionShape(ArrayRef<int64_t> input, ArrayRef<int64_t> weight, ArrayRef<int64_t> strides,
                       ArrayRef<int64_t> padding) {
  return {input[0], weight[0], windows(input[2] + 2 * padding[0], weight[2], strides[0]),
          windows(input[3] + 2 * padding[1], weight[3], strides[1])};
}

Shape poolShape(ArrayRef<int64_t> input, ArrayRef<int64_t> window, ArrayRef<int64_t> strides) {
  size_t rank = input.size();
  Shape result(input.drop_back(2));
  result.push_back(windows(input[rank - 2], window[0], strides[0]));
  result.push_back(windows(input[rank - 1], window[1], strides[1]));
  return result;
}

std::string printed(ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "scalar";
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(shape, stream, "x");
  return text;
}

LogicalResult expectShape(Operation *op, StringRef what, Value value, ArrayRef<int64_t> shape) {
  if (shapeOf(value) == shape)
    return success();
  return op->emitOpError() << what << " should be " << printed(shape) << ", but is "
                           << printed(shapeOf(value));
}

static LogicalResult expectSameElements(Operation *op, RankedTensorType a, RankedTensorType b) {
  Type left = a.getElementType(), right = b.getElementType();
  if (left == right)
    return success();
  return op->emitOpError() << "needs equal element types, but has " << left << " and " << right;
}

LogicalResult expectSameElements(Operation *op, Value a, Value b) {
  return expectSameElements(op, tensorType(a), tensorType(b));
}

LogicalResult expectInferred(Operation *op) {
  SmallVector<Type, 1> types;
  if (failed(cast<InferTypeOpInterface>(op).inferReturnTypes(
          op->getContext(), op->getLoc(), op->getOperands(), op->getRawDictionaryAttrs(),
          op->getPropertiesStorage(), op->getRegions(), types)))
    return failure();
  auto expected = cast<RankedTensorType>(types[0]);
  Value result = op->getResult(0);
  if (failed(expectSameElements(op, expected, tensorType(result))))
    return failure();
  return expectShape(op, "the result", result, expected.getShape());
}

} // namespace weir
