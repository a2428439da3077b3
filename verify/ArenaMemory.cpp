//===- ArenaMemory.cpp - A real arena for the plan interpreter ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/ArenaMemory.h"
#include "ir/plan/PlanOps.h"
#include "ir/weir/ElementTypes.h"
#include <cmath>

namespace weir {

void loadElements(const std::byte *from, mlir::Type element, llvm::MutableArrayRef<double> to) {
  loadNumbers(*elementOf(element), from, to);
}

ArenaMemory::ArenaMemory(mlir::ModuleOp plan) : bytes(plan::memoryOf(plan)), plan(plan) {
  for (auto variable : plan.getOps<plan::VariableOp>())
    variables[variable.getSymName()] = plan::addressOf(plan, variable);
}

void ArenaMemory::clear() {
  stored.clear();
  raw.clear();
  forgotten.clear();
}

int64_t ArenaMemory::addressOf(mlir::Value buffer) {
  auto [found, isNew] = bases.try_emplace(buffer);
  if (isNew) {
    plan::Place place = plan::placeOf(buffer);
    auto use = llvm::dyn_cast<plan::UseOp>(place.memory);
    int64_t start = use ? variables.at(use.getVariable())
                        : plan::addressOf(plan, llvm::cast<plan::AllocOp>(place.memory));
    found->second = {start + place.offset, std::move(place)};
  }
  return found->second.address + movedBy(found->second.place);
}

void ArenaMemory::load(mlir::Value buffer, mlir::Type element, int64_t first,
                       llvm::MutableArrayRef<double> to) {
  loadElements(bytes.data() + addressOf(buffer) + first * storedBytes(element), element, to);
  if (magnitudes && llvm::isa<mlir::FloatType>(element))
    for (double &value : to)
      value = std::abs(value);
}

void ArenaMemory::store(mlir::Value buffer, mlir::Type element, int64_t first,
                        llvm::ArrayRef<double> from) {
  if (stored.empty() || stored.back().buffer != buffer || stored.back().element != element)
    stored.push_back({buffer, element, {}, {}});
  Stored &to = stored.back();
  if (first + from.size() > to.values.size()) {
    to.values.resize(first + from.size(), 0);
    to.known.resize(first + from.size(), false);
  }
  std::copy(from.begin(), from.end(), to.values.begin() + first);
  std::fill_n(to.known.begin() + first, from.size(), true);
}

void ArenaMemory::copy(mlir::Value from, mlir::Value to, int64_t size) {
  auto begin = bytes.begin() + addressOf(from);
  raw.push_back({addressOf(to), {begin, begin + size}});
}

void ArenaMemory::forget(mlir::Value buffer, int64_t size) {
  forgotten.push_back({addressOf(buffer), size});
}

} // namespace weir
