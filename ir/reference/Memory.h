//===- Memory.h - What the actions of a plan read and write ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The plan interpreter's view of an arena. CellMemory is one in f64; whoever compares a real run
// with its meaning implements the interface over the real bytes.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_REFERENCE_MEMORY_H
#define WEIR_IR_REFERENCE_MEMORY_H

#include "ir/plan/PlanDialect.h"
#include "ir/reference/Tensor.h"

namespace weir {

/// Bytes of one element as stored: i1 and ui8 take one.
int64_t elementBytes(mlir::Type element);

class Memory {
public:
  virtual ~Memory() = default;

  /// Element `index` of a range of elements that begins where the buffer does, in the current
  /// round.
  virtual double load(mlir::Value buffer, mlir::Type element, int64_t index) = 0;
  virtual void store(mlir::Value buffer, mlir::Type element, int64_t index, double value) = 0;
  /// Bytes, whatever they hold.
  virtual void copy(mlir::Value from, mlir::Value to, int64_t bytes) = 0;
  virtual void fill(mlir::Value to, int64_t bytes, uint8_t value) = 0;
  /// The bytes hold something that the plan's meaning does not tell, such as a kernel's partial
  /// sums.
  virtual void forget(mlir::Value buffer, int64_t bytes) = 0;

  /// A row-major tensor at the buffer's start.
  Tensor load(mlir::Value buffer, mlir::Type tensor);
  void store(mlir::Value buffer, mlir::Type tensor, const Tensor &value);

  /// The round of the repeat that is running, else 0; parts of buffers with a stride move by it.
  int64_t round = 0;
};

/// An arena in which every element is an f64 at the byte where the plan puts it. An element is only
/// known as long as none of its bytes is written as part of another one: what is read back
/// otherwise is NaN, as from bytes that nothing has written.
class CellMemory : public Memory {
public:
  /// With `offsets`, buffers and variables lie where the plan says. Else each has memory of its
  /// own, which is what a plan means before offsets are given.
  CellMemory(mlir::ModuleOp plan, bool offsets);

  double load(mlir::Value buffer, mlir::Type element, int64_t index) override;
  void store(mlir::Value buffer, mlir::Type element, int64_t index, double value) override;
  void copy(mlir::Value from, mlir::Value to, int64_t bytes) override;
  void fill(mlir::Value to, int64_t bytes, uint8_t value) override;
  void forget(mlir::Value buffer, int64_t bytes) override;
  using Memory::load;
  using Memory::store;

  Tensor loadVariable(plan::VariableOp variable);
  void storeVariable(plan::VariableOp variable, const Tensor &value);
  /// Forgets everything but the variables.
  void forgetScratch();

  /// Remembered with everything that is written.
  unsigned writer = 0;
  /// Who wrote an element's first byte last.
  unsigned writerOf(mlir::Value buffer, mlir::Type element, int64_t index);

private:
  struct Cell {
    double value;
    uint8_t size; ///< of the element that begins here; 0 within one, or unknown
    bool raw;     ///< `value` is one byte's
    unsigned writer;
  };

  int64_t base(mlir::Operation *memory);
  int64_t addressOf(mlir::Value buffer);
  double loadAt(int64_t address, mlir::Type element);
  void storeAt(int64_t address, mlir::Type element, double value);
  void forgetAt(int64_t address, int64_t bytes);

  mlir::ModuleOp plan;
  bool offsets;
  std::vector<Cell> cells;
  llvm::DenseMap<mlir::Operation *, int64_t> bases;
  int64_t scratch = 0; ///< where what is not a variable begins
};

} // namespace weir

#endif
