//===- SplitStages.cpp - The program of one rank's stages -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs right after partition, which produces the program of all stages. So ranks that differ only
// in their stage have their collectives, sends and receives in one order. Simplification and fusion
// then see only a rank's own stages.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Names.h"
#include "ir/weir/Phase.h"
#include "ir/weir/Shapes.h"
#include "ir/weir/Sharding.h"
#include "ir/weir/Strategy.h"
#include "ir/weir/interfaces/Statistics.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Variable.h"
#include "ir/weir/transfer/Transfer.h"
#include "passes/Passes.h"
#include "passes/stages/Sections.h"
#include "support/mesh/Layout.h"

namespace weir {
#define GEN_PASS_DEF_SPLITSTAGES
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;
using namespace weir::stages;

namespace {

class Splitter {
public:
  Splitter(ModuleOp module, const Here &here, const Schedule &schedule)
      : module(module), here(here), schedule(schedule) {}

  LogicalResult run(func::FuncOp function) {
    // Saves the row statistics that gradients read.
    function.walk([](MicrobatchesOp loop) { computeFromStatistics(loop.getBody().front()); });
    find(function.front());
    if (failed(split(function.front())))
      return failure();
    function.walk([](Operation *op) { op->removeAttr(stageAttrName); });
    return success();
  }

  /// Records the variable's stage in its sharding: the plan gives it no memory on other stages.
  void place(VariableOp variable) {
    int64_t stage = saidStage(variable);
    if (stage == everywhere)
      return;
    Sharding sharding;
    if (auto said = variable->getAttrOfType<ShardingAttr>(shardingAttrName))
      sharding = said.getValue();
    else
      for (int64_t size : cast<RankedTensorType>(variable.getType()).getShape())
        sharding.dimensions.push_back({{size}});
    sharding.only = {std::string(stageAxis), stage % here.ranks};
    variable->setAttr(shardingAttrName, ShardingAttr::get(module.getContext(), sharding));
    variable->removeAttr(stageAttrName);
  }

private:
  int64_t of(Value value) {
    auto found = at.find(value);
    return found == at.end() ? everywhere : found->second;
  }
  int64_t ofOp(Operation *op) {
    auto found = atOp.find(op);
    return found == atOp.end() ? everywhere : found->second;
  }

  /// The stage of each value, before ops are removed.
  void find(Block &block) {
    for (Operation &op : block) {
      if (auto loop = dyn_cast<MicrobatchesOp>(op)) {
        Block &body = loop.getBody().front();
        for (auto [i, operand] : llvm::enumerate(loop->getOperands()))
          at[body.getArgument(unsigned(i) + 1)] = of(operand);
        find(body);
        for (auto [i, result] : llvm::enumerate(loop.getResults()))
          at[result] = i < loop.numSums() ? of(body.getTerminator()->getOperand(unsigned(i)))
                                          : of(loop.getCarried()[i - loop.numSums()]);
        continue;
      }
      int64_t stage = saidStage(&op);
      if (auto read = dyn_cast<ReadOp>(op))
        stage = saidStage(module.lookupSymbol(read.getVariable()));
      else if (auto write = dyn_cast<WriteOp>(op))
        stage = saidStage(module.lookupSymbol(write.getVariable()));
      else if (auto transfer = dyn_cast<StageTransferOp>(op))
        stage = static_cast<int64_t>(transfer.getTo());
      else
        for (Value operand : op.getOperands())
          if (stage == everywhere)
            stage = of(operand);
      atOp[&op] = stage;
      for (Value result : op.getResults())
        at[result] = stage;
    }
  }

  LogicalResult split(Block &block) {
    SmallVector<Operation *> ops;
    for (Operation &op : block)
      ops.push_back(&op);
    SmallVector<Operation *> gone;
    for (Operation *op : ops) {
      if (auto transfer = dyn_cast<StageTransferOp>(op)) {
        if (!replace(transfer))
          gone.push_back(op);
      } else if (auto loop = dyn_cast<MicrobatchesOp>(op)) {
        for (Operation &inner : llvm::make_early_inc_range(loop.getBody().front()))
          if (auto transfer = dyn_cast<StageTransferOp>(inner))
            replace(transfer);
        if (failed(check(loop)) ||
            failed(cutIntoSections(
                loop, here, schedule, [&](Operation *op) { return ofOp(op); },
                [&](Value value) { return of(value); })))
          return failure();
        gone.push_back(loop);
      } else if (!here.has(ofOp(op))) {
        gone.push_back(op);
      }
    }
    for (Operation *op : llvm::reverse(gone)) {
      if (!op->use_empty())
        return op->emitOpError("is of stage ")
               << ofOp(op) << ", and read on another, " << ofOp(*op->getUsers().begin());
      op->erase();
    }
    return success();
  }

  LogicalResult check(MicrobatchesOp loop) {
    std::string wrong =
        schedule.check({here.ranks, here.chunks, static_cast<int64_t>(loop.getCount())});
    return wrong.empty() ? success() : emitError(loop.getLoc()) << wrong;
  }

  /// Whether nothing is left of it.
  bool replace(StageTransferOp transfer) {
    int64_t from = static_cast<int64_t>(transfer.getFrom()),
            to = static_cast<int64_t>(transfer.getTo());
    bool isFrom = here.has(from), isTo = here.has(to);
    OpBuilder builder(transfer);
    auto note = [&](Operation *made, int64_t stage) { atOp[made] = stage; };
    Value got;
    if (isFrom) {
      for (int64_t peer = 0; peer < here.ranks; ++peer)
        if (peer != here.rank && (to == everywhere || to % here.ranks == peer))
          note(SendOp::create(builder, transfer.getLoc(), transfer.getInput(), stageAxis, peer,
                              transfer.getNumber()),
               from);
      if (isTo)
        got = transfer.getInput(); // of another stage of this rank, or for all
    } else if (isTo) {
      auto receive = ReceiveOp::create(builder, transfer.getLoc(), transfer.getType(), stageAxis,
                                       from % here.ranks, transfer.getNumber());
      note(receive, to);
      setPhase(receive, phaseOf(transfer));
      got = receive.getResult();
      at[got] = to;
    }
    if (!got)
      return false; // it goes with who reads it
    transfer.replaceAllUsesWith(got);
    transfer.erase();
    return true;
  }

  ModuleOp module;
  const Here &here;
  const Schedule &schedule;
  llvm::DenseMap<Value, int64_t> at;
  llvm::DenseMap<Operation *, int64_t> atOp;
};

struct SplitStages : weir::impl::SplitStagesBase<SplitStages> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    const Mesh *mesh = meshOf(module);
    auto rank = module->getAttrOfType<IntegerAttr>(rankAttrName);
    int axis = mesh ? mesh->find(stageAxis) : -1;
    if (axis < 0 || !rank)
      return;
    const Schedule schedule = scheduleOf(*strategyOf(module).schedule);
    Here here{mesh->axes[size_t(axis)].size, mesh->coordinate(rank.getInt(), unsigned(axis)),
              schedule.chunks};
    if (here.ranks < 2)
      return;
    Splitter splitter(module, here, schedule);
    for (auto function : module.getOps<func::FuncOp>())
      if (failed(splitter.run(function)))
        return signalPassFailure();
    for (auto variable : module.getOps<VariableOp>())
      splitter.place(variable);
  }
};

} // namespace
