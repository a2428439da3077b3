//===- Rows.cpp - Kernels of rows -----------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A block computes a row at a time, or a warp where rows are short: its threads go over the columns
// as many times as reductions along the row depend on each other, each thread over the same columns
// every time. What is summed across rows is summed per block into the workspace; a second launch
// adds the blocks' partial sums in their order, and a third computes what follows from them. Where
// nothing is reduced along rows, a thread sums columns of its own. A block's sums of many rows are
// trees (SumTrees.h): those in memory have their levels in the workspace.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/Emission.h"
#include "codegen/kernel/RowPasses.h"
#include "codegen/kernel/RowSpace.h"
#include "codegen/kernel/SumTrees.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/interfaces/Elements.h"
#include "ir/weir/reduction/Reduction.h"
#include "ir/weir/structure/Structure.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace weir::gpu {
namespace {

int64_t paddedWidth(Sum &sum) { return llvm::alignTo(sum.width, 16); }

/// Fewer are not worth a partial sum, which is written and read again.
constexpr int64_t fewestRows = 16;

/// Partial sums of columns, at most: their places are numbers of 32 bits.
constexpr int64_t mostPartials = 1 << 28;

/// Threads of a multiprocessor that keep its memory busy, each with an access or two on the way. Of
/// 256 in a block that sum what three accesses give, no more are there at a time for want of
/// registers.
constexpr int64_t busyThreads = 1280;

/// Chunks of a row that a warp goes over alone, at most, and the warps of such a block.
constexpr int64_t mostOfWarp = 128, warpsOfBlock = 4;

/// Registers that a thread has for what it saves, at most; larger blocks have fewer.
constexpr int64_t mostSavedRegisters = 64, registersOfBlock = 16384;

/// Of a block that adds partial sums: columns side by side in a warp, a part of the partial sums in
/// each of its warps.
constexpr int64_t warpThreads = 32, sumThreads = 256;

class RowEmitter {
public:
  explicit RowEmitter(Emission &emission) : e(emission), space(emission.kernel) {}

  LogicalResult run();

private:
  using Output = RowSpace::Output;

  void layOutWorkspace();
  Type elementOf(Sum &sum) { return tensorType(sum.op.getResult()).getElementType(); }
  Buffer finalOf(Sum &sum);
  void open(StringRef suffix, int64_t blocks, int64_t threads);
  void close();

  void emitByColumns();
  void emitSweep(int stage);
  void emitTask(int stage);
  void emitRows(int stage, Value begin, Value end, int level);
  void emitRow(int stage);
  void emitPass(int stage, RowPass &pass);
  Value neutral(Sum &sum, int64_t count = 1) {
    return neutralOf(e.builder, e.loc, sum.op.getKind(), elementOf(sum), count);
  }
  void clearPartials(int stage);
  void storePartials();
  int64_t bytesOfPartials(Sum &sum) {
    return llvm::alignTo(tasks * paddedWidth(sum) * storedBytes(elementOf(sum)), 64);
  }
  /// The sums of all tasks.
  Buffer partialOf(Sum &sum) { return levelOf(sum, levelsOf(sum)); }
  /// What rows, at level 0, or as many sums of the level below are added to in memory.
  Buffer levelOf(Sum &sum, int level);
  int levelsOf(Sum &sum);
  void addLevel(Sum &sum, int level);
  /// Calls `body` with the places of a sum in memory that the thread adds to.
  void forOwnPlaces(Sum &sum, llvm::function_ref<void(AffineExpr at, int64_t count)> body);
  /// Blocks of so many threads that sum, each over rows of its own.
  int64_t blocksOf(int64_t threads) {
    int64_t busy = e.choose("busy_threads", busyThreads, {512, 2048});
    return e.architecture.multiprocessors * std::max<int64_t>(2, busy / threads);
  }
  AffineExpr partialPlace(Sum &sum, AffineExpr at) {
    return e.space->simplify(task * paddedWidth(sum) + at);
  }
  void emitSums(int stage);
  void emitSum(Sum &sum);
  void emitAfterwards(int stage);
  void accumulate(Sum &sum, AffineExpr at, Value scalar);
  void byFirstThread(llvm::function_ref<void()> body);

  Emission &e;
  RowSpace space;
  int64_t tasks = 1, grain = 1, lanes = 1;
  int64_t threads = 32, rowsOfBlock = 1; ///< of a row, and how many are side by side
  bool columnsAlone = false;             ///< each thread sums columns of its own
  Value thread;                          ///< of a row's
  DenseMap<Operation *, int64_t> partialOffsets, finalOffsets;
  DenseMap<Value, Buffer> savedIn;
  DenseSet<Value> computed; ///< full values, by the passes so far
  AffineExpr task, row, chunk;
  /// Sums that threads keep to themselves: a total's part, and of columns, where a thread has one
  /// place in a row, a value for each lane.
  llvm::MapVector<Operation *, Value> kept;
  bool failed = false;
};

void RowEmitter::layOutWorkspace() {
  int64_t bytes = 0;
  for (Sum &sum : space.sums) {
    partialOffsets[sum.op] = bytes;
    bytes += (1 + levelsOf(sum)) * bytesOfPartials(sum);
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

void RowEmitter::open(StringRef suffix, int64_t blocks, int64_t ofBlock) {
  e.open(suffix, blocks, ofBlock);
  for (Sum &sum : space.sums)
    e.elements->place(sum.op.getResult(), finalOf(sum));
}

void RowEmitter::close() {
  failed |= e.elements->failed();
  e.close();
}

void RowEmitter::byFirstThread(llvm::function_ref<void()> body) {
  Value first =
      arith::CmpIOp::create(e.builder, e.loc, arith::CmpIPredicate::eq, thread, e.index(0));
  e.when(first, body);
}

LogicalResult RowEmitter::run() {
  lanes = e.lanesFor(space.columns);
  int64_t chunks = space.columns / lanes;
  columnsAlone = space.rowReductions.empty() && !space.sums.empty() &&
                 llvm::all_of(space.sums, [](Sum &sum) { return sum.kind == Sum::perColumn; });
  for (unsigned i = 0; i < e.kernel.getNumResults(); ++i)
    columnsAlone &= space.extentOf(e.yielded(i)) != Extent::row;
  columnsAlone &= space.lastStage <= 1;
  if (columnsAlone) {
    threads = std::clamp<int64_t>(llvm::PowerOf2Ceil(chunks), 32, 128);
    threads = e.choose("threads", threads, {32, 64, 128, 256});
    int64_t groups = llvm::divideCeil(chunks, threads);
    tasks = std::clamp<int64_t>(blocksOf(threads) / groups, 1,
                                llvm::divideCeil(space.rows, fewestRows));
    grain = llvm::divideCeil(space.rows, tasks);
    tasks = llvm::divideCeil(space.rows, grain);
    layOutWorkspace();
    emitByColumns();
    emitSums(0);
    emitAfterwards(0);
    return failure(failed);
  }
  threads = std::clamp<int64_t>(llvm::PowerOf2Ceil(chunks), 32, 1024);
  if (space.sums.empty() && chunks <= mostOfWarp) {
    threads = warpThreads;
    rowsOfBlock = std::min(e.choose("rows_of_block", warpsOfBlock, {2, 8}), space.rows);
  } else {
    threads = e.choose("threads", threads, {128, 256, 512, 1024});
  }
  tasks = space.sums.empty()
              ? space.rows
              : std::min<int64_t>(llvm::divideCeil(space.rows, fewestRows), blocksOf(threads));
  if (!space.sums.empty())
    tasks = std::clamp<int64_t>(mostPartials / space.columns, 1, tasks);
  grain = llvm::divideCeil(space.rows, tasks);
  tasks = llvm::divideCeil(space.rows, grain);
  layOutWorkspace();
  for (int stage = 0; stage <= space.lastStage; ++stage) {
    if (!space.outputsOf(stage, Extent::full).empty() ||
        !space.outputsOf(stage, Extent::row).empty() || !space.sumsOf(stage).empty())
      emitSweep(stage);
    emitSums(stage);
    emitAfterwards(stage);
  }
  return failure(failed);
}

/// A thread for each chunk of columns and each `grain` rows.
void RowEmitter::emitByColumns() {
  int64_t chunks = space.columns / lanes, groups = llvm::divideCeil(chunks, threads);
  open("_rows0", tasks * groups, threads);
  OpBuilder &b = e.builder;
  Value group = arith::RemUIOp::create(b, e.loc, e.block, e.index(groups));
  Value taskAt = arith::DivUIOp::create(b, e.loc, e.block, e.index(groups));
  task = e.space->declare(taskAt, tasks);
  Value at = arith::AddIOp::create(
      b, e.loc, arith::MulIOp::create(b, e.loc, group, e.index(threads)), e.thread);
  e.when(e.below(at, chunks), [&] {
    AffineExpr column = e.space->declare(at, chunks) * lanes;
    Value begin = arith::MulIOp::create(b, e.loc, taskAt, e.index(grain));
    Value end = arith::MinSIOp::create(
        b, e.loc, arith::AddIOp::create(b, e.loc, begin, e.index(grain)), e.index(space.rows));
    SmallVector<Value> none;
    for (Sum &sum : space.sums)
      none.push_back(neutral(sum, lanes));
    scf::ForOp loop = e.loop(begin, end, e.index(1), none);
    row = e.space->declare(loop.getInductionVar(), space.rows);
    auto outputs = space.outputsOf(0, Extent::full);
    auto body = [&](AffineExpr position, ValueRange, ValueRange sums) -> SmallVector<Value> {
      SmallVector<Value> next, scalars;
      for (auto [sum, accumulator] : llvm::zip_equal(space.sums, sums))
        next.push_back(combine(b, e.loc, sum.op.getKind(), accumulator,
                               e.elements->at(sum.op.getInput(), position)));
      for (const Output &output : outputs)
        scalars.push_back(e.elements->at(output.value, position));
      for (auto [output, scalar] : llvm::zip_equal(outputs, scalars))
        e.storeResult(output.index, position, scalar);
      return next;
    };
    AffineExpr base = e.space->simplify(row * space.columns + column);
    e.done(loop, e.lanes(lanes, base, {}, ValueRange(loop.getRegionIterArgs()), body));
    for (auto [sum, total] : llvm::zip_equal(space.sums, loop.getResults()))
      e.storeVector(partialOf(sum), partialPlace(sum, column), total);
  });
  close();
}

/// How many levels there are below the partial sum; none of what threads keep.
int RowEmitter::levelsOf(Sum &sum) {
  bool isKept = sum.kind == Sum::total ||
                (sum.kind == Sum::perColumn && (columnsAlone || space.columns / lanes <= threads));
  return isKept || !dependsOnOrder(sum.op.getKind(), elementOf(sum)) ? 0 : levelsBelow(grain);
}

Buffer RowEmitter::levelOf(Sum &sum, int level) {
  int64_t place = (levelsOf(sum) - level) * bytesOfPartials(sum);
  return e.workspace(elementOf(sum), partialOffsets.lookup(sum.op) + place);
}

void RowEmitter::forOwnPlaces(Sum &sum,
                              llvm::function_ref<void(AffineExpr at, int64_t count)> body) {
  if (sum.kind != Sum::perColumn)
    return byFirstThread([&] { body(e.space->constant(0), 1); });
  int64_t chunks = space.columns / lanes;
  scf::ForOp loop = e.loop(thread, e.index(chunks), e.index(threads));
  body(e.space->declare(loop.getInductionVar(), chunks) * lanes, lanes);
  e.done(loop);
}

/// Adds the sums of a level to those of the level above, and begins them anew.
void RowEmitter::addLevel(Sum &sum, int level) {
  Buffer from = levelOf(sum, level), to = levelOf(sum, level + 1);
  forOwnPlaces(sum, [&](AffineExpr first, int64_t count) {
    e.lanes(count, e.space->simplify(first), {}, {},
            [&](AffineExpr at, ValueRange, ValueRange) -> SmallVector<Value> {
              Value place = e.space->materialize(e.builder, e.loc, partialPlace(sum, at));
              Value own = loadElement(e.builder, e.loc, from, place);
              Value above = loadElement(e.builder, e.loc, to, place);
              storeElement(e.builder, e.loc, to, place,
                           combine(e.builder, e.loc, sum.op.getKind(), above, own));
              storeElement(e.builder, e.loc, from, place, neutral(sum));
              return {};
            });
  });
}

/// Where the sums of a sweep begin.
void RowEmitter::clearPartials(int stage) {
  kept.clear();
  int64_t chunks = space.columns / lanes;
  for (Sum *sum : space.sumsOf(stage)) {
    if (sum->kind == Sum::total) {
      kept[sum->op] = neutral(*sum);
      continue;
    }
    if (sum->kind == Sum::perColumn && chunks <= threads) {
      kept[sum->op] = neutral(*sum, lanes);
      continue;
    }
    for (int level = 0; level <= levelsOf(*sum); ++level)
      forOwnPlaces(*sum, [&](AffineExpr at, int64_t count) {
        e.storeVector(levelOf(*sum, level), partialPlace(*sum, at), neutral(*sum, count));
      });
  }
}

/// The sums that threads kept, to the workspace.
void RowEmitter::storePartials() {
  SmallVector<Sum *> columns;
  for (Sum &sum : space.sums) {
    Value value = kept.lookup(sum.op);
    if (!value)
      continue;
    if (sum.kind != Sum::total) {
      columns.push_back(&sum);
      continue;
    }
    Value total = e.blockReduce(sum.op.getKind(), value);
    byFirstThread(
        [&] { e.storeVector(partialOf(sum), partialPlace(sum, e.space->constant(0)), total); });
  }
  if (columns.empty())
    return;
  e.when(e.below(thread, space.columns / lanes), [&] {
    AffineExpr first = e.space->declare(thread, threads) * lanes;
    for (Sum *sum : columns)
      e.storeVector(partialOf(*sum), partialPlace(*sum, first), kept.lookup(sum->op));
  });
}

void RowEmitter::emitSweep(int stage) {
  open("_rows" + std::to_string(stage), llvm::divideCeil(tasks, rowsOfBlock),
       threads * rowsOfBlock);
  OpBuilder &b = e.builder;
  chunk = AffineExpr();
  if (rowsOfBlock == 1) {
    thread = e.thread;
    task = e.space->exprOf(e.block);
    emitTask(stage);
  } else {
    e.threads = threads; // reduce together
    thread = arith::RemUIOp::create(b, e.loc, e.thread, e.index(threads));
    Value at = arith::AddIOp::create(b, e.loc,
                                     arith::MulIOp::create(b, e.loc, e.block, e.index(rowsOfBlock)),
                                     arith::DivUIOp::create(b, e.loc, e.thread, e.index(threads)));
    e.space->declare(thread, threads);
    e.when(e.below(at, tasks), [&] {
      task = e.space->declare(at, tasks);
      emitTask(stage);
    });
  }
  close();
}

/// The rows of a block, or the one of a warp.
void RowEmitter::emitTask(int stage) {
  OpBuilder &b = e.builder;
  clearPartials(stage);
  int levels = 0;
  for (Sum *sum : space.sumsOf(stage))
    levels = std::max(levels, levelsOf(*sum));
  if (grain == 1) {
    row = task;
    emitRow(stage);
  } else {
    Value begin = arith::MulIOp::create(b, e.loc, e.block, e.index(grain));
    Value end = arith::MinSIOp::create(
        b, e.loc, arith::AddIOp::create(b, e.loc, begin, e.index(grain)), e.index(space.rows));
    emitRows(stage, begin, end, levels);
  }
  storePartials();
}

/// The rows from `begin` to `end`, in chunks of what a sum of `level` adds.
void RowEmitter::emitRows(int stage, Value begin, Value end, int level) {
  OpBuilder &b = e.builder;
  int64_t size = valuesOfLevel(level);
  SmallVector<Value> initial;
  for (auto &[op, value] : kept)
    initial.push_back(value);
  scf::ForOp loop = e.loop(begin, end, e.index(size), initial);
  for (auto [sum, argument] : llvm::zip_equal(kept, loop.getRegionIterArgs()))
    sum.second = argument;
  Value first = loop.getInductionVar();
  if (level == 0) {
    row = e.space->declare(first, space.rows);
    emitRow(stage);
  } else {
    Value after = arith::AddIOp::create(b, e.loc, first, e.index(size));
    emitRows(stage, first, arith::MinSIOp::create(b, e.loc, after, end), level - 1);
    for (Sum *sum : space.sumsOf(stage))
      if (levelsOf(*sum) >= level)
        addLevel(*sum, level - 1);
  }
  SmallVector<Value> next;
  for (auto &[op, value] : kept)
    next.push_back(value);
  e.done(loop, next);
  for (auto [sum, result] : llvm::zip_equal(kept, loop.getResults()))
    sum.second = result;
}

void RowEmitter::accumulate(Sum &sum, AffineExpr at, Value scalar) {
  Buffer partial = levelOf(sum, 0);
  Value place = e.space->materialize(e.builder, e.loc, partialPlace(sum, at));
  Value old = loadElement(e.builder, e.loc, partial, place);
  storeElement(e.builder, e.loc, partial, place,
               combine(e.builder, e.loc, sum.op.getKind(), old, scalar));
}

void RowEmitter::emitRow(int stage) {
  auto perRow = space.outputsOf(stage, Extent::row);
  auto sums = space.sumsOf(stage);
  // A thread has the same columns in every pass. It saves them in registers, so only where its
  // columns are one chunk: places in an array that is gone through are no registers.
  int64_t most = std::min(mostSavedRegisters, registersOfBlock / threads) / lanes;
  std::vector<RowPass> passes =
      rowPasses(space, stage, space.columns / lanes <= threads ? most : 0);
  e.plan.recomputedFlops += recomputedFlops(space, passes, computed);
  for (const RowPass &pass : passes)
    for (auto [value, buffer] : pass.saves)
      savedIn[value] = e.ownArray(scalarType(tensorType(value).getElementType()), lanes);
  for (RowPass &pass : passes) {
    emitPass(stage, pass);
    ++e.elements->phase;
  }
  bool perRowSums = llvm::any_of(sums, [](Sum *sum) { return sum->kind == Sum::perRow; });
  if (!perRow.empty() || perRowSums)
    byFirstThread([&] {
      for (Sum *sum : sums)
        if (sum->kind == Sum::perRow)
          accumulate(*sum, e.space->constant(0), e.elements->at(sum->op.getInput(), row));
      SmallVector<Value> scalars;
      for (const Output &output : perRow)
        scalars.push_back(e.elements->at(output.value, row));
      // Other threads may read what is there.
      for (auto [output, scalar] : llvm::zip_equal(perRow, scalars))
        e.storeResult(output.index, row, scalar, /*alone=*/false);
    });
  ++e.elements->phase;
}

void RowEmitter::emitPass(int stage, RowPass &pass) {
  auto &[reductions, sums, outputs, saves, forgets] = pass;
  if (pass.isEmpty())
    return;

  OpBuilder &b = e.builder;
  SmallVector<Value> accumulators;
  for (ReduceOp op : reductions)
    accumulators.push_back(kept.count(op) ? kept.lookup(op)
                                          : neutralOf(b, e.loc, op.getKind(),
                                                      tensorType(op.getResult()).getElementType()));
  SmallVector<Sum *> keptSums, storedSums;
  for (Sum *sum : sums)
    (kept.count(sum->op) ? keptSums : storedSums).push_back(sum);
  for (Sum *sum : keptSums)
    accumulators.push_back(kept.lookup(sum->op));
  int64_t chunks = space.columns / lanes;
  scf::ForOp loop = e.loop(thread, e.index(chunks), e.index(threads), accumulators);
  if (chunk)
    e.space->rebind(chunk, loop.getInductionVar());
  else
    chunk = e.space->declare(loop.getInductionVar(), chunks);
  AffineExpr base = e.space->simplify(row * space.columns + chunk * lanes);
  AffineExpr savedPosition, savedPlace;
  auto body = [&](AffineExpr position, ValueRange carried,
                  ValueRange ofLane) -> SmallVector<Value> {
    SmallVector<Value> next, sumScalars, scalars, saved;
    for (auto [op, accumulator] : llvm::zip_equal(reductions, carried))
      next.push_back(
          combine(b, e.loc, op.getKind(), accumulator, e.elements->at(op.getInput(), position)));
    for (auto [sum, accumulator] : llvm::zip_equal(keptSums, ofLane))
      next.push_back(combine(b, e.loc, sum->op.getKind(), accumulator,
                             e.elements->at(sum->op.getInput(), position)));
    for (Sum *sum : storedSums)
      sumScalars.push_back(e.elements->at(sum->op.getInput(), position));
    for (const Output &output : outputs)
      scalars.push_back(e.elements->at(output.value, position));
    for (auto [value, buffer] : saves)
      saved.push_back(e.elements->at(value, position));
    savedPosition = position;
    savedPlace = e.space->simplify(position - base);
    for (auto [save, scalar] : llvm::zip_equal(saves, saved))
      storeElement(b, e.loc, savedIn.lookup(save.value), e.space->materialize(b, e.loc, savedPlace),
                   scalar);
    for (auto [sum, scalar] : llvm::zip_equal(storedSums, sumScalars))
      accumulate(*sum, e.space->simplify(position - row * space.columns), scalar);
    for (auto [output, scalar] : llvm::zip_equal(outputs, scalars))
      e.storeResult(output.index, position, scalar);
    return next;
  };
  ValueRange carried(loop.getRegionIterArgs());
  SmallVector<Value> next = e.lanes(lanes, base, carried.take_front(reductions.size()),
                                    carried.drop_front(reductions.size()), body);
  e.done(loop, next);
  for (auto [value, buffer] : saves)
    e.elements->save(value, savedPosition, savedIn.lookup(value), savedPlace);
  for (Value value : forgets)
    e.elements->forget(value);
  for (auto [sum, value] :
       llvm::zip_equal(keptSums, loop.getResults().drop_front(reductions.size())))
    kept[sum->op] = value;

  for (auto [op, own] :
       llvm::zip_equal(reductions, loop.getResults().take_front(reductions.size()))) {
    if (kept.count(op))
      kept[op] = own;
    else
      e.elements->fix(op.getResult(), row, e.blockReduce(op.getKind(), own));
  }
}

void RowEmitter::emitSums(int stage) {
  auto sums = space.sumsOf(stage);
  if (sums.empty())
    return;
  auto blocksFor = [](Sum *sum) -> int64_t { return llvm::divideCeil(sum->width, warpThreads); };
  int64_t most = 1;
  for (Sum *sum : sums)
    most = std::max(most, blocksFor(sum));
  open("_sums" + std::to_string(stage), most, sumThreads);
  for (Sum *sum : sums)
    if (blocksFor(sum) == most)
      emitSum(*sum);
    else
      e.when(e.below(e.block, blocksFor(sum)), [&] { emitSum(*sum); });
  close();
}

/// Adds what blocks summed up: every warp a part of it, and then the warps'. A sum of one element
/// is shared out among all threads.
void RowEmitter::emitSum(Sum &sum) {
  OpBuilder &b = e.builder;
  Reduction kind = sum.op.getKind();
  Value begin = e.thread, end = e.index(tasks), step = e.index(sumThreads);
  AffineExpr column = e.space->constant(0);
  Value isOwn = arith::CmpIOp::create(b, e.loc, arith::CmpIPredicate::eq, e.thread, e.index(0));
  if (sum.width > 1) {
    int64_t part = llvm::divideCeil(tasks, sumThreads / warpThreads);
    Value warp = arith::DivUIOp::create(b, e.loc, e.thread, e.index(warpThreads));
    Value lane = arith::RemUIOp::create(b, e.loc, e.thread, e.index(warpThreads));
    begin = arith::MulIOp::create(b, e.loc, warp, e.index(part));
    end = arith::MinSIOp::create(b, e.loc, end,
                                 arith::AddIOp::create(b, e.loc, begin, e.index(part)));
    step = e.index(1);
    Value at = arith::AddIOp::create(
        b, e.loc, arith::MulIOp::create(b, e.loc, e.block, e.index(warpThreads)), lane);
    isOwn = arith::AndIOp::create(b, e.loc, e.below(e.thread, warpThreads), e.below(at, sum.width));
    // All take part in the reduction.
    column =
        e.space->declare(arith::MinSIOp::create(b, e.loc, at, e.index(sum.width - 1)), sum.width);
  }
  scf::ForOp loop = e.loop(begin, end, step, neutral(sum));
  AffineExpr place = e.space->declare(loop.getInductionVar(), tasks) * paddedWidth(sum) + column;
  Value one = loadElement(b, e.loc, partialOf(sum),
                          e.space->materialize(b, e.loc, e.space->simplify(place)));
  e.done(loop, combine(b, e.loc, kind, loop.getRegionIterArg(0), one));
  Value own = loop.getResult(0);
  Value total = sum.width > 1 ? e.warpsReduce(kind, own) : e.blockReduce(kind, own);
  e.when(isOwn, [&] {
    storeElement(b, e.loc, finalOf(sum), e.space->materialize(b, e.loc, column), total);
  });
}

/// What follows from the sums of a stage, column by column, and scalars.
void RowEmitter::emitAfterwards(int stage) {
  auto columns = space.afterwards(stage, Extent::column),
       scalars = space.afterwards(stage, Extent::scalar);
  if (columns.empty() && scalars.empty())
    return;
  int64_t width = columns.empty() ? 1 : space.columns;
  int64_t ofBlock = std::clamp<int64_t>(llvm::PowerOf2Ceil(width), 32, 128);
  open("_after" + std::to_string(stage), llvm::divideCeil(width, ofBlock), ofBlock);
  OpBuilder &b = e.builder;
  Value at = arith::AddIOp::create(
      b, e.loc, arith::MulIOp::create(b, e.loc, e.block, e.index(ofBlock)), e.thread);
  if (!columns.empty())
    e.when(e.below(at, width), [&] {
      AffineExpr column = e.space->declare(at, width);
      SmallVector<Value> values;
      for (const Output &output : columns)
        values.push_back(e.elements->at(output.value, column));
      for (auto [output, value] : llvm::zip_equal(columns, values))
        e.storeResult(output.index, column, value, /*alone=*/false);
    });
  if (!scalars.empty())
    e.when(e.below(at, 1), [&] {
      AffineExpr zero = e.space->constant(0);
      for (const Output &output : scalars)
        e.storeResult(output.index, zero, e.elements->at(output.value, zero), /*alone=*/false);
    });
  close();
}

} // namespace

LogicalResult emitRows(Emission &emission) { return RowEmitter(emission).run(); }

} // namespace weir::gpu
