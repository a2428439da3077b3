//===- CutMicrobatches.cpp - Changes the number of microbatches -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs first, on the forward pass alone. If rows depend on each other, the batch of the recipe is
// part of the mathematics. If they do not, a batch is the sum of its parts (BatchRows.h), and a
// step may process any number of parts one after the other.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Names.h"
#include "ir/weir/Strategy.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/interfaces/BatchRows.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Yield.h"
#include "ir/weir/random/Random.h"
#include "ir/weir/structure/Structure.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace weir {
#define GEN_PASS_DEF_CUTMICROBATCHES
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

/// One op, as `count` microbatches.
class Cut {
public:
  Cut(MicrobatchesOp op, int64_t count) : op(op), count(count), times(count / op.getCount()) {}

  LogicalResult run() {
    Block &body = op.getBody().front();
    int64_t rows = op.getSliced().empty() ? 1 : shapeOf(body.getArgument(1))[0];
    if (count % op.getCount() != 0 || rows % times != 0) {
      InFlightDiagnostic why = refuse(op.getLoc());
      if (op.getCount() == 1)
        return why << "it has " << rows << " rows: expected a divisor of " << rows;
      return why << "it accumulates " << op.getCount() << " batches of " << rows
                 << " rows: expected a multiple of " << op.getCount() << " that divides "
                 << int64_t(op.getCount()) * rows;
    }
    if (!op.getCarried().empty())
      return refuse(op.getLoc())
             << "state is carried from batch to batch, and would be carried between "
                "microbatches; use `accumulate "
             << count << "` in its recipe, which takes as many whole batches per step";
    getUsedValuesDefinedAbove(op.getBody(), captured);
    for (auto draw : body.getOps<RandomOp>())
      if (drawsRows(draw, rows))
        draws.push_back(draw);
    func::FuncOp whole = outline();
    SmallVector<std::optional<RowPlace>> places(whole.getNumArguments());
    for (size_t i = 0; i < op.getSliced().size() + draws.size(); ++i)
      places[1 + i] = RowPlace{0, shapeOf(whole.getArgument(1 + i))[0] / rows};
    BatchRows found(whole, rows, places);
    LogicalResult result = success();
    if (!found.independent())
      result = refuse(found.tied().location) << found.tied().why;
    else
      inlineParts(cutRows(found, rows / times, "part"));
    whole.erase();
    return result;
  }

private:
  InFlightDiagnostic refuse(Location place) {
    return emitError(place) << "a step cannot be split into " << count << " microbatches: ";
  }

  /// Whether random numbers may be drawn for each row. The element index counts on over
  /// microbatches, so each part draws the numbers that the batch had for its rows.
  bool drawsRows(RandomOp draw, int64_t rows) {
    ArrayRef<int64_t> shape = shapeOf(draw);
    return draw.getRound() == op.round() && captured.contains(draw.getSeed()) &&
           captured.contains(draw.getStep()) && !shape.empty() && shape[0] % rows == 0;
  }

  /// The body as a temporary entry: its arguments are the round, the slices, the random numbers of
  /// each row, and values from outside.
  func::FuncOp outline() {
    auto function = op->getParentOfType<func::FuncOp>();
    OpBuilder builder(function);
    Operation *yield = op.getBody().front().getTerminator();
    SmallVector<Value> taken(op.getBody().getArguments());
    for (RandomOp draw : draws)
      taken.push_back(draw);
    llvm::append_range(taken, captured);
    auto made = func::FuncOp::create(
        builder, op.getLoc(), "whole",
        builder.getFunctionType(ValueRange(taken).getTypes(), yield->getOperandTypes()));
    Block *block = made.addEntryBlock();
    IRMapping mapping;
    mapping.map(taken, block->getArguments());
    builder.setInsertionPointToEnd(block);
    for (Operation &inner : op.getBody().front().without_terminator())
      if (!llvm::is_contained(draws, &inner))
        builder.clone(inner, mapping);
    SmallVector<Value> results;
    for (Value value : yield->getOperands())
      results.push_back(mapping.lookup(value));
    func::ReturnOp::create(builder, yield->getLoc(), results);
    for (unsigned i = 0; i < results.size(); ++i)
      made.setResultAttr(i, partAttrName, builder.getStringAttr("sum"));
    return made;
  }

  /// Makes the entry of a part the body.
  void inlineParts(func::FuncOp part) {
    OpBuilder builder(op);
    auto made = MicrobatchesOp::create(builder, op.getLoc(), op.getResultTypes(), count,
                                       op.getSliced(), ValueRange());
    Block &block = part.getBody().front();
    made.getBody().takeBody(part.getBody());
    builder.setInsertionPointToStart(&block);
    // Random numbers for the whole batch are drawn by all of its parts.
    Value round = made.round();
    Value many = ConstantOp::create(builder, op.getLoc(), tensorType(round), times);
    auto batch = DivOp::create(builder, op.getLoc(), round, many);
    round.replaceAllUsesExcept(batch, batch);
    SmallVector<Value> values;
    for (auto [i, draw] : llvm::enumerate(draws)) {
      auto type = block.getArgument(1 + op.getSliced().size() + i).getType();
      values.push_back(RandomOp::create(builder, draw.getLoc(), type, draw.getSeed(),
                                        draw.getStep(), round, draw.getDistribution(),
                                        draw.getKey()));
    }
    llvm::append_range(values, captured);
    for (auto [argument, value] :
         llvm::zip_equal(block.getArguments().take_back(values.size()), values))
      argument.replaceAllUsesWith(value);
    block.eraseArguments(block.getNumArguments() - values.size(), values.size());
    Operation *end = block.getTerminator();
    builder.setInsertionPoint(end);
    YieldOp::create(builder, end->getLoc(), end->getOperands());
    end->erase();
    op->replaceAllUsesWith(made);
    op.erase();
    part.erase();
  }

  MicrobatchesOp op;
  const int64_t count, times;
  llvm::SetVector<Value> captured;
  SmallVector<RandomOp> draws;
};

struct CutMicrobatches : weir::impl::CutMicrobatchesBase<CutMicrobatches> {
  void runOnOperation() override {
    const std::optional<int64_t> count = strategyOf(getOperation()).microbatches;
    if (!count)
      return markAllAnalysesPreserved();
    SmallVector<MicrobatchesOp> all;
    getOperation().walk([&](MicrobatchesOp op) { all.push_back(op); });
    for (MicrobatchesOp op : all)
      if (static_cast<int64_t>(op.getCount()) != *count && failed(Cut(op, *count).run()))
        return signalPassFailure();
  }
};

} // namespace
