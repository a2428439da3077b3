//===- Emission.h - One kernel on its way to CUDA C++ ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the schedules (one function and one file per kernel shape) share. A schedule writes what one
// thread does, as scalar code (scf, arith, math, LLVM loads and stores) that knows its block and
// its place there, and fills the plan as it goes, so that plan and code cannot disagree. Print.h
// makes text of it.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_CUDA_EMISSION_H
#define WEIR_CODEGEN_CUDA_EMISSION_H

#include "codegen/Target.h"
#include "codegen/cuda/Architecture.h"
#include "codegen/kernel/Elements.h"
#include "codegen/kernel/InPlace.h"
#include "codegen/kernel/Reductions.h"
#include "ir/weir/kernel/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <memory>
#include <set>
#include <string>

namespace weir::gpu {

/// Threads of a block where a task has no size of its own.
constexpr int64_t blockThreads = 256;

/// Bytes that one access moves at most.
constexpr int64_t accessBytes = 16;

/// What weir_block_sum and its like use of a block's shared memory.
constexpr int64_t blockReductionBytes = 128;

/// On loops whose rounds are written out.
constexpr llvm::StringLiteral unrollName = "weir.unroll";

/// A kernel that is a call of a device header's templates: CUDA C++ itself, not scalar code.
struct KernelText {
  llvm::SmallVector<std::string> headers; ///< to be included
  std::string declarations;
  llvm::SmallVector<std::string> bodies; ///< of the plan's launches
  std::set<std::string> calls;           ///< elementary functions
};

class Emission {
public:
  /// `settings`: what is chosen for the kernel; null for nothing.
  Emission(KernelOp kernel, const Architecture &architecture, mlir::ModuleOp module,
           const Settings *settings);

  /// A number of the schedule that may be chosen (Tuning.h): what was, or `usual`. What serves is
  /// `usual` and the options.
  int64_t choose(llvm::StringRef name, int64_t usual, llvm::ArrayRef<int64_t> options);
  /// An error where something was chosen that cannot be.
  mlir::LogicalResult requireServed();

  /// Starts a function that `blocks` blocks of `threads` run.
  void open(llvm::StringRef suffix, int64_t blocks, int64_t threads);
  void close();

  /// A type of device headers that stands for an element type: "weir_f32", "bf16", which the text
  /// then declares.
  std::string elementName(mlir::Type element);
  /// A launch that is `body` instead, lines of CUDA C++, and uses `shared` bytes.
  void write(llvm::StringRef suffix, int64_t blocks, int64_t threads, int64_t shared,
             std::string body);

  Buffer result(unsigned index);
  /// `offset` bytes into the kernel's workspace.
  Buffer workspace(mlir::Type element, int64_t offset);
  /// An array of the thread's own: registers where all indices into it are constants.
  Buffer ownArray(mlir::Type element, int64_t count);

  mlir::Value index(int64_t value);
  /// for (i = low; i < high; i += step); the insertion point moves into the body until `done`.
  mlir::scf::ForOp loop(mlir::Value low, mlir::Value high, mlir::Value step,
                        mlir::ValueRange accumulators = {});
  mlir::scf::ForOp loop(int64_t count, mlir::ValueRange accumulators = {});
  void done(mlir::scf::ForOp loop, mlir::ValueRange accumulators = {});
  /// What `body` builds, for threads where the condition holds.
  void when(mlir::Value condition, llvm::function_ref<void()> body);
  mlir::Value below(mlir::Value a, int64_t b);

  /// What is done at one position: the carried values, then those of its lane, to their next ones.
  using LaneBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::AffineExpr position, mlir::ValueRange carried, mlir::ValueRange ofLane)>;
  /// `body` at base to base + count - 1 one after the other, carrying values along, and `vectors`
  /// of a value for each lane (or scalars, of one lane): reads of neighbours, and what it stores of
  /// results there, become vectors of that many. `base` is a multiple of `count`. Returns the last
  /// carried values, and the vectors.
  llvm::SmallVector<mlir::Value> lanes(int64_t count, mlir::AffineExpr base,
                                       mlir::ValueRange accumulators, mlir::ValueRange vectors,
                                       LaneBody body);

  /// Combines a value of every thread of the block, or of those that have one place in their warps;
  /// all get the result.
  mlir::Value blockReduce(Reduction kind, mlir::Value value);
  mlir::Value warpsReduce(Reduction kind, mlir::Value value);

  /// How many lanes the kernel's largest tensors allow where `size` neighbours are computed
  /// together: an access of the widest of them. Others may take several.
  int64_t lanesFor(int64_t size);

  /// Stores neighbours, or one scalar, from a position on that is a multiple of their number.
  void storeVector(const Buffer &buffer, mlir::AffineExpr position, mlir::Value vector);

  /// Stores a scalar as the result's element at a position. `alone`: by the thread that alone reads
  /// what is there in the input whose place it may take.
  void storeResult(unsigned index, mlir::AffineExpr position, mlir::Value scalar,
                   bool alone = true);

  mlir::Value yielded(unsigned result) {
    return kernel.getBody().front().getTerminator()->getOperand(result);
  }
  mlir::Block &body() { return kernel.getBody().front(); }

  KernelOp kernel;
  const Architecture &architecture;
  KernelPlan plan;
  KernelText text;
  llvm::SmallVector<Knob> knobs; ///< that were asked for
  mlir::OpBuilder builder;
  mlir::Location loc;
  std::unique_ptr<IndexSpace> space;
  std::unique_ptr<Elements> elements;
  InPlace places;
  mlir::Value block, thread; ///< of the open function: indices
  int64_t threads = 0;       ///< of its blocks
  llvm::SmallVector<mlir::func::FuncOp> functions;

private:
  mlir::Value read(const Buffer &buffer, mlir::AffineExpr position);
  mlir::Value reduce(llvm::StringRef among, Reduction kind, mlir::Value value, int64_t shared);
  bool holdsWhole(const Buffer &buffer, int64_t count);

  mlir::ModuleOp module;
  const Settings *settings;
  mlir::func::FuncOp function;

  /// The lanes that are being built.
  struct Lanes {
    mlir::AffineExpr lane;
    int64_t count = 0;
    mlir::scf::ForOp loop;
    llvm::DenseMap<std::pair<mlir::Value, mlir::AffineExpr>, mlir::Value> vectors;
    struct Store {
      unsigned result;
      mlir::Value scalar;
    };
    llvm::SmallVector<Store> stores;
  };
  std::optional<Lanes> side;
  /// Of the open function, by their number: the same in all of its loops, so that positions are.
  llvm::DenseMap<int64_t, mlir::AffineExpr> laneSymbols;
};

mlir::LogicalResult emitMap(Emission &emission);
mlir::LogicalResult emitTranspose(Emission &emission);
mlir::LogicalResult emitRows(Emission &emission);
mlir::LogicalResult emitNest(Emission &emission);
mlir::LogicalResult emitSegment(Emission &emission);
mlir::LogicalResult emitAttention(Emission &emission);
mlir::LogicalResult emitProduct(Emission &emission);
mlir::LogicalResult emitConvolution(Emission &emission);

/// Whether the kernel only moves what it reads, and neighbours of the result are none there: such a
/// map goes by way of emitTranspose.
bool turnsOver(KernelOp kernel);

bool isConvolution(mlir::Operation *op);

/// Why kernels with this op at their root are not run; empty if they are.
std::string attentionDeclines(mlir::Operation *root);
std::string productDeclines(mlir::Operation *root);
std::string convolutionDeclines(mlir::Operation *root);

} // namespace weir::gpu

#endif
