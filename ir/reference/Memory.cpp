//===- Memory.cpp - What the actions of a plan read and write -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/reference/Memory.h"
#include "ir/plan/PlanOps.h"
#include "ir/weir/ElementTypes.h"
#include <cmath>
#include <cstring>

namespace weir {

Tensor Memory::load(mlir::Value buffer, mlir::Type tensor) {
  auto type = llvm::cast<mlir::RankedTensorType>(tensor);
  Tensor result(type.getShape());
  load(buffer, type.getElementType(), 0, result.values);
  return result;
}

void Memory::store(mlir::Value buffer, mlir::Type tensor, const Tensor &value) {
  auto type = llvm::cast<mlir::RankedTensorType>(tensor);
  assert(type.getShape() == llvm::ArrayRef<int64_t>(value.shape));
  store(buffer, type.getElementType(), 0, value.values);
}

void Memory::setRounds(mlir::Operation *action, int64_t round) {
  for (mlir::Operation *around = action->getParentOp(); around; around = around->getParentOp())
    if (auto loop = llvm::dyn_cast<plan::LoopOp>(around)) {
      auto count = static_cast<int64_t>(loop.getCount());
      rounds[loop.index()] = round % count;
      round /= count;
    }
}

int64_t Memory::movedBy(const plan::Place &place) const {
  int64_t bytes = 0;
  for (const plan::Place::Move &move : place.moves) {
    int64_t round = rounds.lookup(move.index);
    bytes += move.stride * (move.modulus ? round % move.modulus : round);
  }
  return bytes;
}

CellMemory::CellMemory(mlir::ModuleOp plan, bool offsets) : plan(plan), offsets(offsets) {
  for (auto variable : plan.getOps<plan::VariableOp>())
    base(variable);
  if (offsets)
    scratch = plan->getAttrOfType<mlir::IntegerAttr>(plan::persistentAttrName).getInt() / 4;
  else
    scratch = words.size();
}

/// Where a variable's or an allocation's memory begins, made on first sight.
int64_t CellMemory::base(mlir::Operation *memory) {
  auto found = bases.find(memory);
  if (found != bases.end())
    return found->second;
  int64_t size, at = 4 * words.size();
  if (auto variable = llvm::dyn_cast<plan::VariableOp>(memory)) {
    size = storageBytes(variable.getType());
    if (offsets)
      at = plan::addressOf(plan, variable);
  } else {
    auto buffer = llvm::cast<plan::AllocOp>(memory);
    size = buffer.getSize();
    if (offsets)
      at = plan::addressOf(plan, buffer);
  }
  makeRoom(at + size);
  bases[memory] = at;
  return at;
}

int64_t CellMemory::addressOf(mlir::Value buffer) {
  auto [found, isNew] = begins.try_emplace(buffer);
  if (isNew) {
    plan::Place place = plan::placeOf(buffer);
    mlir::Operation *memory = place.memory;
    if (auto use = llvm::dyn_cast<plan::UseOp>(memory))
      memory = mlir::SymbolTable::lookupSymbolIn(plan, use.getVariable());
    found->second = {base(memory) + place.offset, std::move(place)};
  }
  return found->second.address + movedBy(found->second.place);
}

void CellMemory::makeRoom(int64_t bytes) {
  if (size_t needed = llvm::divideCeil(bytes, 4); needed > words.size())
    words.resize(needed);
}

/// An element of four bytes from its bytes.
static double fromBytes(const uint8_t *bytes, bool isFloat) {
  float real;
  int32_t whole;
  std::memcpy(&real, bytes, 4);
  std::memcpy(&whole, bytes, 4);
  return isFloat ? real : whole;
}

void CellMemory::loadAt(int64_t address, mlir::Type element,
                        llvm::MutableArrayRef<double> to) const {
  int64_t size = storedBytes(element), end = 4 * words.size();
  assert((size == 4 || 4 % size == 0) && "a word is one element, or a few");
  bool isFloat = llvm::isa<mlir::FloatType>(element);
  for (double &value : to) {
    value = NAN;
    if (address >= 0 && address + size <= end) {
      const Word &word = words[address / 4];
      if (size < 4) {
        auto known = llvm::ArrayRef(word.known).slice(address % 4, size);
        if (!llvm::is_contained(known, Byte::unknown))
          loadNumbers(*elementOf(element),
                      reinterpret_cast<const std::byte *>(word.bytes) + address % 4, {&value, 1});
      } else if (size == 4 && address % 4 == 0 && word.whole)
        value = word.value;
      else if (size == 4 && address % 4 == 0 &&
               llvm::all_of(word.known, [](Byte byte) { return byte == Byte::raw; }))
        value = fromBytes(word.bytes, isFloat);
    }
    address += size;
  }
}

void CellMemory::storeAt(int64_t address, mlir::Type element, llvm::ArrayRef<double> from) {
  int64_t size = storedBytes(element);
  makeRoom(address + size * from.size());
  for (double value : from) {
    if (size < 4) {
      std::byte bytes[4] = {};
      Byte known = std::isnan(value) ? Byte::unknown : Byte::element;
      if (known == Byte::element)
        storeNumbers(*elementOf(element), {&value, 1}, bytes);
      for (int64_t i = 0; i < size; ++i)
        setByte(address + i, known, static_cast<uint8_t>(bytes[i]));
    } else if (address % 4 != 0) { // which nothing in a plan is
      forgetAt(address, size);
    } else {
      words[address / 4] = {.value = value, .writer = writer, .whole = true};
    }
    address += size;
  }
}

void CellMemory::setByte(int64_t address, Byte known, uint8_t value) {
  Word &word = words[address / 4];
  if (word.whole)
    word = Word();
  word.bytes[address % 4] = value;
  word.known[address % 4] = known;
  word.writer = writer;
}

void CellMemory::forgetAt(int64_t address, int64_t bytes) {
  assert(address >= 0 && "a place in the arena");
  makeRoom(address + bytes);
  for (int64_t end = address + bytes; address < end;)
    if (address % 4 == 0 && address + 4 <= end) {
      words[address / 4] = {.writer = writer};
      address += 4;
    } else {
      setByte(address++, Byte::unknown, 0);
    }
}

void CellMemory::load(mlir::Value buffer, mlir::Type element, int64_t first,
                      llvm::MutableArrayRef<double> to) {
  loadAt(addressOf(buffer) + first * storedBytes(element), element, to);
}

void CellMemory::store(mlir::Value buffer, mlir::Type element, int64_t first,
                       llvm::ArrayRef<double> from) {
  storeAt(addressOf(buffer) + first * storedBytes(element), element, from);
}

void CellMemory::copy(mlir::Value from, mlir::Value to, int64_t bytes) {
  int64_t source = addressOf(from), target = addressOf(to);
  makeRoom(std::max(source, target) + bytes);
  std::vector<Word> moved(words.begin() + source / 4,
                          words.begin() + llvm::divideCeil(source + bytes, 4));
  for (int64_t i = 0; i < bytes;) {
    const Word &word = moved[(source + i) / 4 - source / 4];
    int64_t place = (source + i) % 4;
    if (place == 0 && (target + i) % 4 == 0 && i + 4 <= bytes) {
      words[(target + i) / 4] = word;
      words[(target + i) / 4].writer = writer;
      i += 4;
    } else { // a part of an element is nothing
      setByte(target + i, word.whole ? Byte::unknown : word.known[place], word.bytes[place]);
      ++i;
    }
  }
}

void CellMemory::forget(mlir::Value buffer, int64_t bytes) { forgetAt(addressOf(buffer), bytes); }

unsigned CellMemory::writerOf(mlir::Value buffer, mlir::Type element, int64_t index) {
  return words[(addressOf(buffer) + index * storedBytes(element)) / 4].writer;
}

Tensor CellMemory::loadVariable(plan::VariableOp variable) {
  auto type = llvm::cast<mlir::RankedTensorType>(variable.getType());
  Tensor result(type.getShape());
  loadAt(base(variable), type.getElementType(), result.values);
  return result;
}

void CellMemory::storeVariable(plan::VariableOp variable, const Tensor &value) {
  auto type = llvm::cast<mlir::RankedTensorType>(variable.getType());
  storeAt(base(variable), type.getElementType(), value.values);
}

void CellMemory::forgetScratch() {
  std::fill(words.begin() + std::min<size_t>(scratch, words.size()), words.end(), Word());
}

} // namespace weir
