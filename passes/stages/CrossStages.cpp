//===- CrossStages.cpp - Inserts the values that cross stages -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs after shardings are chosen, so no pass that changes numbers has seen a stage: a step with a
// pipeline is the step without it, placed on other ranks. Every placement of an op is correct,
// because its operands cross to its stage. So rules of thumb choose the stages.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Names.h"
#include "ir/weir/Phase.h"
#include "ir/weir/Sharding.h"
#include "ir/weir/Stages.h"
#include "ir/weir/Strategy.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Yield.h"
#include "ir/weir/structure/Structure.h"
#include "ir/weir/transfer/Transfer.h"
#include "passes/Passes.h"
#include "passes/sharding/OpSharding.h"
#include "support/mesh/MachineRates.h"
#include "support/mesh/Stages.h"
#include <map>

namespace weir {
#define GEN_PASS_DEF_CROSSSTAGES
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;
using namespace weir::stages;

namespace {

/// The shardings with which the factor shardings of ops (weir.factor_sharding) produce values.
class Lying {
public:
  Lying(ModuleOp module, const Mesh &mesh) : module(module), mesh(mesh) {}

  /// The sharding in which a value crosses to a user there: the one in which it is produced, or the
  /// one in which it is used if a rank's shard is smaller.
  Layout between(OpOperand &use) {
    Layout made = asMade(use.get()), used = asUsed(use);
    return parts(used) > parts(made) ? used : made;
  }

private:
  Layout asMade(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *parent = argument.getOwner()->getParentOp();
      auto inside = parent->getAttrOfType<ArrayAttr>(bodyShardingsAttrName);
      return inside ? read(inside[argument.getArgNumber()], shapeOf(value))
                    : Layout::whole(shapeOf(value));
    }
    Operation *op = value.getDefiningOp();
    unsigned number = cast<OpResult>(value).getResultNumber();
    if (auto loop = dyn_cast<MicrobatchesOp>(op)) {
      auto ofSums = loop->getAttrOfType<ArrayAttr>(sumShardingsAttrName);
      return ofSums && number < loop.numSums()
                 ? read(ofSums[number], shapeOf(value))
                 : asMade(loop.getBody().front().getTerminator()->getOperand(number));
    }
    if (auto get = dyn_cast<ReadOp>(op))
      return ofVariable(get.getVariable(), shapeOf(value));
    if (auto shardable = dyn_cast<Shardable>(op)) {
      ShardRule rule = shardable.shardRule();
      return sharding::layoutOf(rule.results[number], factors(op, rule));
    }
    return Layout::whole(shapeOf(value));
  }

  Layout asUsed(OpOperand &use) {
    Operation *op = use.getOwner();
    if (auto write = dyn_cast<WriteOp>(op))
      return ofVariable(write.getVariable(), shapeOf(use.get()));
    if (auto shardable = dyn_cast<Shardable>(op)) {
      ShardRule rule = shardable.shardRule();
      return sharding::layoutOf(rule.operands[use.getOperandNumber()], factors(op, rule));
    }
    return Layout::whole(shapeOf(use.get()));
  }

  Layout factors(Operation *op, const ShardRule &rule) {
    return read(op->getAttr(factorShardingAttrName), sharding::wholeFactors(rule).shape());
  }

  Layout ofVariable(StringRef name, ArrayRef<int64_t> shape) {
    Operation *variable = module.lookupSymbol(name);
    return read(variable ? variable->getAttr(shardingAttrName) : Attribute(), shape);
  }

  Layout read(Attribute attribute, ArrayRef<int64_t> shape) {
    std::optional<Layout> layout = layoutOn(attribute, mesh);
    return layout && ArrayRef(layout->shape()) == shape ? *layout : Layout::whole(shape);
  }

  int64_t parts(const Layout &layout) {
    int64_t all = 1;
    for (const Pieces &pieces : layout.dimensions)
      for (const Piece &piece : pieces)
        all *= piece.parts(mesh);
    return all;
  }

  ModuleOp module;
  const Mesh &mesh;
};

class TransferInserter {
public:
  /// `sumsApart`: sums of microbatches may be added up in another order than without stages.
  TransferInserter(ModuleOp module, const Mesh &mesh, const MeshRates &rates, bool sumsApart)
      : module(module), mesh(mesh), rates(rates), sumsApart(sumsApart), lying(module, mesh) {}

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
      if (isa<StageTransferOp, YieldOp>(op))
        continue; // made here; the loop's
      int64_t stage = stageFor(&op);
      for (OpOperand &operand : op.getOpOperands())
        operand.set(transferred(operand, stage));
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
    // The stage of most of its operands. If equal, gradients go to the earlier stage, outputs to
    // the later one.
    int64_t best = everywhere, bytes = -1;
    const bool goesBack = isBackward(op);
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

  /// Whether the value is one number everywhere.
  static bool isSpread(Value value) {
    auto broadcast = value.getDefiningOp<BroadcastOp>();
    return broadcast && shapeOf(broadcast.getInput()).empty();
  }

  /// Whether it is recomputed from a smaller value at each use.
  static bool isOfLess(Value value) {
    auto cast = value.getDefiningOp<CastOp>();
    return isSpread(value) || (cast && cast.widens());
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
      OpOperand &operand = yield->getOpOperand(unsigned(i));
      operand.set(transferred(operand, stage));
      at[result] = stage;
    }
    if (sumsApart && loop.getCount() > 1)
      sumApart(loop);
  }

  /// For a sum over microbatches: the addend of each, from another stage.
  struct Addend {
    unsigned sum;
    AddOp add;
    Value value; ///< on that stage
  };

  /// A parameter that two stages read, such as an embedding that is also the output matrix, has a
  /// gradient on each. Each stage sums its own, and one sum crosses once per step instead of once
  /// per microbatch.
  void sumApart(MicrobatchesOp loop) {
    Operation *yield = loop.getBody().front().getTerminator();
    SmallVector<Addend> addends;
    for (unsigned i = 0; i < loop.numSums(); ++i)
      while (std::optional<Addend> found = addendOf(yield->getOpOperand(i)))
        addends.push_back(*found);
    if (addends.empty())
      return;
    unsigned sums = loop.numSums(), more = unsigned(addends.size());
    SmallVector<Type> types(TypeRange(loop.getResultTypes()).take_front(sums));
    SmallVector<Value> values;
    for (const Addend &addend : addends) {
      types.push_back(addend.value.getType());
      values.push_back(addend.value);
    }
    llvm::append_range(types, TypeRange(loop.getResultTypes()).drop_front(sums));
    yield->insertOperands(sums, values);
    OpBuilder builder(loop);
    auto made = MicrobatchesOp::create(builder, loop.getLoc(), types, loop.getCountAttr(),
                                       loop.getSliced(), loop.getCarried());
    made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    made.getBody().takeBody(loop.getBody());
    shardAddends(made, sums, addends);
    for (auto [i, result] : llvm::enumerate(loop.getResults())) {
      Value now = made.getResult(unsigned(i) + (i < sums ? 0 : more));
      at[now] = of(result);
      result.replaceAllUsesWith(now);
    }
    loop.erase();
    builder.setInsertionPointAfter(made);
    for (auto [i, addend] : llvm::enumerate(addends)) {
      Value sum = made.getResult(addend.sum), other = made.getResult(sums + unsigned(i));
      // With several, each is added to the ones before.
      if (auto last = lastOf.find(sum); last != lastOf.end())
        sum = last->second;
      at[other] = of(addend.value);
      Operation *add = addend.add;
      add->moveBefore(made->getBlock(), builder.getInsertionPoint());
      sum.replaceAllUsesWith(add->getResult(0));
      add->setOperands({sum, other});
      OpOperand &use = add->getOpOperand(1);
      use.set(transferred(use, saidStage(add)));
      lastOf[made.getResult(addend.sum)] = add->getResult(0);
    }
  }

  /// If microbatches reduce gradients to shards, an addend has the sharding of its sum, and so has
  /// their addition behind the loop.
  static void shardAddends(MicrobatchesOp loop, unsigned sums, ArrayRef<Addend> addends) {
    auto ofSums = loop->getAttrOfType<ArrayAttr>(sumShardingsAttrName);
    if (!ofSums)
      return;
    SmallVector<Attribute> all(ofSums.getValue().take_front(sums));
    for (Addend addend : addends) {
      all.push_back(ofSums[addend.sum]);
      addend.add->setAttr(factorShardingAttrName, ofSums[addend.sum]);
    }
    llvm::append_range(all, ofSums.getValue().drop_front(sums));
    loop->setAttr(sumShardingsAttrName, ArrayAttr::get(loop.getContext(), all));
  }

  /// What crosses of gradients that are added up here, in the order they are read.
  static StageTransferOp transferIn(AddOp add) {
    if (!add || !add->hasOneUse() || !isBackward(add))
      return {};
    for (Value operand : add->getOperands()) {
      auto transfer = operand.getDefiningOp<StageTransferOp>();
      if (transfer && transfer->hasOneUse() && transfer->getBlock() == add->getBlock())
        return transfer;
      if (StageTransferOp deeper = transferIn(operand.getDefiningOp<AddOp>()))
        return deeper;
    }
    return {};
  }

  /// Removes an addend that crosses from a sum, if there is one.
  std::optional<Addend> addendOf(OpOperand &sum) {
    StageTransferOp transfer = transferIn(sum.get().getDefiningOp<AddOp>());
    if (!transfer)
      return std::nullopt;
    Value value = transfer.getInput();
    auto add = cast<AddOp>(*transfer->user_begin());
    add.replaceAllUsesWith(add.getLhs() == transfer.getResult() ? add.getRhs() : add.getLhs());
    add->setOperands({value, value}); // until it is moved
    known.erase({value.getAsOpaquePointer(), int64_t(transfer.getTo())});
    transfer.erase();
    return Addend{sum.getOperandNumber(), add, value};
  }

  /// What is used on a stage, or on all, there.
  Value transferred(OpOperand &use, int64_t to) {
    Value value = use.get();
    int64_t from = of(value);
    if (from == everywhere || from == to)
      return value;
    if (auto found = known.find({value.getAsOpaquePointer(), everywhere}); found != known.end())
      return found->second;
    if (auto found = known.find({value.getAsOpaquePointer(), to}); found != known.end())
      return found->second;
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    Value made;
    if (isOfLess(value)) {
      Operation *again = builder.clone(*value.getDefiningOp());
      OpOperand &less = again->getOpOperand(0);
      less.set(transferred(less, to));
      sayStage(again, to);
      made = again->getResult(0);
    } else {
      Layout layout = inParts(lying.between(use), value);
      auto transfer = StageTransferOp::create(builder, value.getLoc(), value, from, to, ++number);
      if (layout.isCut())
        transfer->setAttr(factorShardingAttrName, shardingAttr(value.getContext(), layout, mesh));
      made = transfer;
    }
    known[{value.getAsOpaquePointer(), to}] = made;
    at[made] = to;
    return made;
  }

  /// If all ranks of tp have the value, each sends a part and they all-gather it there, if links
  /// within a stage are so much faster than between stages (Narayanan et al. 2021, section 4.1).
  Layout inParts(Layout layout, Value value) const {
    int found = mesh.find(tensorAxis);
    if (found < 0 || layout.only || layout.dimensions.empty())
      return layout;
    auto axis = unsigned(found);
    auto members = double(mesh.axes[axis].size);
    if (members < 2 || layout.isCutOver(axis) || llvm::is_contained(layout.partial, axis))
      return layout;
    AxisRates between = rates.along(stageAxis), within = rates.along(tensorAxis);
    double spared = double(storageBytes(value.getType())) * (members - 1) / members;
    if (spared / between.gather <= spared / within.gather + within.latency)
      return layout;
    // The last dimension is not a batch dimension.
    Layout cut = layout;
    Piece &piece = cut.dimensions.back().back();
    piece.axes.push_back(axis);
    return piece.isEven(mesh) ? cut : layout;
  }

  ModuleOp module;
  const Mesh &mesh;
  const MeshRates &rates;
  const bool sumsApart;
  Lying lying;
  llvm::DenseMap<Value, Value> lastOf; ///< of a sum of microbatches: with what is added behind them
  int64_t number = 0;                  ///< of the last transfer
  llvm::DenseMap<Value, int64_t> at;
  std::map<std::pair<const void *, int64_t>, Value> known; ///< the transferred values
};

struct CrossStages : weir::impl::CrossStagesBase<CrossStages> {
  void runOnOperation() override {
    const Strategy &strategy = strategyOf(getOperation());
    if (strategy.stages() == 1)
      return;
    // With --deterministic, the bits are those of a mesh without stages.
    const bool sumsApart = strategy.hosts.axes.empty();
    const MeshRates rates = strategy.usedRates();
    for (auto function : getOperation().getOps<func::FuncOp>())
      TransferInserter(getOperation(), strategy.mesh, rates, sumsApart).run(function);
  }
};

} // namespace
