//===- CrossStages.cpp - What goes from stage to stage ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Behind layouts, so that no pass that changes numbers has ever seen a stage: a step of a pipeline
// is the one without, put elsewhere. Wherever an op is put the program is right: what it reads is
// crossed there. So stages follow from rules of thumb.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Locations.h"
#include "ir/weir/Names.h"
#include "ir/weir/Stages.h"
#include "ir/weir/Transfers.h"
#include "passes/Passes.h"
#include "passes/sharding/Flow.h"
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

/// How ranks have what the layouts that ops were given (weir.cuts) make of a value.
class Lying {
public:
  Lying(ModuleOp module, const Mesh &mesh) : module(module), mesh(mesh) {}

  /// How a value crosses to who uses it there: as it is made, or as it is used where a rank has
  /// less of it so.
  Layout between(OpOperand &use) {
    Layout made = asMade(use.get()), used = asUsed(use);
    return parts(used) > parts(made) ? used : made;
  }

private:
  Layout asMade(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *parent = argument.getOwner()->getParentOp();
      auto inside = parent->getAttrOfType<ArrayAttr>(insideAttrName);
      return inside ? read(inside[argument.getArgNumber()], shapeOf(value))
                    : Layout::whole(shapeOf(value));
    }
    Operation *op = value.getDefiningOp();
    unsigned number = cast<OpResult>(value).getResultNumber();
    if (auto loop = dyn_cast<MicrobatchesOp>(op))
      return asMade(loop.getBody().front().getTerminator()->getOperand(number));
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
    return read(op->getAttr(cutsAttrName), sharding::wholeFactors(rule).shape());
  }

  Layout ofVariable(StringRef name, ArrayRef<int64_t> shape) {
    Operation *variable = module.lookupSymbol(name);
    return read(variable ? variable->getAttr(layoutAttrName) : Attribute(), shape);
  }

  Layout read(Attribute attribute, ArrayRef<int64_t> shape) {
    auto text = dyn_cast_or_null<StringAttr>(attribute);
    auto layout = text ? Layout::parse(text.getValue(), mesh) : std::nullopt;
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

class Crosser {
public:
  Crosser(ModuleOp module, const Mesh &mesh) : module(module), mesh(mesh), lying(module, mesh) {}

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
        operand.set(crossed(operand, stage));
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
      OpOperand &operand = yield->getOpOperand(unsigned(i));
      operand.set(crossed(operand, stage));
      at[result] = stage;
    }
  }

  /// What is used on a stage, or on all, there.
  Value crossed(OpOperand &use, int64_t to) {
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
    if (isSpread(value)) {
      auto again = cast<BroadcastOp>(builder.clone(*value.getDefiningOp()));
      OpOperand &number = again->getOpOperand(0);
      number.set(crossed(number, to));
      sayStage(again, to);
      made = again;
    } else {
      Layout layout = lying.between(use);
      auto cross = CrossOp::create(builder, value.getLoc(), value, from, to, ++number);
      if (layout.isCut())
        cross->setAttr(cutsAttrName, builder.getStringAttr(layout.text(mesh)));
      made = cross;
    }
    known[{value.getAsOpaquePointer(), to}] = made;
    at[made] = to;
    return made;
  }

  ModuleOp module;
  const Mesh &mesh;
  Lying lying;
  int64_t number = 0; ///< of the last that crosses
  llvm::DenseMap<Value, int64_t> at;
  std::map<std::pair<const void *, int64_t>, Value> known; ///< what has been crossed
};

struct CrossStages : weir::impl::CrossStagesBase<CrossStages> {
  using Base::Base;

  void runOnOperation() override {
    auto parsed = Mesh::parse(std::string(mesh));
    const Mesh *all = std::get_if<Mesh>(&parsed);
    if (!all || stagesOf(*all) == 1)
      return;
    for (auto function : getOperation().getOps<func::FuncOp>())
      Crosser(getOperation(), *all).run(function);
  }
};

} // namespace
