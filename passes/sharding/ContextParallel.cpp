//===- ContextParallel.cpp - Context parallelism --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/sharding/ContextParallel.h"
#include "ir/weir/Names.h"
#include "ir/weir/Sharding.h"
#include "ir/weir/attention/Attention.h"
#include "passes/sharding/OpSharding.h"
#include "passes/sharding/Stripes.h"

using namespace mlir;

namespace weir::sharding {
namespace {

constexpr StringLiteral sequenceReason = "positions of a sequence";
constexpr unsigned heads = 1, positions = 2; ///< dimensions of all that attention reads and makes

class Sequences {
public:
  Sequences(func::FuncOp entry, Propagation &propagation, const Mesh &mesh, unsigned axis,
            std::optional<ContextParallel> way)
      : entry(entry), propagation(propagation), mesh(mesh), axis(axis),
        ranks(mesh.axes[axis].size) {
    int tensor = mesh.find(tensorAxis);
    others = tensor < 0 ? 1 : mesh.axes[unsigned(tensor)].size;
    bool hasHeads = true, gathers = false;
    entry.walk([&](AttentionOp op) {
      int64_t count = shapeOf(op.getQuery())[heads];
      hasHeads &= count >= ranks;
      gathers |= count < ranks * others;
      hasStripes |= needsStripes(op);
    });
    entry.walk([&](AttentionOp op) { mayGather &= canBeStriped(op); });
    gathers &= mayGather;
    isAsked = way == ContextParallel::all_to_all;
    isRing = way == ContextParallel::ring;
    byHeads = !way ? hasHeads && !gathers : isAsked;
    hasStripes &= !byHeads;
  }

  /// What is wrong with cutting attention over the axis, or "".
  std::string wrongWith(AttentionOp op) const {
    ArrayRef<int64_t> queries = shapeOf(op.getQuery());
    int64_t keys = shapeOf(op.getKey())[positions], places = std::min(queries[positions], keys);
    if (places < ranks)
      return "sequences, but `attention` has " + std::to_string(places) +
             (places == 1 ? " position" : " positions") + " here: expected at least one per rank";
    int64_t least = isAsked ? ranks * others : ranks;
    if (byHeads && queries[heads] < least)
      return "the heads of attention, but there are " + std::to_string(queries[heads]) +
             " here: expected at least " + std::to_string(least) +
             (least > ranks ? ", one per rank of tp and cp" : ", one per rank") +
             ", or --context-parallel gather";
    if (!byHeads && !canBeStriped(op))
      return "causal attention in equal stripes, but there are " +
             std::to_string(queries[positions]) + " queries and " + std::to_string(keys) +
             " keys here: expected as many queries as keys, a multiple of " +
             std::to_string(ranks) +
             ", or --context-parallel all-to-all with at least one head per rank";
    if (isRing && keys % ranks != 0)
      return "the keys of attention equally over a ring of ranks, but there are " +
             std::to_string(keys) + " here: expected a multiple of " + std::to_string(ranks) +
             (mayGather ? ", or --context-parallel gather"
                        : ", or --context-parallel all-to-all with at least one head per rank");
    return "";
  }

  void cut(Shardable op) {
    const ShardRule &rule = propagation.ruleOf(op);
    Layout cuts = wholeFactors(rule);
    unsigned factor = rule.operands[0][byHeads ? heads : positions][0];
    cuts.dimensions[factor] = byHeads ? Pieces{Piece{rule.factors[factor].size, {axis}}}
                                      : cutPositions(rule.factors[factor].size);
    auto seed = [&](Value value) {
      Layout layout = Layout::whole(shapeOf(value));
      layout.dimensions[positions] = cutPositions(shapeOf(value)[positions]);
      propagation.seed(value, layout);
    };
    llvm::for_each(op->getOperands(), seed);
    llvm::for_each(op->getResults(), seed);
    propagation.pin(op, axis, cuts, sequenceReason.str());
    if (isRing) {
      Layout keys = Layout::whole(shapeOf(op->getOperand(1)));
      keys.dimensions[positions] = cutPositions(keys.shape()[positions]);
      op->setAttr(ringShardingAttrName, shardingAttr(op->getContext(), keys, mesh));
    }
  }

private:
  /// Or needs not be.
  bool canBeStriped(AttentionOp op) const {
    int64_t queries = shapeOf(op.getQuery())[positions], keys = shapeOf(op.getKey())[positions];
    return !needsStripes(op) || (queries == keys && keys % ranks == 0);
  }

  Pieces cutPositions(int64_t size) const {
    if (!hasStripes || size % ranks != 0)
      return {Piece{size, {axis}}};
    return joined(Pieces{Piece{size / ranks}, Piece{ranks, {axis}}});
  }

  func::FuncOp entry;
  Propagation &propagation;
  const Mesh &mesh;
  const unsigned axis;
  const int64_t ranks;
  int64_t others; ///< ranks that cut heads too
  bool isAsked;   ///< for heads
  bool isRing;    ///< keys and values are passed on
  bool byHeads, hasStripes = false;
  bool mayGather = true; ///< all that attends can be cut into stripes
};

} // namespace

LogicalResult applyContextParallel(func::FuncOp entry, Propagation &propagation, const Mesh &mesh,
                                   unsigned axis, std::optional<ContextParallel> way) {
  const bool isStep = entry.getSymName() == "step";
  const Mesh::Axis &of = mesh.axes[axis];
  const std::string asked = "--mesh " + of.name + "=" + std::to_string(of.size);
  Sequences sequences(entry, propagation, mesh, axis, way);
  bool isAny = false;
  llvm::DenseSet<std::pair<Value, Value>> others; // queries and keys
  auto walked = entry.walk([&](AttentionOp op) {
    isAny = true;
    std::string wrong = sequences.wrongWith(op);
    if (wrong.empty())
      return WalkResult::advance();
    others.insert({op.getQuery(), op.getKey()});
    if (!isStep) // Such as what predicts from one position: it is computed by all alike.
      return WalkResult::advance();
    emitError(op.getLoc()) << asked << " shards " << wrong;
    return WalkResult::interrupt();
  });
  if (walked.wasInterrupted())
    return failure();
  if (isStep && !isAny)
    return emitError(entry.getLoc())
           << asked
           << " shards sequences, but this model does not call `attention`: to shard "
              "batches, use dp";
  entry.walk([&](Operation *op) {
    if (isa<AttentionOp, AttentionGradOp>(op) &&
        !others.contains({op->getOperand(0), op->getOperand(1)}))
      sequences.cut(cast<Shardable>(op));
  });
  propagation.run(entry, sequenceReason.str());
  return success();
}

} // namespace weir::sharding
