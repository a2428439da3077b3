//===- Finite.cpp - What must not get into a checkpoint -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/Finite.h"
#include "runtime/artifact/Actions.h"
#include "runtime/base/Names.h"
#include "runtime/base/Text.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <span>

namespace weir {
namespace {

float valueOf(float number) { return number; }
/// Its bits are the upper half of an f32's.
float valueOf(BFloat16 number) { return std::bit_cast<float>(uint32_t(number.bits) << 16); }

template <class Number, class Visit> void forEachOf(const TensorView &variable, Visit visit) {
  constexpr size_t most = 1 << 20;
  size_t count = variable.size / sizeof(Number);
  std::vector<Number> some(std::min(count, most));
  for (size_t from = 0; from < count; from += some.size()) {
    some.resize(std::min(some.size(), count - from));
    variable.read(from * sizeof(Number), std::as_writable_bytes(std::span(some)));
    for (size_t i = 0; i < some.size(); ++i)
      if (!visit(from + i, valueOf(some[i])))
        return;
  }
}

/// Calls `visit(index, value)` for the elements in order until it says false; not at all where they
/// are no floats that variables are of. A part of a large tensor is in this process at a time.
template <class Visit> void forEachFloat(const TensorView &variable, Visit visit) {
  if (variable.element == Element::f32)
    forEachOf<float>(variable, visit);
  else if (variable.element == Element::bf16)
    forEachOf<BFloat16>(variable, visit);
}

/// " at [3, 4]" of an element; "" of a tensor without dimensions.
std::string placeOf(const TensorView &variable, int64_t index) {
  std::vector<int64_t> place(variable.shape.size());
  for (size_t d = place.size(); d-- > 0; index /= variable.shape[d])
    place[d] = index % variable.shape[d];
  return place.empty() ? "" : " at " + shapeText(place);
}

/// "'w' is nan at [3, 4]", or nothing.
std::optional<std::string> wordsFor(const TensorView &variable) {
  std::optional<std::string> words;
  forEachFloat(variable, [&](size_t index, float value) {
    if (!std::isfinite(value))
      words = concat("'", variable.name, "' is ",
                     std::isnan(value) ? "nan"
                     : value > 0       ? "inf"
                                       : "-inf",
                     placeOf(variable, index));
    return !words;
  });
  return words;
}

} // namespace

std::set<std::string> writtenVariables(const artifact::Program &program,
                                       const artifact::Entry &entry) {
  std::set<std::string> names;
  for (const artifact::Action *action : artifact::actionsOf(entry)) {
    std::vector<spec::Footprint> footprints = artifact::footprintsOf(program, *action);
    for (size_t i = 0; i < footprints.size(); ++i) {
      const artifact::Ref &ref = *action->operands()->Get(i);
      if (spec::writes(footprints[i].mode) && ref.memory() == artifact::Memory::variable)
        names.insert(program.variables()->Get(ref.index())->name()->str());
    }
  }
  return names;
}

std::string largestValue(const std::vector<TensorView> &variables) {
  const TensorView *where = nullptr;
  size_t index = 0;
  float most = -1, value = 0;
  for (const TensorView &variable : variables) {
    if (variable.name == amaxName)
      continue; // it follows what others are
    forEachFloat(variable, [&](size_t i, float found) {
      if (float size = std::fabs(found); std::isfinite(size) && size > most) {
        where = &variable;
        index = i;
        most = size;
        value = found;
      }
      return true;
    });
  }
  if (!where)
    return "no value is finite";
  return concat("the largest value there is: ", value, ", of '", where->name, "'",
                placeOf(*where, index));
}

Finite::Given Finite::begin(const std::vector<TensorView> &variables,
                            const std::set<std::string> &written) {
  Given first;
  for (const TensorView &variable : variables)
    if (auto words = wordsFor(variable)) {
      given.insert(variable.name);
      if (variable.name == amaxName)
        continue; // a step reads it as no size, and none is left out for it
      auto &which = written.contains(variable.name) ? first.updated : first.kept;
      if (!which)
        which = words;
    }
  return first;
}

std::optional<std::string> Finite::broken(const std::vector<TensorView> &variables) const {
  for (const TensorView &variable : variables)
    if (!given.contains(variable.name))
      if (auto words = wordsFor(variable))
        return words;
  return std::nullopt;
}

} // namespace weir
