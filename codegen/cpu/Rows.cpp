//===- Rows.cpp - Kernels of rows, with reductions along and across -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A sweep goes over all rows, and over a row's columns as many times as reductions along it depend
// on each other. What is summed across rows is summed per task into the workspace; a second launch
// adds the tasks' partial sums in their order and computes what follows from them. Where nothing is
// reduced along rows and there are columns enough for every task, tasks are ranges of columns and
// need no launch for their partial sums.
//
// A partial sum of many rows is a tree (SumTrees.h): its levels lie in the workspace too.
//
// A sum has the same bits whatever else its kernel computes: the rows of a partial sum follow from
// the numbers of rows and columns alone.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Emission.h"
#include "codegen/kernel/RowPasses.h"
#include "codegen/kernel/RowSpace.h"
#include "codegen/kernel/SumTrees.h"
#include "ir/weir/interfaces/Elements.h"
#include "ir/weir/reduction/Reduction.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "support/mesh/RankPlacement.h"

using namespace mlir;

namespace weir {
namespace {

/// More tasks than this only make the combination of their sums longer.
constexpr int64_t mostTasks = 64;
/// Bytes that a thread saves of a row, at most: what the caches of its core hold.
constexpr int64_t mostSavedBytes = 1 << 20;
/// Columns of a task, where tasks are columns, are a multiple of this.
constexpr int64_t columnChunk = 64;

int64_t paddedWidth(Sum &sum) { return llvm::alignTo(sum.width, 16); }

class RowEmitter {
public:
  RowEmitter(Emission &emission, RowSpace space) : e(emission), space(std::move(space)) {}

  LogicalResult run();

private:
  using Output = RowSpace::Output;

  void layOutWorkspace();
  void placeSums();
  Type elementOf(Sum &sum) { return tensorType(sum.op.getResult()).getElementType(); }
  Buffer finalOf(Sum &sum);
  Buffer partialOf(Sum &sum);
  /// What its rows, at level 0, or as many sums of the level below are added to.
  Buffer levelOf(Sum &sum, int level);
  int levelsOf(Sum &sum) {
    return dependsOnOrder(sum.op.getKind(), elementOf(sum))
               ? levelsBelow(std::min(grain, space.rows))
               : 0;
  }
  int64_t bytesOf(Sum &sum) {
    return llvm::alignTo(tasks * paddedWidth(sum) * storedBytes(elementOf(sum)), 64);
  }

  void emitByColumns();
  void emitSweep(int stage);
  void emitRows(int stage, Value begin, Value end, int level);
  void clear(Sum &sum, int level);
  void addLevel(Sum &sum, int level);
  void emitRow(int stage);
  void emitPass(int stage, RowPass &pass);
  void emitCombination(int stage);
  void accumulate(Sum &sum, AffineExpr column, Value scalar);

  Emission &e;
  RowSpace space;
  int64_t tasks = 1, grain = 1;
  int64_t summedRows = 1; ///< of a partial sum
  DenseMap<Operation *, int64_t> partialOffsets, finalOffsets, levelOffsets;
  DenseMap<Value, Buffer> savedIn;
  DenseSet<Value> computed; ///< full values, by the passes so far
  AffineExpr task, row, column;
};

void RowEmitter::layOutWorkspace() {
  int64_t bytes = 0;
  for (Sum &sum : space.sums) {
    if (tasks > 1) {
      partialOffsets[sum.op] = bytes;
      bytes += bytesOf(sum);
    }
    levelOffsets[sum.op] = bytes;
    bytes += levelsOf(sum) * bytesOf(sum);
    if (!llvm::is_contained(e.body().getTerminator()->getOperands(), sum.op.getResult())) {
      finalOffsets[sum.op] = bytes;
      bytes += llvm::alignTo(sum.width * storedBytes(elementOf(sum)), 64);
    }
  }
  e.plan.workspace = bytes;
}

Buffer RowEmitter::finalOf(Sum &sum) {
  for (unsigned i = 0; i < e.kernel.getNumResults(); ++i)
    if (e.yielded(i) == sum.op.getResult())
      return e.result(i);
  return e.workspace(elementOf(sum), finalOffsets.lookup(sum.op));
}

Buffer RowEmitter::partialOf(Sum &sum) {
  return tasks == 1 ? finalOf(sum) : e.workspace(elementOf(sum), partialOffsets.lookup(sum.op));
}

Buffer RowEmitter::levelOf(Sum &sum, int level) {
  if (level == levelsOf(sum))
    return partialOf(sum);
  return e.workspace(elementOf(sum), levelOffsets.lookup(sum.op) + level * bytesOf(sum));
}

void RowEmitter::placeSums() {
  for (Sum &sum : space.sums)
    e.elements->place(sum.op.getResult(), finalOf(sum));
}

LogicalResult RowEmitter::run() {
  auto tasksIn = [](double time) {
    return std::clamp<int64_t>(int64_t(time / taskTime), 1, mostTasks);
  };
  auto rowsOf = [&](int64_t parts) -> int64_t {
    return llvm::divideCeil(space.rows, std::min(parts, space.rows));
  };
  int64_t wanted = tasksIn(estimatedTime(e.kernel));
  // However many columns there are: whatever shares the bucket of what ranks have.
  summedRows =
      space.rows <= deterministicRanks
          ? space.rows
          : rowsOf(tasksIn(machines::summedElement * double(space.rows) * double(space.columns)));
  bool columnsAlone = space.rowReductions.empty() && space.lastStage <= 1 && !space.sums.empty() &&
                      llvm::all_of(space.sums, [](Sum &sum) { return sum.kind == Sum::perColumn; });
  for (unsigned i = 0; i < e.kernel.getNumResults(); ++i) {
    Extent extent = space.extentOf(e.yielded(i));
    columnsAlone &= extent == Extent::sum ||
                    (extent == Extent::full && space.stageOf(e.yielded(i)) == 0) ||
                    extent == Extent::column;
  }
  if (columnsAlone && space.columns >= wanted * columnChunk) {
    grain = llvm::alignTo(llvm::divideCeil(space.columns, wanted), columnChunk);
    emitByColumns();
    return failure(e.elements->failed());
  }

  grain = space.sums.empty() ? rowsOf(wanted) : summedRows;
  tasks = llvm::divideCeil(space.rows, grain);
  layOutWorkspace();
  bool failed = false;
  if (tasks == 1) {
    e.open("", 1);
    placeSums();
  }
  for (int stage = 0; stage <= space.lastStage; ++stage) {
    if (!space.outputsOf(stage, Extent::full).empty() ||
        !space.outputsOf(stage, Extent::row).empty() || !space.sumsOf(stage).empty()) {
      if (tasks > 1) {
        e.open("_rows" + std::to_string(stage), tasks);
        placeSums();
      }
      emitSweep(stage);
      if (tasks > 1) {
        failed |= e.elements->failed();
        e.close();
      }
    }
    if ((tasks > 1 && !space.sumsOf(stage).empty()) ||
        !space.afterwards(stage, Extent::column).empty() ||
        !space.afterwards(stage, Extent::scalar).empty()) {
      if (tasks > 1) {
        e.open("_sums" + std::to_string(stage), 1);
        placeSums();
      }
      emitCombination(stage);
      if (tasks > 1) {
        failed |= e.elements->failed();
        e.close();
      }
    }
  }
  if (tasks == 1) {
    failed |= e.elements->failed();
    e.close();
  }
  return failure(failed);
}

/// for each column { for each part of the rows, each of its rows { sum; full results };
///                   results per column }
void RowEmitter::emitByColumns() {
  tasks = llvm::divideCeil(space.columns, grain);
  e.open("", tasks);
  auto [begin, end] = e.range(e.lo, e.hi, grain, space.columns);
  scf::ForOp columnLoop = e.loop(begin, end);
  columnLoop->setAttr(lanesName, e.builder.getUnitAttr());
  column = e.space->declare(columnLoop.getInductionVar(), space.columns);
  SmallVector<Value> neutrals, next, scalars;
  for (Sum &sum : space.sums)
    neutrals.push_back(neutralOf(e.builder, e.loc, sum.op.getKind(), elementOf(sum)));
  auto combined = [&](ValueRange totals, ValueRange added) {
    SmallVector<Value> results;
    for (auto [sum, total, more] : llvm::zip_equal(space.sums, totals, added))
      results.push_back(combine(e.builder, e.loc, sum.op.getKind(), total, more));
    return results;
  };
  int64_t parts = llvm::divideCeil(space.rows, summedRows);
  scf::ForOp partLoop;
  Value firstRow = e.index(0), endRow = e.index(space.rows);
  if (parts > 1) {
    partLoop = e.loop(e.index(0), e.index(parts), neutrals);
    firstRow =
        arith::MulIOp::create(e.builder, e.loc, partLoop.getInductionVar(), e.index(summedRows));
    endRow = arith::AddIOp::create(e.builder, e.loc, firstRow, e.index(summedRows));
    endRow = arith::MinSIOp::create(e.builder, e.loc, endRow, e.index(space.rows));
  }
  scf::ForOp rowLoop = e.loop(firstRow, endRow, neutrals);
  row = e.space->declare(rowLoop.getInductionVar(), space.rows);
  AffineExpr position = row * space.columns + column;
  for (Sum &sum : space.sums)
    next.push_back(e.elements->at(sum.op.getInput(), position));
  next = combined(rowLoop.getRegionIterArgs(), next);
  auto outputs = space.outputsOf(0, Extent::full);
  for (const Output &output : outputs)
    scalars.push_back(e.elements->at(output.value, position));
  for (auto [output, scalar] : llvm::zip_equal(outputs, scalars))
    e.storeResult(output.index, position, scalar);
  e.done(rowLoop, next);
  ValueRange totals = rowLoop.getResults();
  if (partLoop) {
    e.done(partLoop, combined(partLoop.getRegionIterArgs(), totals));
    totals = partLoop.getResults();
  }
  for (auto [sum, total] : llvm::zip_equal(space.sums, totals)) {
    e.elements->fix(sum.op.getResult(), column, total);
    for (unsigned i = 0; i < e.kernel.getNumResults(); ++i)
      if (e.yielded(i) == sum.op.getResult())
        e.storeResult(i, column, total);
  }
  for (const Output &output : space.afterwards(0, Extent::column))
    e.storeResult(output.index, column, e.elements->at(output.value, column));
  e.done(columnLoop);
  e.close();
}

/// Where the sum of a level begins.
void RowEmitter::clear(Sum &sum, int level) {
  scf::ForOp fill = e.loop(e.index(0), e.index(sum.width));
  fill->setAttr(lanesName, e.builder.getUnitAttr());
  AffineExpr position = task * paddedWidth(sum) + e.space->exprOf(fill.getInductionVar());
  storeElement(e.builder, e.loc, levelOf(sum, level),
               e.space->materialize(e.builder, e.loc, position),
               neutralOf(e.builder, e.loc, sum.op.getKind(), elementOf(sum)));
  e.done(fill);
}

/// Adds the sum of a level to that of the level above.
void RowEmitter::addLevel(Sum &sum, int level) {
  scf::ForOp loop = e.loop(e.index(0), e.index(sum.width));
  loop->setAttr(lanesName, e.builder.getUnitAttr());
  Value position = e.space->materialize(
      e.builder, e.loc, task * paddedWidth(sum) + e.space->exprOf(loop.getInductionVar()));
  Value above = loadElement(e.builder, e.loc, levelOf(sum, level + 1), position);
  Value own = loadElement(e.builder, e.loc, levelOf(sum, level), position);
  storeElement(e.builder, e.loc, levelOf(sum, level + 1), position,
               combine(e.builder, e.loc, sum.op.getKind(), above, own));
  e.done(loop);
}

/// The rows from `begin` to `end`, in chunks of what a sum of `level` adds.
void RowEmitter::emitRows(int stage, Value begin, Value end, int level) {
  if (level == 0) {
    scf::ForOp rowLoop = e.loop(begin, end);
    row = e.space->declare(rowLoop.getInductionVar(), space.rows);
    emitRow(stage);
    e.done(rowLoop);
    return;
  }
  int64_t size = valuesOfLevel(level);
  scf::ForOp chunkLoop = e.loop(begin, end, {}, size);
  Value first = chunkLoop.getInductionVar();
  Value after = arith::AddIOp::create(e.builder, e.loc, first, e.index(size));
  after = arith::MinSIOp::create(e.builder, e.loc, after, end);
  SmallVector<Sum *> trees;
  for (Sum *sum : space.sumsOf(stage))
    if (levelsOf(*sum) >= level)
      trees.push_back(sum);
  for (Sum *sum : trees)
    clear(*sum, level - 1);
  emitRows(stage, first, after, level - 1);
  for (Sum *sum : trees)
    addLevel(*sum, level - 1);
  e.done(chunkLoop);
}

void RowEmitter::emitSweep(int stage) {
  auto sums = space.sumsOf(stage);
  int levels = 0;
  for (Sum *sum : sums)
    levels = std::max(levels, levelsOf(*sum));
  auto clearPartials = [&] {
    for (Sum *sum : sums)
      clear(*sum, levelsOf(*sum));
  };
  task = e.space->constant(0);
  if (tasks == 1) {
    clearPartials();
    emitRows(stage, e.index(0), e.index(space.rows), levels);
  } else if (sums.empty()) {
    auto [begin, end] = e.range(e.lo, e.hi, grain, space.rows);
    emitRows(stage, begin, end, 0);
  } else {
    scf::ForOp taskLoop = e.loop(e.lo, e.hi);
    Value t = taskLoop.getInductionVar();
    task = e.space->declare(t, tasks);
    clearPartials();
    auto [begin, end] =
        e.range(t, arith::AddIOp::create(e.builder, e.loc, t, e.index(1)), grain, space.rows);
    emitRows(stage, begin, end, levels);
    e.done(taskLoop);
  }
}

void RowEmitter::accumulate(Sum &sum, AffineExpr column, Value scalar) {
  Buffer partial = levelOf(sum, 0);
  Value position =
      e.space->materialize(e.builder, e.loc, e.space->simplify(task * paddedWidth(sum) + column));
  Value old = loadElement(e.builder, e.loc, partial, position);
  storeElement(e.builder, e.loc, partial, position,
               combine(e.builder, e.loc, sum.op.getKind(), old, scalar));
}

void RowEmitter::emitRow(int stage) {
  auto perRow = space.outputsOf(stage, Extent::row);
  auto sums = space.sumsOf(stage);
  // A buffer has room for elements of any type.
  int64_t bytes = llvm::alignTo(space.columns * int64_t(sizeof(float)), 64), buffers = 0;
  std::vector<RowPass> passes = rowPasses(space, stage, mostSavedBytes / bytes);
  for (const RowPass &pass : passes)
    for (auto [value, buffer] : pass.saves) {
      buffers = std::max<int64_t>(buffers, buffer + 1);
      savedIn[value] = {e.pointerAt(e.scratch, buffer * bytes),
                        scalarType(tensorType(value).getElementType()), -1};
    }
  e.plan.threadScratch = std::max(e.plan.threadScratch, buffers * bytes);
  e.plan.recomputedFlops += recomputedFlops(space, passes, computed);

  column = AffineExpr();
  for (RowPass &pass : passes) {
    emitPass(stage, pass);
    ++e.elements->phase;
  }
  for (Sum *sum : sums)
    if (sum->kind == Sum::perRow)
      accumulate(*sum, e.space->constant(0), e.elements->at(sum->op.getInput(), row));
  SmallVector<Value> scalars;
  for (const Output &output : perRow)
    scalars.push_back(e.elements->at(output.value, row));
  for (auto [output, scalar] : llvm::zip_equal(perRow, scalars))
    e.storeResult(output.index, row, scalar);
  ++e.elements->phase;
}

void RowEmitter::emitPass(int stage, RowPass &pass) {
  auto &[reductions, sums, outputs, saves, forgets] = pass;
  if (pass.isEmpty())
    return;

  SmallVector<Value> accumulators, next, sumScalars, scalars, saved;
  for (ReduceOp op : reductions)
    accumulators.push_back(
        neutralOf(e.builder, e.loc, op.getKind(), tensorType(op.getResult()).getElementType()));
  scf::ForOp loop = e.loop(e.index(0), e.index(space.columns), accumulators);
  loop->setAttr(lanesName, e.builder.getUnitAttr());
  if (column)
    e.space->rebind(column, loop.getInductionVar());
  else
    column = e.space->declare(loop.getInductionVar(), space.columns);
  AffineExpr position = e.space->simplify(row * space.columns + column);
  for (auto [op, accumulator] : llvm::zip_equal(reductions, loop.getRegionIterArgs()))
    next.push_back(combine(e.builder, e.loc, op.getKind(), accumulator,
                           e.elements->at(op.getInput(), position)));
  for (Sum *sum : sums)
    sumScalars.push_back(e.elements->at(sum->op.getInput(), position));
  for (const Output &output : outputs)
    scalars.push_back(e.elements->at(output.value, position));
  for (auto [value, buffer] : saves)
    saved.push_back(e.elements->at(value, position));
  for (auto [sum, scalar] : llvm::zip_equal(sums, sumScalars))
    accumulate(*sum, column, scalar);
  for (auto [output, scalar] : llvm::zip_equal(outputs, scalars))
    e.storeResult(output.index, position, scalar);
  for (auto [save, scalar] : llvm::zip_equal(saves, saved))
    storeElement(e.builder, e.loc, savedIn.lookup(save.value), loop.getInductionVar(), scalar);
  e.done(loop, next);
  for (auto [value, buffer] : saves)
    e.elements->save(value, position, savedIn.lookup(value), column);
  for (Value value : forgets)
    e.elements->forget(value);

  for (auto [op, total] : llvm::zip_equal(reductions, loop.getResults())) {
    bool isSum = false;
    for (Sum *sum : space.sumsOf(stage))
      if (sum->op == op && sum->kind == Sum::total) {
        accumulate(*sum, e.space->constant(0), total);
        isSum = true;
      }
    if (!isSum)
      e.elements->fix(op.getResult(), row, total);
  }
}

void RowEmitter::emitCombination(int stage) {
  if (tasks > 1)
    for (Sum *sum : space.sumsOf(stage)) {
      scf::ForOp columnLoop = e.loop(e.index(0), e.index(sum->width));
      columnLoop->setAttr(lanesName, e.builder.getUnitAttr());
      AffineExpr at = e.space->exprOf(columnLoop.getInductionVar());
      Reduction kind = sum->op.getKind();
      Value neutral = neutralOf(e.builder, e.loc, kind, elementOf(*sum));
      scf::ForOp taskLoop = e.loop(e.index(0), e.index(tasks), neutral);
      AffineExpr position = e.space->exprOf(taskLoop.getInductionVar()) * paddedWidth(*sum) + at;
      Value partial = loadElement(e.builder, e.loc, partialOf(*sum),
                                  e.space->materialize(e.builder, e.loc, position));
      e.done(taskLoop, combine(e.builder, e.loc, kind, taskLoop.getRegionIterArg(0), partial));
      storeElement(e.builder, e.loc, finalOf(*sum), e.space->materialize(e.builder, e.loc, at),
                   taskLoop.getResult(0));
      e.done(columnLoop);
    }
  ++e.elements->phase;
  auto columns = space.afterwards(stage, Extent::column);
  if (!columns.empty()) {
    scf::ForOp loop = e.loop(e.index(0), e.index(space.columns));
    loop->setAttr(lanesName, e.builder.getUnitAttr());
    AffineExpr at = e.space->exprOf(loop.getInductionVar());
    SmallVector<Value> scalars;
    for (const Output &output : columns)
      scalars.push_back(e.elements->at(output.value, at));
    for (auto [output, scalar] : llvm::zip_equal(columns, scalars))
      e.storeResult(output.index, at, scalar);
    e.done(loop);
  }
  ++e.elements->phase;
  for (const Output &output : space.afterwards(stage, Extent::scalar))
    e.storeResult(output.index, e.space->constant(0),
                  e.elements->at(output.value, e.space->constant(0)));
}

} // namespace

LogicalResult emitRows(Emission &emission) {
  return RowEmitter(emission, RowSpace(emission.kernel)).run();
}

} // namespace weir
