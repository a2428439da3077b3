//===- ArenaMemory.h - A real arena for the plan interpreter --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_VERIFY_ARENAMEMORY_H
#define WEIR_VERIFY_ARENAMEMORY_H

#include "ir/reference/Memory.h"
#include <cstddef>
#include <vector>

namespace weir {

/// Reads the bytes of a program's arena. Keeps writes apart, so that reads always see the arena as
/// it is. The plan has offsets.
class ArenaMemory : public Memory {
public:
  explicit ArenaMemory(mlir::ModuleOp plan);

  /// The arena, followed by pinned memory, with the sizes that the plan states.
  std::vector<std::byte> bytes;

  /// Stored elements, all in one buffer and of one type.
  struct Stored {
    mlir::Value buffer;
    mlir::Type element;
    std::vector<double> values; ///< by index
    std::vector<bool> known;    ///< which of them were stored
  };
  /// Copied bytes.
  struct Raw {
    int64_t address;
    std::vector<std::byte> bytes;
  };
  struct Range {
    int64_t address, size;
  };
  std::vector<Stored> stored;
  std::vector<Raw> raw;
  std::vector<Range> forgotten;
  /// Forgets all three.
  void clear();

  /// Loads return the magnitudes of floating-point elements.
  bool magnitudes = false;

  /// The offset of the buffer in the arena in the current round.
  int64_t addressOf(mlir::Value buffer);

  void load(mlir::Value buffer, mlir::Type element, int64_t first,
            llvm::MutableArrayRef<double> to) override;
  void store(mlir::Value buffer, mlir::Type element, int64_t first,
             llvm::ArrayRef<double> from) override;
  void copy(mlir::Value from, mlir::Value to, int64_t size) override;
  void forget(mlir::Value buffer, int64_t size) override;
  using Memory::load;
  using Memory::store;

private:
  struct Base {
    int64_t address;
    plan::Place place;
  };
  mlir::ModuleOp plan;
  llvm::StringMap<int64_t> variables;
  llvm::DenseMap<mlir::Value, Base> bases;
};

/// The elements from `from` on, as f64.
void loadElements(const std::byte *from, mlir::Type element, llvm::MutableArrayRef<double> to);

} // namespace weir

#endif
