//===- Tensors.cpp - A program's variables as stored tensors --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/checkpoint/Tensors.h"
#include "support/NearestName.h"
#include "support/Text.h"
#include "support/Utf8.h"
#include "support/program/Names.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

namespace weir {

StoredTensor stored(const TensorView &variable) {
  StoredTensor tensor{variable.name, rowOf(variable.element).safetensors, variable.shape, nullptr,
                      variable.size};
  tensor.owned = [variable](const StoredTensor::Visit &visit) { variable.readOwned(visit); };
  return tensor;
}

namespace {
template <typename Wanted>
std::vector<StoredTensor> storedWhere(const std::vector<TensorView> &variables, Wanted wanted) {
  std::vector<StoredTensor> tensors;
  for (const TensorView &variable : variables)
    if (wanted(variable.role))
      tensors.push_back(stored(variable));
  return tensors;
}
} // namespace

std::vector<StoredTensor> storedParameters(const std::vector<TensorView> &variables) {
  return storedWhere(variables,
                     [](artifact::Role role) { return role == artifact::Role::parameter; });
}

std::vector<StoredTensor> storedState(const std::vector<TensorView> &variables) {
  return storedWhere(variables,
                     [](artifact::Role role) { return role != artifact::Role::parameter; });
}

std::vector<StoredTensor> storedLossScale() {
  std::vector<StoredTensor> tensors;
  for (std::string_view name : {runLossScaleName, runGoodStepsName}) {
    name.remove_prefix(std::string_view(runPrefix).size());
    tensors.push_back(
        {std::string(name), rowOf(Element::i32).safetensors, {}, nullptr, sizeOf(Element::i32)});
  }
  return tensors;
}

namespace {

/// The digits and the range of a float; a variable is f32 or bf16.
struct FloatFormat {
  Element element;
  int digits;     ///< significant bits
  double largest; ///< finite number
  bool isVariable;
};
constexpr FloatFormat formats[] = {{Element::f64, 53, std::numeric_limits<double>::max(), false},
                                   {Element::f32, 24, std::numeric_limits<float>::max(), true},
                                   {Element::f16, 11, 65504, false},
                                   {Element::bf16, 8, 0x1.fep127, true}};

const FloatFormat *formatOf(const StoredTensor &tensor) {
  const ElementRow *row = findSafetensors(tensor.dtype);
  for (const FloatFormat &format : formats)
    if (row && row->element == format.element)
      return &format;
  return nullptr;
}

} // namespace

bool converts(const StoredTensor &from, const StoredTensor &to) {
  const FloatFormat *source = formatOf(from), *target = formatOf(to);
  return source && target && target->isVariable;
}

bool isRounded(const StoredTensor &from, const StoredTensor &to) {
  const FloatFormat *source = formatOf(from), *target = formatOf(to);
  return source && target && source->digits > target->digits;
}

void copy(const StoredTensor &tensor, const TensorView &variable) {
  const ElementRow &from = *findSafetensors(tensor.dtype);
  if (from.element == variable.element) {
    assert(tensor.size == variable.size);
    variable.write(0, {tensor.data, tensor.size});
    return;
  }
  size_t count = tensor.size / from.bytes, to = sizeOf(variable.element);
  assert(converts(tensor, stored(variable)) && count * to == variable.size);
  const double largest = formatOf(stored(variable))->largest;
  std::vector<double> some;
  std::vector<std::byte> converted;
  variable.forEachKept([&](uint64_t first, uint64_t size) {
    constexpr size_t most = 1 << 16;
    for (size_t at = first / to, end = (first + size) / to; at < end; at += some.size()) {
      some.resize(std::min(end - at, most));
      loadNumbers(from.element, tensor.data + at * from.bytes, some);
      // Rounding makes no number infinite. One that not even f32 holds is, and is reported as such.
      for (double &number : some)
        if (std::abs(number) <= std::numeric_limits<float>::max())
          number = std::clamp(number, -largest, largest);
        else if (std::isfinite(number))
          number = std::copysign(std::numeric_limits<double>::infinity(), number);
      converted.resize(some.size() * to);
      storeNumbers(variable.element, some, converted.data());
      variable.write(at * to, converted);
    }
  });
}

std::string mismatch(const StoredTensor &variable, const StoredTensor &found, Masters masters) {
  bool converted = masters == Masters::either && converts(found, variable);
  bool type = variable.dtype != found.dtype && !converted, shape = variable.shape != found.shape;
  return type && shape ? "type and shape mismatch"
         : type        ? "type mismatch"
         : shape       ? "shape mismatch"
                       : "";
}

std::vector<std::string> differences(const std::vector<StoredTensor> &wanted,
                                     const std::map<std::string, StoredTensor> &found,
                                     const std::vector<StoredTensor> &optional, Masters masters) {
  std::vector<std::string> lines, names;
  std::set<std::string_view> known;
  auto compare = [&](const StoredTensor &tensor, bool required) {
    names.push_back(tensor.name);
    known.insert(tensor.name);
    auto other = found.find(tensor.name);
    if (other == found.end()) {
      if (required)
        lines.push_back(concat("missing: ", shownName(tensor.name), " ", describe(tensor)));
    } else if (std::string what = mismatch(tensor, other->second, masters); !what.empty()) {
      lines.push_back(concat(what, ": ", shownName(tensor.name), " is ", describe(other->second),
                             " in the file, ", describe(tensor), " in the model"));
    }
  };
  for (const StoredTensor &tensor : wanted)
    compare(tensor, true);
  for (const StoredTensor &tensor : optional)
    compare(tensor, false);
  int hints = mostHints;
  for (const auto &[name, tensor] : found)
    if (!known.contains(name))
      lines.push_back(concat("unexpected: ", shownName(name), " ", describe(tensor),
                             hints-- > 0 ? didYouMean(name, names) : ""));
  return lines;
}

void restore(const std::vector<TensorView> &variables, const SafeTensors &file) {
  for (const TensorView &variable : variables)
    if (auto tensor = file.tensors().find(variable.name); tensor != file.tensors().end()) {
      if (variable.name == amaxName && tensor->second.shape != variable.shape)
        continue; // of other tensors: nobody has asked for it
      copy(tensor->second, variable);
    }
  file.requireIntact();
}

} // namespace weir
