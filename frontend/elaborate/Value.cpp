//===- Value.cpp - What an expression means -------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Value.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/Shapes.h"

#include <charconv>
#include <cmath>

namespace weir::elab {

Value Value::list(std::vector<Value> elements) {
  Value value;
  value.storage = std::make_shared<List>(List{std::move(elements)});
  return value;
}

Value Value::tuple(std::vector<Value> elements) {
  Value value;
  value.storage = std::make_shared<Tuple>(Tuple{std::move(elements)});
  return value;
}

const std::vector<Value> *Value::elements() const {
  const auto *list = get<std::shared_ptr<List>>();
  return list ? &(*list)->elements : nullptr;
}

const std::vector<Value> *Value::members() const {
  const auto *tuple = get<std::shared_ptr<Tuple>>();
  return tuple ? &(*tuple)->members : nullptr;
}

bool Value::isStatic() const {
  if (get<Tensor>() || get<Ratio>() || get<std::shared_ptr<Instance>>() || members())
    return false;
  if (const auto *list = elements()) {
    for (const Value &element : *list)
      if (!element.isStatic())
        return false;
  }
  return !isPoison();
}

std::string describe(const Dim &dim) {
  return dim.name.empty() ? std::to_string(dim.size) : dim.name + " = " + std::to_string(dim.size);
}

std::string describe(const Dims &dims) {
  std::string text = "[";
  for (const Dim &dim : dims)
    text += (&dim == &dims.front() ? "" : ", ") + describe(dim);
  return text + "]";
}

std::string describe(mlir::Type element) { return nameOf(*elementOf(element)); }

std::string describe(const Tensor &tensor) {
  std::string element = describe(tensor.element());
  return tensor.rank() == 0 ? "a scalar " + element : element + describe(tensor.dims);
}

std::string describe(double number) {
  char text[32];
  auto end = std::to_chars(text, text + sizeof(text), number).ptr;
  std::string result(text, end);
  bool whole = result.find_first_not_of("-0123456789") == std::string::npos;
  return whole ? result + ".0" : result;
}

std::string Value::describe() const {
  if (const auto *number = get<int64_t>())
    return "the int " + std::to_string(*number);
  if (const auto *number = get<double>())
    return "the float " + elab::describe(*number);
  if (const auto *truth = get<bool>())
    return *truth ? "`true`" : "`false`";
  if (const auto *text = get<std::string>())
    return "the text \"" + *text + "\"";
  if (const auto *tensor = get<Tensor>())
    return elab::describe(*tensor);
  if (get<None>())
    return "`none`";
  if (get<Ratio>())
    return "a ratio";
  if (get<Initializer>())
    return "an initial value";
  if (get<std::shared_ptr<Instance>>())
    return "an instance of a block";
  if (elements())
    return "a list";
  if (members())
    return std::to_string(members()->size()) + " values";
  return "nothing";
}

bool fitsFloat(double number) { return std::isfinite(static_cast<float>(number)); }

bool sameSizes(const Dims &a, const Dims &b) {
  if (a.size() != b.size())
    return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].size != b[i].size)
      return false;
  return true;
}

std::vector<int64_t> sizes(const Dims &dims) {
  std::vector<int64_t> result;
  for (const Dim &dim : dims)
    result.push_back(dim.size);
  return result;
}

Dim unnamed(int64_t size) {
  Dim dim;
  dim.size = size;
  return dim;
}

bool fits(const Dims &dims, int64_t times) {
  llvm::SmallVector<int64_t> shape{times};
  for (const Dim &dim : dims)
    shape.push_back(dim.size);
  return weir::fits(shape);
}

} // namespace weir::elab
