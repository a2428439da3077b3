//===- ArenaMemory.cpp - A real arena under the plan interpreter ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/ArenaMemory.h"
#include <cmath>
#include <cstring>

namespace weir {

double loadElement(const std::byte *from, mlir::Type element) {
  if (element.isF32()) {
    float value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  if (elementBytes(element) == 1)
    return static_cast<double>(*from);
  int32_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

ArenaMemory::ArenaMemory(mlir::ModuleOp plan)
    : bytes(plan->getAttrOfType<mlir::IntegerAttr>("plan.arena").getInt()) {
  for (auto variable : plan.getOps<plan::VariableOp>())
    variables[variable.getSymName()] = *variable.getOffset();
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
                        : *llvm::cast<plan::BufferOp>(place.memory).getOffset();
    found->second = {start + place.offset, place.stride};
  }
  return found->second.address + found->second.stride * round;
}

double ArenaMemory::load(mlir::Value buffer, mlir::Type element, int64_t index) {
  int64_t address = addressOf(buffer) + index * elementBytes(element);
  double value = loadElement(bytes.data() + address, element);
  return magnitudes && element.isF32() ? std::abs(value) : value;
}

void ArenaMemory::store(mlir::Value buffer, mlir::Type element, int64_t index, double value) {
  if (stored.empty() || stored.back().buffer != buffer || stored.back().element != element)
    stored.push_back({buffer, element, {}, {}});
  Stored &to = stored.back();
  if (static_cast<size_t>(index) >= to.values.size()) {
    to.values.resize(index + 1, 0);
    to.known.resize(index + 1, false);
  }
  to.values[index] = value;
  to.known[index] = true;
}

void ArenaMemory::copy(mlir::Value from, mlir::Value to, int64_t size) {
  auto begin = bytes.begin() + addressOf(from);
  raw.push_back({addressOf(to), {begin, begin + size}});
}

void ArenaMemory::fill(mlir::Value to, int64_t size, uint8_t value) {
  raw.push_back({addressOf(to), std::vector<std::byte>(size, std::byte(value))});
}

void ArenaMemory::forget(mlir::Value buffer, int64_t size) {
  forgotten.push_back({addressOf(buffer), size});
}

} // namespace weir
