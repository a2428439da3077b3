//===- CommunicationCost.cpp - The cost of a sharding ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/sharding/CommunicationCost.h"
#include "ir/weir/Locations.h"
#include "ir/weir/Names.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/requests/Blocks.h"
#include "passes/sharding/OpSharding.h"
#include <set>

using namespace mlir;

namespace weir::sharding {

void add(ShardingCost &cost, const Step &step, const Layout &before, int64_t elementBytes,
         const Mesh &mesh, const MeshRates &rates, double times) {
  double bytes = double(bytesOf(step, before, elementBytes, mesh)), seconds = 0;
  AxisRates along = rates.along(mesh.axes[step.axis].name);
  switch (step.kind) {
  case Step::slice:
  case Step::regroup:
    return;
  case Step::gather:
    seconds = along.latency + bytes / along.gather;
    break;
  case Step::swap:
  case Step::sumTo:
    seconds = along.latency + bytes / along.exchange;
    break;
  case Step::sum: {
    // Each gets its share, which is gathered; of few elements all at once.
    bool isOnce = isOfFew(before, step.axis, mesh);
    double shares = isOnce ? 0 : bytes / 2;
    seconds = shares / along.exchange + (bytes - shares) / along.gather;
    // What has no rows goes with others (passes/collectives/BucketCollectives.cpp): gradients of
    // biases, and what clipping sums.
    if (before.dimensions.size() > 1)
      seconds += (isOnce ? 1 : 2) * along.latency;
    break;
  }
  }
  cost.exchanging += times * seconds;
  cost.moved += times * bytes;
}

namespace {

class Pricer {
public:
  Pricer(func::FuncOp entry, const Propagation &propagation, const Mesh &mesh,
         const MeshRates &rates)
      : entry(entry), propagation(propagation), mesh(mesh), rates(rates),
        forward(forwardOps(entry)),
        standsFor(
            entry->getParentOfType<ModuleOp>()->getAttrOfType<DictionaryAttr>(standsForAttrName)) {}

  ShardingCost run() {
    for (BlockArgument argument : entry.getArguments())
      layouts[argument] = propagation.of(argument);
    visit(entry.front(), 1);
    return total;
  }

private:
  const Layout &layoutOf(Value value) const { return layouts.at(value); }

  /// How many ops of a deeper model it stands for.
  double alike(Operation *op) const {
    if (!standsFor)
      return 1;
    for (StringRef path = instancePath(op->getLoc()); !path.empty(); path = pathAround(path))
      if (auto number = standsFor.getAs<FloatAttr>(patternOf(path)))
        return number.getValueAsDouble();
    return 1;
  }

  void visit(Block &block, double ofBlock) {
    for (Operation &op : block) {
      double times = ofBlock * alike(&op);
      if (auto loop = dyn_cast<MicrobatchesOp>(&op))
        visitLoop(loop, ofBlock);
      else if (auto write = dyn_cast<WriteOp>(&op))
        move(write.getValue(), variableLayout(write), true, times);
      else if (auto shardable = dyn_cast<Shardable>(&op))
        visitCut(shardable, times);
      else
        for (Value result : op.getResults())
          layouts[result] = propagation.of(result);
    }
  }

  /// A variable lies as it is read.
  Layout variableLayout(WriteOp write) {
    if (reads.empty())
      entry.walk([&](ReadOp read) { reads[read.getVariable()] = read; });
    auto found = reads.find(write.getVariable());
    return found == reads.end() ? propagation.of(write.getValue())
                                : propagation.of(found->second.getResult());
  }

  void visitLoop(MicrobatchesOp loop, double times) {
    Block &body = loop.getBody().front();
    for (BlockArgument argument : body.getArguments())
      layouts[argument] = propagation.of(argument);
    visit(body, times * double(loop.getCount()));
    for (auto [result, yielded] :
         llvm::zip_equal(loop.getResults(), body.getTerminator()->getOperands())) {
      Layout layout = layoutOf(yielded); // the map may grow
      layouts[result] = std::move(layout);
    }
  }

  void visitCut(Shardable op, double times) {
    const ShardRule &rule = propagation.ruleOf(op);
    const Layout &cuts = propagation.factors(op);
    OpSharding opSharding = opShardingOf(
        op, rule, cuts, mesh, [&](Value value) -> const Layout & { return layoutOf(value); });
    for (auto [operand, wanted] : llvm::zip_equal(op->getOperands(), opSharding.operands))
      move(operand, wanted, forward.contains(op), times);
    double parts = 1;
    for (const Pieces &pieces : cuts.dimensions)
      for (const Piece &piece : pieces)
        parts *= double(piece.parts(mesh));
    const Cost &cost = propagation.costOf(op);
    total.computing += times * rates.rank.secondsOf(cost.flops / parts, double(cost.bytes) / parts);
    for (auto [result, layout] : llvm::zip_equal(op->getResults(), opSharding.results)) {
      for (const Combination &combination : opSharding.combinations)
        add(total, {Step::gather, combination.axis}, layout, elementBytes(result), mesh, rates,
            times);
      layouts[result] = layout;
    }
  }

  static int64_t elementBytes(Value value) {
    RankedTensorType type = tensorType(value);
    return storageBytes(RankedTensorType::get({1}, type.getElementType()));
  }

  void move(Value value, const Layout &to, bool isForward, double times) {
    const Layout &from = layoutOf(value);
    if (from == to || isUniform(value))
      return;
    isForward |= !isOnlyGathered(from, to, mesh) ||
                 (value.getDefiningOp() && !forward.contains(value.getDefiningOp()));
    if (!moved.insert({value.getAsOpaquePointer(), to.text(mesh), isForward}).second)
      return;
    Layout now = from;
    for (const Step &step : stepsBetween(from, to, mesh)) {
      add(total, step, now, elementBytes(value), mesh, rates, times);
      apply(now, step);
    }
  }

  func::FuncOp entry;
  const Propagation &propagation;
  const Mesh &mesh;
  const MeshRates &rates;
  const llvm::DenseSet<Operation *> forward;
  const DictionaryAttr standsFor;
  llvm::DenseMap<Value, Layout> layouts;
  llvm::StringMap<ReadOp> reads;
  std::set<std::tuple<const void *, std::string, bool>> moved;
  ShardingCost total;
};

} // namespace

ShardingCost shardingCostOf(func::FuncOp entry, const Propagation &propagation, const Mesh &mesh,
                            const MeshRates &rates) {
  return Pricer(entry, propagation, mesh, rates).run();
}

} // namespace weir::sharding
