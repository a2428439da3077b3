//===- Memory.cpp - What the actions of a plan read and write -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/reference/Memory.h"
#include <cmath>
#include <cstring>

namespace weir {

int64_t elementBytes(mlir::Type element) { return element.getIntOrFloatBitWidth() <= 8 ? 1 : 4; }

Tensor Memory::load(mlir::Value buffer, mlir::Type tensor) {
  auto type = llvm::cast<mlir::RankedTensorType>(tensor);
  Tensor result(type.getShape());
  for (size_t i = 0; i < result.values.size(); ++i)
    result.values[i] = load(buffer, type.getElementType(), i);
  return result;
}

void Memory::store(mlir::Value buffer, mlir::Type tensor, const Tensor &value) {
  auto type = llvm::cast<mlir::RankedTensorType>(tensor);
  assert(type.getShape() == llvm::ArrayRef<int64_t>(value.shape));
  for (size_t i = 0; i < value.values.size(); ++i)
    store(buffer, type.getElementType(), i, value.values[i]);
}

CellMemory::CellMemory(mlir::ModuleOp plan, bool offsets) : plan(plan), offsets(offsets) {
  for (auto variable : plan.getOps<plan::VariableOp>())
    base(variable);
  if (offsets)
    scratch = plan->getAttrOfType<mlir::IntegerAttr>("plan.persistent").getInt();
  else
    scratch = cells.size();
}

/// Where a variable's or an allocation's memory begins, made on first sight.
int64_t CellMemory::base(mlir::Operation *memory) {
  auto found = bases.find(memory);
  if (found != bases.end())
    return found->second;
  int64_t size, at = cells.size();
  std::optional<uint64_t> planned;
  if (auto variable = llvm::dyn_cast<plan::VariableOp>(memory)) {
    size = storageBytes(variable.getType());
    planned = variable.getOffset();
  } else {
    auto buffer = llvm::cast<plan::BufferOp>(memory);
    size = buffer.getSize();
    planned = buffer.getOffset();
  }
  if (offsets) {
    assert(planned && "offsets are assigned");
    at = *planned;
  }
  if (static_cast<size_t>(at + size) > cells.size())
    cells.resize(at + size, {NAN, 0, false, 0});
  bases[memory] = at;
  return at;
}

int64_t CellMemory::addressOf(mlir::Value buffer) {
  plan::Place place = plan::placeOf(buffer);
  mlir::Operation *memory = place.memory;
  if (auto use = llvm::dyn_cast<plan::UseOp>(memory))
    memory = mlir::SymbolTable::lookupSymbolIn(plan, use.getVariable());
  return base(memory) + place.offset + place.stride * round;
}

double CellMemory::loadAt(int64_t address, mlir::Type element) {
  int64_t size = elementBytes(element);
  if (address < 0 || static_cast<size_t>(address + size) > cells.size())
    return NAN;
  const Cell *cell = &cells[address];
  if (cell->size == size && !cell->raw) {
    for (int64_t i = 1; i < size; ++i)
      if (cell[i].size != 0 || cell[i].writer != cell->writer)
        return NAN;
    return cell->value;
  }
  uint8_t bytes[4];
  for (int64_t i = 0; i < size; ++i) {
    if (cell[i].size != 1 || !cell[i].raw)
      return NAN;
    bytes[i] = static_cast<uint8_t>(cell[i].value);
  }
  if (size == 1)
    return bytes[0];
  if (element.isF32()) {
    float value;
    std::memcpy(&value, bytes, 4);
    return value;
  }
  int32_t value;
  std::memcpy(&value, bytes, 4);
  return value;
}

void CellMemory::forgetAt(int64_t address, int64_t bytes) {
  assert(address >= 0 && "a place in the arena");
  if (static_cast<size_t>(address + bytes) > cells.size())
    cells.resize(address + bytes, {NAN, 0, false, 0});
  for (int64_t i = 0; i < bytes; ++i)
    cells[address + i] = {NAN, 0, false, writer};
}

void CellMemory::storeAt(int64_t address, mlir::Type element, double value) {
  int64_t size = elementBytes(element);
  forgetAt(address, size);
  cells[address].value = value;
  cells[address].size = size;
}

double CellMemory::load(mlir::Value buffer, mlir::Type element, int64_t index) {
  return loadAt(addressOf(buffer) + index * elementBytes(element), element);
}

void CellMemory::store(mlir::Value buffer, mlir::Type element, int64_t index, double value) {
  storeAt(addressOf(buffer) + index * elementBytes(element), element, value);
}

void CellMemory::copy(mlir::Value from, mlir::Value to, int64_t bytes) {
  int64_t source = addressOf(from), target = addressOf(to);
  std::vector<Cell> moved(cells.begin() + source, cells.begin() + source + bytes);
  forgetAt(target, bytes);
  for (int64_t i = 0; i < bytes; ++i) {
    cells[target + i] = moved[i];
    cells[target + i].writer = writer;
  }
}

void CellMemory::fill(mlir::Value to, int64_t bytes, uint8_t value) {
  int64_t target = addressOf(to);
  forgetAt(target, bytes);
  for (int64_t i = 0; i < bytes; ++i)
    cells[target + i] = {static_cast<double>(value), 1, true, writer};
}

void CellMemory::forget(mlir::Value buffer, int64_t bytes) { forgetAt(addressOf(buffer), bytes); }

unsigned CellMemory::writerOf(mlir::Value buffer, mlir::Type element, int64_t index) {
  return cells[addressOf(buffer) + index * elementBytes(element)].writer;
}

Tensor CellMemory::loadVariable(plan::VariableOp variable) {
  auto type = llvm::cast<mlir::RankedTensorType>(variable.getType());
  Tensor result(type.getShape());
  for (size_t i = 0; i < result.values.size(); ++i)
    result.values[i] =
        loadAt(base(variable) + i * elementBytes(type.getElementType()), type.getElementType());
  return result;
}

void CellMemory::storeVariable(plan::VariableOp variable, const Tensor &value) {
  auto type = llvm::cast<mlir::RankedTensorType>(variable.getType());
  for (size_t i = 0; i < value.values.size(); ++i)
    storeAt(base(variable) + i * elementBytes(type.getElementType()), type.getElementType(),
            value.values[i]);
}

void CellMemory::forgetScratch() {
  for (size_t i = scratch; i < cells.size(); ++i)
    cells[i] = {NAN, 0, false, 0};
}

} // namespace weir
