//===- BuiltinsLayout.cpp - Shapes and indices ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Builtins.h"
#include "ir/weir/structure/Structure.h"

namespace weir::elab {

static Value transposition(BuiltinCall &call) {
  const Tensor *tensor = call.tensor(0);
  if (!tensor)
    return {};
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, tensor->rank()));
  if (!call.has(1)) {
    if (tensor->rank() < 2)
      return call.wrong(0, "a tensor of at least two dimensions");
    std::swap(permutation[tensor->rank() - 2], permutation[tensor->rank() - 1]);
    return call.elaborator.tensors.transpose(*tensor, permutation, call.range);
  }
  auto given = call.integers(1);
  if (!given)
    return {};
  llvm::SmallVector<bool> seen(tensor->rank());
  bool good = int64_t(given->size()) == tensor->rank();
  for (int64_t &axis : *given) {
    if (axis < 0)
      axis += tensor->rank();
    good = good && axis >= 0 && axis < tensor->rank() && !seen[axis];
    if (good)
      seen[axis] = true;
  }
  if (!good) {
    call.elaborator.reporter.error(call.rangeOf(1), call.what(1) +
                                                        " must name every dimension of " +
                                                        describe(*tensor) + " once");
    return {};
  }
  return call.elaborator.tensors.transpose(*tensor, *given, call.range);
}

static std::string listText(const std::vector<int64_t> &numbers) {
  std::string text;
  for (int64_t number : numbers)
    text += (text.empty() ? "" : ", ") + std::to_string(number);
  return "[" + text + "]";
}

/// `split(x, 3, axis)`: equal parts; `split(x, [2, 5], axis)`: parts of these sizes.
static Value split(BuiltinCall &call) {
  const Tensor *tensor = call.tensor(0);
  auto parts = call.integers(1);
  std::optional<int64_t> axis;
  if (tensor)
    axis = call.axis(2, *tensor, -1);
  if (!parts || !axis)
    return {};
  int64_t size = tensor->dims[*axis].size;
  if (const auto *number = call.value(1).get<int64_t>()) {
    if (*number < 1 || size % *number != 0) {
      call.elaborator.reporter.error(call.rangeOf(1), "`split` cannot cut the dimension " +
                                                          describe(tensor->dims[*axis]) + " of " +
                                                          describe(*tensor) + " into " +
                                                          std::to_string(*number) + " equal parts");
      return {};
    }
    parts->assign(*number, size / *number);
  }
  int64_t left = size;
  bool possible = true;
  for (int64_t part : *parts) {
    possible = possible && part > 0 && part <= left;
    left -= possible ? part : 0;
  }
  if (left != 0 || !possible) {
    call.elaborator.reporter.error(
        call.rangeOf(1), "`split` cannot cut " + describe(tensor->dims[*axis]) + " into parts of " +
                             listText(*parts) + ": they must be positive and add up to it");
    return {};
  }
  std::vector<Value> values;
  int64_t begin = 0;
  for (int64_t part : *parts) {
    values.push_back(
        call.elaborator.tensors.slice(*tensor, *axis, begin, begin + part, call.range));
    begin += part;
  }
  return values.size() == 1 ? values.front() : Value::tuple(std::move(values));
}

static Value concat(BuiltinCall &call) {
  const std::vector<Value> *list = call.value(0).elements();
  if (!list || list->empty())
    return call.wrong(0, "a list of tensors");
  std::vector<Tensor> tensors;
  for (const Value &value : *list) {
    if (value.isPoison())
      return {};
    if (!value.get<Tensor>())
      return call.wrong(0, "a list of tensors");
    tensors.push_back(*value.get<Tensor>());
  }
  auto axis = call.axis(1, tensors.front(), -1);
  if (!axis)
    return {};
  Dims dims = tensors.front().dims;
  dims[*axis] = unnamed(0);
  std::vector<mlir::Value> values;
  for (const Tensor &tensor : tensors) {
    bool fits =
        tensor.rank() == int64_t(dims.size()) && tensor.element() == tensors.front().element();
    for (int64_t i = 0; fits && i < tensor.rank(); ++i)
      fits = i == *axis || tensor.dims[i].size == dims[i].size;
    if (!fits) {
      call.elaborator.reporter.error(
          call.rangeOf(0), "`concat` wants tensors that differ in one dimension only, not " +
                               describe(tensors.front()) + " and " + describe(tensor));
      return {};
    }
    dims[*axis].size += tensor.dims[*axis].size;
    values.push_back(tensor.value);
  }
  return Tensor{ConcatOp::create(call.builder(), call.location(), values, *axis), dims};
}

static Value splitDim(BuiltinCall &call) {
  const Tensor *tensor = call.tensor(0);
  auto axis = tensor ? call.axis(1, *tensor) : std::nullopt;
  auto sizes = call.integers(2);
  if (!axis || !sizes)
    return {};
  Dims into;
  int64_t product = 1;
  bool good = !sizes->empty();
  for (int64_t size : *sizes) {
    good = good && size > 0 && !__builtin_mul_overflow(product, size, &product);
    into.push_back(unnamed(size));
  }
  if (!good || product != tensor->dims[*axis].size) {
    call.elaborator.reporter.error(
        call.rangeOf(2), "`split_dim` cannot make " + describe(tensor->dims[*axis]) + " into " +
                             listText(*sizes) + ": they must be positive and multiply to it");
    return {};
  }
  return call.elaborator.tensors.splitDim(*tensor, *axis, into, call.range);
}

static Value mergeDims(BuiltinCall &call) {
  const Tensor *tensor = call.tensor(0);
  auto first = tensor ? call.axis(1, *tensor) : std::nullopt;
  auto count = call.integer(2);
  if (!first || !count)
    return {};
  if (*count < 1 || *count > tensor->rank() - *first) {
    call.elaborator.reporter.error(call.rangeOf(2),
                                   "`merge_dims` cannot merge " + std::to_string(*count) +
                                       " dimensions from " + std::to_string(*first) +
                                       " on: " + describe(*tensor));
    return {};
  }
  return call.elaborator.tensors.mergeDims(*tensor, *first, *count, call.range);
}

static Value iota(BuiltinCall &call) {
  auto size = call.integer(0);
  if (!size)
    return {};
  if (*size < 1 || *size > INT32_MAX)
    return call.wrong(0, "from 1 to 2147483647");
  Dims dims = {unnamed(*size)};
  Elaborator &e = call.elaborator;
  return Tensor{
      IotaOp::create(call.builder(), call.location(), e.tensors.type(dims, e.tensors.i32()), 0),
      dims};
}

static Value position(BuiltinCall &call) {
  const Tensor *tensor = call.tensor(0);
  auto axis = tensor ? call.axis(1, *tensor) : std::nullopt;
  if (!axis)
    return {};
  Elaborator &e = call.elaborator;
  return Tensor{IotaOp::create(call.builder(), call.location(),
                               e.tensors.type(tensor->dims, e.tensors.i32()), *axis),
                tensor->dims};
}

static Value rank(BuiltinCall &call) {
  const Tensor *tensor = call.tensor(0);
  return tensor ? Value(tensor->rank()) : Value();
}

static Value size(BuiltinCall &call) {
  if (const std::vector<Value> *list = call.value(0).elements())
    return int64_t(list->size());
  const Tensor *tensor = call.tensor(0);
  if (!tensor)
    return {};
  if (!call.has(1))
    return tensor->elements();
  auto axis = call.axis(1, *tensor);
  return axis ? Value(tensor->dims[*axis].size) : Value();
}

const std::vector<Builtin> layoutBuiltins = {
    {"transpose", "x, dims?", transposition},
    {"split", "x, parts, axis?", split},
    {"concat", "tensors, axis?", concat},
    {"split_dim", "x, axis, sizes", splitDim},
    {"merge_dims", "x, first, count", mergeDims},
    {"iota", "size", iota},
    {"position", "x, axis", position},
    {"rank", "x", rank},
    {"size", "x, axis?", size},
};

} // namespace weir::elab
