//===- TensorBuilder.cpp - Emits ops on tensors ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/TensorBuilder.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/indexing/Indexing.h"
#include "ir/weir/reduction/Reduction.h"
#include "ir/weir/structure/Structure.h"

namespace weir::elab {

//===----------------------------------------------------------------------===//
// Constants and broadcasting
//===----------------------------------------------------------------------===//

mlir::RankedTensorType TensorBuilder::type(const Dims &dims, mlir::Type element) {
  return mlir::RankedTensorType::get(sizes(dims), element);
}

Value TensorBuilder::constant(double value, mlir::Type element, const Dims &dims, Range range) {
  mlir::TypedAttr attribute;
  if (element.isF32()) {
    if (!fitsFloat(value)) {
      error(range, "the number " + describe(value) + " does not fit into an f32");
      return {};
    }
    // As the C compiler rounds: to the nearest float.
    attribute = opBuilder.getF32FloatAttr(static_cast<float>(value));
  } else if (element.isInteger(1)) {
    attribute = opBuilder.getBoolAttr(value != 0);
  } else {
    if (value < INT32_MIN || value > INT32_MAX) {
      // The largest int is 2^63 as a double, which is none.
      int64_t number = value >= 0x1p63 ? INT64_MAX : int64_t(value);
      error(range, "the int " + std::to_string(number) + " does not fit into an i32");
      return {};
    }
    attribute = opBuilder.getI32IntegerAttr(int32_t(value));
  }
  return Tensor{ConstantOp::create(opBuilder, location(range), type(dims, element), attribute),
                dims};
}

mlir::Value TensorBuilder::scalar(double value, Range range) {
  return constant(value, f32(), {}, range).get<Tensor>()->value;
}

const Tensor *TensorBuilder::asTensor(Value &value, mlir::Type element, Range range) {
  if (value.isNumber() && (element.isF32() || value.get<int64_t>()))
    value = constant(value.number(), element, {}, range);
  return value.get<Tensor>();
}

std::optional<Dims> TensorBuilder::broadcastShapes(const Tensor &lhs, const Tensor &rhs,
                                                   const std::string &what, Range range) {
  size_t rank = std::max(lhs.dims.size(), rhs.dims.size());
  Dims result(rank);
  for (size_t i = 1; i <= rank; ++i) {
    const Dim *a = i <= lhs.dims.size() ? &lhs.dims[lhs.dims.size() - i] : nullptr;
    const Dim *b = i <= rhs.dims.size() ? &rhs.dims[rhs.dims.size() - i] : nullptr;
    if (!a || !b) {
      result[rank - i] = a ? *a : *b;
    } else if (a->size == b->size) {
      result[rank - i] = a->name.empty() ? *b : *a;
    } else if (a->size == 1 || b->size == 1) {
      result[rank - i] = a->size == 1 ? *b : *a;
    } else {
      std::string place = i == 1 ? "last dimension"
                                 : std::to_string(i) +
                                       (i == 2   ? "nd"
                                        : i == 3 ? "rd"
                                                 : "th") +
                                       " dimension from the end";
      Diagnostic &report =
          error(range, "the shapes of " + what + " do not fit: " + describe(lhs) + " and " +
                           describe(rhs) + "; the " + place + " is " + std::to_string(a->size) +
                           " and " + std::to_string(b->size));
      for (const Dim *dim : {a, b})
        if (dim->bound.valid() && !dim->name.empty())
          report.note(dim->bound, "`" + dim->name + "` is " + std::to_string(dim->size) +
                                      (dim->boundBy.empty() ? "" : ", bound by " + dim->boundBy));
      return std::nullopt;
    }
  }
  return result;
}

Tensor TensorBuilder::broadcast(const Tensor &tensor, const Dims &dims, Range range) {
  if (sameSizes(tensor.dims, dims))
    return {tensor.value, dims};
  llvm::SmallVector<int64_t> dimensions;
  size_t offset = dims.size() - tensor.dims.size();
  for (size_t i = 0; i < tensor.dims.size(); ++i)
    dimensions.push_back(offset + i);
  return {BroadcastOp::create(opBuilder, location(range), type(dims, tensor.element()),
                              tensor.value, dimensions),
          dims};
}

Tensor TensorBuilder::cast(const Tensor &tensor, mlir::Type element, Range range) {
  if (tensor.element() == element)
    return tensor;
  bool byF32 = tensor.isLow() || (isLow(element) && !tensor.isFloat());
  if (byF32 && !element.isF32())
    return cast(cast(tensor, f32(), range), element, range);
  return {CastOp::create(opBuilder, location(range), type(tensor.dims, element), tensor.value),
          tensor.dims};
}

bool TensorBuilder::unify(const Value &lhs, const Value &rhs, const std::string &what, Range range,
                          Tensor &left, Tensor &right) {
  const Tensor *a = lhs.get<Tensor>(), *b = rhs.get<Tensor>();
  for (const Value *value : {&lhs, &rhs}) {
    if (value->get<Tensor>() || value->isNumber())
      continue;
    if (!value->isPoison())
      error(range, what + " wants numbers or tensors, not " + value->describe());
    return false;
  }
  assert((a || b) && "two numbers are not for unify");
  for (const Tensor *tensor : {a, b}) {
    if (!tensor || tensor->isFloat() || tensor->isInt())
      continue;
    error(range, what + " wants numbers, not " + describe(*tensor))
        .help("`f32(x)` and `i32(x)` convert");
    return false;
  }
  if (a && b) {
    if (a->element() != b->element()) {
      error(range,
            what + " wants equal element types, not " + describe(*a) + " and " + describe(*b))
          .help("`f32(x)` and `i32(x)` convert");
      return false;
    }
    auto dims = broadcastShapes(*a, *b, what, range);
    if (!dims)
      return false;
    left = broadcast(*a, *dims, range);
    right = broadcast(*b, *dims, range);
    return true;
  }
  const Tensor &tensor = a ? *a : *b;
  const Value &number = a ? rhs : lhs;
  if (tensor.isInt() && !number.get<int64_t>()) {
    error(range,
          what + " wants equal element types, not " + lhs.describe() + " and " + rhs.describe())
        .help("`f32(x)` converts");
    return false;
  }
  Value splat = constant(number.number(), tensor.element(), tensor.dims, range);
  if (!splat.get<Tensor>())
    return false;
  left = a ? *a : *splat.get<Tensor>();
  right = b ? *b : *splat.get<Tensor>();
  return true;
}

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

Tensor TensorBuilder::transpose(const Tensor &tensor, llvm::ArrayRef<int64_t> permutation,
                                Range range) {
  Dims dims;
  for (int64_t from : permutation)
    dims.push_back(tensor.dims[from]);
  return {TransposeOp::create(opBuilder, location(range), tensor.value, permutation), dims};
}

Tensor TensorBuilder::splitDim(const Tensor &tensor, int64_t dim, const Dims &into, Range range) {
  Dims dims(tensor.dims.begin(), tensor.dims.begin() + dim);
  dims.insert(dims.end(), into.begin(), into.end());
  dims.insert(dims.end(), tensor.dims.begin() + dim + 1, tensor.dims.end());
  return {SplitDimOp::create(opBuilder, location(range), tensor.value, dim, sizes(into)), dims};
}

Tensor TensorBuilder::mergeDims(const Tensor &tensor, int64_t first, int64_t count, Range range) {
  Dim merged = unnamed(1);
  for (int64_t i = first; i < first + count; ++i)
    merged = count == 1 || merged.size == 1 ? (tensor.dims[i].size == 1 ? merged : tensor.dims[i])
                                            : unnamed(merged.size * tensor.dims[i].size);
  Dims dims(tensor.dims.begin(), tensor.dims.begin() + first);
  dims.push_back(merged);
  dims.insert(dims.end(), tensor.dims.begin() + first + count, tensor.dims.end());
  return {MergeDimsOp::create(opBuilder, location(range), tensor.value, first, count), dims};
}

Tensor TensorBuilder::slice(const Tensor &tensor, int64_t dim, int64_t begin, int64_t end,
                            Range range) {
  if (begin == 0 && end == tensor.dims[dim].size)
    return tensor;
  Dims dims = tensor.dims;
  dims[dim] = unnamed(end - begin);
  llvm::SmallVector<int64_t> offsets(dims.size(), 0), strides(dims.size(), 1);
  offsets[dim] = begin;
  return {SliceOp::create(opBuilder, location(range), type(dims, tensor.element()), tensor.value,
                          offsets, strides),
          dims};
}

Tensor TensorBuilder::gather(const Tensor &tensor, const Tensor &indices, Range range) {
  Dims dims = indices.dims;
  dims.insert(dims.end(), tensor.dims.begin() + 1, tensor.dims.end());
  return {GatherOp::create(opBuilder, location(range), tensor.value, indices.value), dims};
}

Tensor TensorBuilder::reduce(const Tensor &tensor, Reduction kind, llvm::ArrayRef<int64_t> axes,
                             Range range) {
  if (axes.empty())
    return tensor;
  Dims dims;
  for (int64_t i = 0; i < tensor.rank(); ++i)
    if (!llvm::is_contained(axes, i))
      dims.push_back(tensor.dims[i]);
  return {ReduceOp::create(opBuilder, location(range), tensor.value, kind, axes), dims};
}

} // namespace weir::elab
