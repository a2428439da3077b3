//===- NonFiniteGuard.cpp - Keeps non-finite values out of checkpoints ----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/NonFiniteGuard.h"
#include "artifact/Actions.h"
#include "artifact/Sharding.h"
#include "runtime/collectives/Consensus.h"
#include "support/Text.h"
#include "support/program/Names.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <span>
#include <tuple>

namespace weir {
namespace {

float asFloat(float number) { return number; }
/// Its bits are the upper half of an f32's.
float asFloat(BFloat16 number) { return std::bit_cast<float>(uint32_t(number.bits) << 16); }

template <class Number, class Visit> void forEachOf(const TensorView &variable, Visit visit) {
  variable.readOwned([&](uint64_t from, std::span<const std::byte> bytes) {
    for (size_t at = 0; at < bytes.size(); at += sizeof(Number)) {
      Number number;
      std::memcpy(&number, bytes.data() + at, sizeof number);
      visit(int64_t((from + at) / sizeof number), asFloat(number));
    }
  });
}

/// Calls `visit(index, value)` for the elements that this process owns; not at all where they are
/// no floats that variables are of. A part of a large tensor is in this process at a time.
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

/// Of each variable the first value that is not finite: its index and what it is as one number,
/// which orders them by index; or none.
constexpr int64_t none = std::numeric_limits<int64_t>::max();
constexpr const char *kinds[] = {"nan", "inf", "-inf"};

std::vector<int64_t> firstNotFinite(const std::vector<TensorView> &variables, Group *group) {
  std::vector<int64_t> first;
  for (const TensorView &variable : variables) {
    int64_t found = none;
    forEachFloat(variable, [&](int64_t index, float value) {
      if (!std::isfinite(value))
        found = std::min<int64_t>(found, index * std::size(kinds) + (std::isnan(value) ? 0
                                                                     : value > 0       ? 1
                                                                                       : 2));
    });
    first.push_back(found);
  }
  if (group)
    for (const auto &theirs :
         collectives::listsFromAll(*group, "the check for non-finite values", first))
      for (size_t i = 0; i < first.size(); ++i)
        first[i] = std::min(first[i], theirs[i]);
  return first;
}

/// "'w' is nan at [3, 4]".
std::string wordsFor(const TensorView &variable, int64_t found) {
  constexpr int64_t count = std::size(kinds);
  return concat("'", variable.name, "' is ", kinds[found % count],
                placeOf(variable, found / count));
}

} // namespace

static void addWritten(const artifact::Program &program, const artifact::Entry &entry,
                       std::set<std::string> &names) {
  for (const artifact::Action *action : artifact::actionsOf(entry)) {
    std::vector<spec::Footprint> footprints = artifact::footprintsOf(program, *action);
    for (size_t i = 0; i < footprints.size(); ++i) {
      const artifact::Ref &ref = *action->operands()->Get(i);
      if (spec::writes(footprints[i].mode) && ref.memory() == artifact::Memory::variable)
        names.insert(program.variables()->Get(ref.index())->name()->str());
    }
  }
}

std::set<std::string> writtenVariables(const artifact::Program &program, std::string_view entry) {
  std::set<std::string> names;
  for (const artifact::Program *one : artifact::programsOf(program))
    for (const artifact::Entry *own : *one->entries())
      if (own->name()->string_view() == entry)
        addWritten(*one, *own, names);
  return names;
}

std::string largestValue(const std::vector<TensorView> &variables, Group *group) {
  // Bits of floats that are not negative order them. The first of equal ones is taken.
  struct Place {
    int64_t bits = -1, variable = 0, index = 0, isNegative = 0;
    bool operator<(const Place &other) const {
      return std::tie(other.bits, variable, index) < std::tie(bits, other.variable, other.index);
    }
  } most;
  for (size_t i = 0; i < variables.size(); ++i)
    if (variables[i].name != amaxName) // it follows what others are
      forEachFloat(variables[i], [&](int64_t index, float value) {
        if (!std::isfinite(value))
          return;
        most = std::min(most, Place{std::bit_cast<int32_t>(std::fabs(value)), int64_t(i), index,
                                    std::signbit(value)});
      });
  if (group) {
    int64_t own[] = {most.bits, most.variable, most.index, most.isNegative};
    for (const auto &theirs :
         collectives::listsFromAll(*group, "the search for the largest value", own))
      most = std::min(most, Place{theirs[0], theirs[1], theirs[2], theirs[3]});
  }
  if (most.bits < 0)
    return "no value is finite";
  float value = std::bit_cast<float>(static_cast<int32_t>(most.bits));
  const TensorView &where = variables[static_cast<size_t>(most.variable)];
  return concat("the largest finite value is ", most.isNegative ? -value : value, ", in '",
                where.name, "'", placeOf(where, most.index));
}

NonFiniteGuard::Given NonFiniteGuard::begin(const std::vector<TensorView> &variables,
                                            const std::set<std::string> &written) {
  Given first;
  std::vector<int64_t> found = firstNotFinite(variables, group);
  for (size_t i = 0; i < variables.size(); ++i) {
    const TensorView &variable = variables[i];
    if (found[i] == none)
      continue;
    given.insert(variable.name);
    if (variable.name == amaxName)
      continue; // a step reads it as no size, and none is left out for it
    auto &which = written.contains(variable.name) ? first.updated : first.kept;
    if (!which)
      which = wordsFor(variable, found[i]);
  }
  return first;
}

std::optional<std::string> NonFiniteGuard::broken(const std::vector<TensorView> &variables) const {
  std::vector<int64_t> found = firstNotFinite(variables, group);
  for (size_t i = 0; i < variables.size(); ++i)
    if (found[i] != none && !given.contains(variables[i].name))
      return wordsFor(variables[i], found[i]);
  return std::nullopt;
}

} // namespace weir
