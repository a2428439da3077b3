//===- CrossStages.cpp - What goes from stage to stage ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Behind the recipe, so that no pass that changes numbers has ever seen a stage, and ahead of
// layouts, which go through weir.cross as through any op. Wherever an op is put the program is
// right: what it reads is crossed there. So stages follow from rules of thumb.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Locations.h"
#include "ir/weir/Transfers.h"
#include "passes/Passes.h"
#include "passes/pipeline/Stages.h"
#include "runtime/base/Stages.h"
#include <map>

namespace weir {
#define GEN_PASS_DEF_CROSSSTAGES
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;
using namespace weir::pipeline;

namespace {

class Crosser {
public:
  explicit Crosser(ModuleOp module) : module(module) {}

  void run(func::FuncOp function) {
    number = 0;
    known.clear();
    visit(function.front());
  }

private:
  int64_t of(Value value) {
    auto found = at.find(value);
    return found == at.end() ? everywhere : found->second;
  }

  void visit(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto loop = dyn_cast<MicrobatchesOp>(op)) {
        visitLoop(loop);
        continue;
      }
      if (isa<CrossOp, YieldOp>(op))
        continue; // made here; the loop's
      int64_t stage = stageFor(&op);
      for (OpOperand &operand : op.getOpOperands())
        operand.set(crossed(operand.get(), stage));
      if (!isa<ReadOp, WriteOp, func::ReturnOp>(op))
        sayStage(&op, stage);
      for (Value result : op.getResults())
        at[result] = stage;
    }
  }

  int64_t stageFor(Operation *op) {
    if (auto read = dyn_cast<ReadOp>(op))
      return saidStage(module.lookupSymbol(read.getVariable()));
    if (auto write = dyn_cast<WriteOp>(op))
      return saidStage(module.lookupSymbol(write.getVariable()));
    if (isa<func::ReturnOp>(op))
      return everywhere;
    bool anywhere =
        llvm::all_of(op->getOperands(), [&](Value operand) { return of(operand) == everywhere; });
    if (anywhere)
      return everywhere;
    if (int64_t said = saidStage(op); said != everywhere)
      return said;
    // Where most of what it reads is. Of as much, gradients go back, and figures on.
    int64_t best = everywhere, bytes = -1;
    bool goesBack = isGradient(op->getLoc());
    for (Value operand : op->getOperands()) {
      int64_t stage = of(operand), size = storageBytes(operand.getType());
      if (stage == everywhere || isSpread(operand))
        continue;
      if (size > bytes || (size == bytes && (goesBack ? stage < best : stage > best))) {
        best = stage;
        bytes = size;
      }
    }
    if (best != everywhere)
      return best;
    for (Value operand : op->getOperands())
      best = std::max(best, of(operand));
    return best;
  }

  /// One number everywhere: it is made again of that number, wherever it is read.
  static bool isSpread(Value value) {
    auto broadcast = value.getDefiningOp<BroadcastOp>();
    return broadcast && shapeOf(broadcast.getInput()).empty();
  }

  void visitLoop(MicrobatchesOp loop) {
    Block &body = loop.getBody().front();
    for (auto [i, operand] : llvm::enumerate(loop->getOperands()))
      at[body.getArgument(unsigned(i) + 1)] = of(operand);
    visit(body);
    Operation *yield = body.getTerminator();
    unsigned sums = loop.numSums();
    for (auto [i, result] : llvm::enumerate(loop.getResults())) {
      if (i < sums) {
        at[result] = of(yield->getOperand(unsigned(i)));
        continue;
      }
      int64_t stage = of(loop.getCarried()[i - sums]);
      yield->setOperand(unsigned(i), crossed(yield->getOperand(unsigned(i)), stage));
      at[result] = stage;
    }
  }

  /// The value on a stage, or on all.
  Value crossed(Value value, int64_t to) {
    int64_t from = of(value);
    if (from == everywhere || from == to)
      return value;
    if (auto found = known.find({value.getAsOpaquePointer(), everywhere}); found != known.end())
      return found->second;
    Value &made = known[{value.getAsOpaquePointer(), to}];
    if (made)
      return made;
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    if (isSpread(value)) {
      auto broadcast = value.getDefiningOp<BroadcastOp>();
      Value there = crossed(broadcast.getInput(), to);
      auto again = cast<BroadcastOp>(builder.clone(*broadcast));
      again->setOperand(0, there);
      sayStage(again, to);
      made = again;
    } else {
      made = CrossOp::create(builder, value.getLoc(), value, from, to, ++number);
    }
    at[made] = to;
    return made;
  }

  ModuleOp module;
  int64_t number = 0; ///< of the last that crosses
  llvm::DenseMap<Value, int64_t> at;
  std::map<std::pair<const void *, int64_t>, Value> known; ///< what has been crossed
};

struct CrossStages : weir::impl::CrossStagesBase<CrossStages> {
  using Base::Base;

  void runOnOperation() override {
    if (stagesOf(std::string(mesh)) == 1)
      return;
    for (auto function : getOperation().getOps<func::FuncOp>())
      Crosser(getOperation()).run(function);
  }
};

} // namespace
