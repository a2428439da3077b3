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

class Memory {
public:
  virtual ~Memory() = default;

  /// Elements from number `first` on of a range of elements that begins where the buffer does, in
  /// the current round.
  virtual void load(mlir::Value buffer, mlir::Type element, int64_t first,
                    llvm::MutableArrayRef<double> to) = 0;
  virtual void store(mlir::Value buffer, mlir::Type element, int64_t first,
                     llvm::ArrayRef<double> from) = 0;
  /// Bytes, whatever they hold.
  virtual void copy(mlir::Value from, mlir::Value to, int64_t bytes) = 0;
  /// The bytes hold something that the plan's meaning does not tell, such as a kernel's partial
  /// sums.
  virtual void forget(mlir::Value buffer, int64_t bytes) = 0;

  /// A row-major tensor at the buffer's start.
  Tensor load(mlir::Value buffer, mlir::Type tensor);
  void store(mlir::Value buffer, mlir::Type tensor, const Tensor &value);

  /// The rounds of the loops that are running, by their indices; parts of buffers move by them.
  llvm::DenseMap<mlir::Value, int64_t> rounds;

  /// Sets the rounds of the loops around an action, counted over all of them together.
  void setRounds(mlir::Operation *action, int64_t round);

protected:
  /// How far the rounds move a place.
  int64_t movedBy(const plan::Place &place) const;
};

/// An arena in which every element is an f64 at the byte where the plan puts it. An element is only
/// known as long as none of its bytes is written as part of another one: what is read back
/// otherwise is NaN, as from bytes that nothing has written.
class CellMemory : public Memory {
public:
  /// With `offsets`, buffers and variables lie where the plan says. Else each has memory of its
  /// own, which is what a plan means before offsets are given.
  CellMemory(mlir::ModuleOp plan, bool offsets);

  void load(mlir::Value buffer, mlir::Type element, int64_t first,
            llvm::MutableArrayRef<double> to) override;
  void store(mlir::Value buffer, mlir::Type element, int64_t first,
             llvm::ArrayRef<double> from) override;
  void copy(mlir::Value from, mlir::Value to, int64_t bytes) override;
  void forget(mlir::Value buffer, int64_t bytes) override;
  using Memory::load;
  using Memory::store;

  Tensor loadVariable(plan::VariableOp variable);
  void storeVariable(plan::VariableOp variable, const Tensor &value);
  /// Forgets everything but the variables.
  void forgetScratch();

  /// Remembered with everything that is written.
  unsigned writer = 0;
  /// Who wrote to an element last.
  unsigned writerOf(mlir::Value buffer, mlir::Type element, int64_t index);

private:
  /// What is known of a byte that is not part of an element of four.
  enum class Byte : uint8_t { unknown, element, raw };
  /// Four bytes of the arena: one element, or bytes.
  struct Word {
    double value = 0;                ///< of the element, where it is one
    uint8_t bytes[4] = {0, 0, 0, 0}; ///< where it is not
    Byte known[4] = {Byte::unknown, Byte::unknown, Byte::unknown, Byte::unknown};
    unsigned writer = 0;
    bool whole = false; ///< one element
  };

  int64_t base(mlir::Operation *memory);
  int64_t addressOf(mlir::Value buffer);
  void loadAt(int64_t address, mlir::Type element, llvm::MutableArrayRef<double> to) const;
  void storeAt(int64_t address, mlir::Type element, llvm::ArrayRef<double> from);
  void setByte(int64_t address, Byte known, uint8_t value);
  void forgetAt(int64_t address, int64_t bytes);
  void makeRoom(int64_t bytes);

  mlir::ModuleOp plan;
  bool offsets;
  std::vector<Word> words;
  llvm::DenseMap<mlir::Operation *, int64_t> bases;
  /// Where a buffer begins in no round, and what moves it.
  struct Begin {
    int64_t address;
    plan::Place place;
  };
  llvm::DenseMap<mlir::Value, Begin> begins;
  int64_t scratch = 0; ///< where what is not a variable begins: a word
};

} // namespace weir

#endif
