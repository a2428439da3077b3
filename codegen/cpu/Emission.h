//===- Emission.h - One kernel on its way to code -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the schedules (one function and one file per kernel shape) share. A schedule writes the
// functions of a kernel into a module and fills the plan as it goes, so that plan and code cannot
// disagree.
//
// Emitted code is scalar: scf loops over arith, math and LLVM loads and stores. Loops whose
// variable runs along contiguous elements carry `lanesName`; Vectorize.h makes vector code of them.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_CPU_EMISSION_H
#define WEIR_CODEGEN_CPU_EMISSION_H

#include "codegen/Target.h"
#include "codegen/cpu/Processor.h"
#include "codegen/kernel/Elements.h"
#include "codegen/kernel/InPlace.h"
#include "codegen/kernel/Reductions.h"
#include "ir/weir/kernel/Kernel.h"

#include <memory>

namespace weir {

/// On a scf.for with step 1 whose iterations are independent but for sums, maxima and minima in its
/// iter_args.
constexpr llvm::StringLiteral lanesName = "weir.lanes";

/// How many elements are computed side by side, in the type that work on them is done in.
inline int64_t lanesOf(const Processor &processor, Element element) {
  return processor.vectorBits / (8 * int64_t(sizeOf(rowOf(element).work)));
}

/// On a loop that runs at least once: what is read in it may be read before it.
constexpr llvm::StringLiteral nonemptyName = "weir.nonempty";

class Emission {
public:
  /// The words of random keys stay constants with the mark of RandomOp (Families.h).
  Emission(KernelOp kernel, llvm::StringRef symbol, const Processor &processor,
           mlir::ModuleOp module);

  /// Starts a function: [lo, hi), the elements of the inputs, the pointers of results and
  /// of the workspace.
  void open(llvm::StringRef suffix, int64_t tasks);
  void close();
  /// Takes back the last function opened, and its launch.
  void discard();

  Buffer result(unsigned index);
  mlir::Value inputPointer(unsigned index) { return pointers[index]; }
  /// `offset` bytes into the kernel's workspace.
  Buffer workspace(mlir::Type element, int64_t offset);
  mlir::Value pointerAt(mlir::Value base, int64_t bytes);

  mlir::Value index(int64_t value);
  /// for (i = low; i < high; i += step), at least once; the insertion point moves into the body
  /// until `done`.
  mlir::scf::ForOp loop(mlir::Value low, mlir::Value high, mlir::ValueRange accumulators = {},
                        int64_t step = 1);
  void done(mlir::scf::ForOp loop, mlir::ValueRange accumulators = {});
  /// [lo * grain, min(hi * grain, size))
  std::pair<mlir::Value, mlir::Value> range(mlir::Value lo, mlir::Value hi, int64_t grain,
                                            int64_t size);

  /// Stores what `Elements` gives for the result at a position.
  void storeResult(unsigned index, mlir::AffineExpr position, mlir::Value scalar);

  mlir::Value yielded(unsigned result) {
    return kernel.getBody().front().getTerminator()->getOperand(result);
  }
  mlir::Block &body() { return kernel.getBody().front(); }

  /// Which results may take an input's place, from the loads and stores made; call it last.
  void findInPlace();

  KernelOp kernel;
  std::string symbol;
  const Processor &processor;
  KernelPlan plan;
  mlir::OpBuilder builder;
  mlir::Location loc;
  std::unique_ptr<IndexSpace> space;
  std::unique_ptr<Elements> elements;
  mlir::Value lo, hi, scratch; ///< of the open function: index, index, pointer

private:
  mlir::Value operandPointer(unsigned index);

  mlir::ModuleOp module;
  mlir::func::FuncOp function;
  mlir::Value operands;
  InPlace places;
  llvm::SmallVector<mlir::Value> pointers;
  size_t functions = 0;
  int phase = 0;
};

mlir::LogicalResult emitMap(Emission &emission);
mlir::LogicalResult emitRows(Emission &emission);
mlir::LogicalResult emitNest(Emission &emission);
mlir::LogicalResult emitSegment(Emission &emission);
mlir::LogicalResult emitAttention(Emission &emission);

/// A function for a result that is a pool, or a pool's gradient, of windows side by side; false for
/// any other result. `time` is its estimate, in nanoseconds.
bool emitPool(Emission &emission, unsigned result, llvm::StringRef suffix, double time);

/// Nanoseconds of a kernel, roughly: only the size of tasks hangs on it.
double estimatedTime(KernelOp kernel);

/// What tasks should take at least, in nanoseconds: a launch costs about one microsecond.
constexpr double taskTime = 12000;

} // namespace weir

#endif
