//===- ExpertParallel.cpp - Expert parallelism ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/sharding/ExpertParallel.h"
#include "ir/weir/Names.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/interfaces/Contracting.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Variable.h"

using namespace mlir;

namespace weir::sharding {
namespace {

constexpr StringLiteral expertsReason = "experts";

bool has(ArrayRef<ShardRule::Dimension> dimensions, unsigned factor) {
  return llvm::any_of(dimensions, [&](auto &one) { return llvm::is_contained(one, factor); });
}

/// Whether an op computes each expert's for itself: of what multiplies or picks, that is what has
/// them in all that it reads and makes.
bool isOfExperts(Shardable op, const ShardRule &rule, const Layout &cuts, unsigned axis) {
  if (!isa<Contracting>(*op) && !isa<Picking>(*op))
    return true;
  for (auto [factor, pieces] : llvm::enumerate(cuts.dimensions))
    for (const Piece &piece : pieces)
      if (llvm::is_contained(piece.axes, axis)) {
        auto hasIt = [&, number = unsigned(factor)](auto &dimensions) {
          return has(dimensions, number);
        };
        if (!llvm::all_of(rule.operands, hasIt) || !llvm::all_of(rule.results, hasIt))
          return false;
      }
  return true;
}

/// Whether the value, as it is or in another form, is multiplied expert by expert.
bool isMultiplied(Value value, const Propagation &cuts, unsigned axis) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (isa<View>(user) || isa<CastOp>(user))
      return isMultiplied(user->getResult(0), cuts, axis);
    auto op = dyn_cast<Shardable>(user);
    if (!op || !isa<Contracting>(user))
      return false;
    Layout factors = cuts.factors(op);
    return factors.isCutOver(axis) && isOfExperts(op, cuts.ruleOf(op), factors, axis);
  });
}

/// How the values lie when the first dimension of each is cut, as far as experts go.
Propagation spreadFrom(ArrayRef<ReadOp> reads, func::FuncOp entry, const Mesh &mesh,
                       unsigned axis) {
  Propagation cuts(mesh);
  for (ReadOp read : reads) {
    Layout layout = Layout::whole(shapeOf(read));
    layout.dimensions[0][0].axes = {axis};
    cuts.seed(read, layout);
  }
  cuts.spreadThrough([&](Shardable op, const Layout &factors) {
    return isOfExperts(op, cuts.ruleOf(op), factors, axis);
  });
  cuts.run(entry, expertsReason.str());
  cuts.spreadThrough(nullptr);
  return cuts;
}

} // namespace

LogicalResult applyExpertParallel(func::FuncOp entry, Propagation &propagation, const Mesh &mesh,
                                  unsigned axis) {
  bool isStep = entry.getSymName() == "step";
  const Mesh::Axis &of = mesh.axes[axis];
  std::string asked = "--mesh " + of.name + "=" + std::to_string(of.size);
  SmallVector<ReadOp> reads, experts;
  entry.walk([&](ReadOp read) {
    auto variable = SymbolTable::lookupNearestSymbolFrom<VariableOp>(read, read.getVariableAttr());
    if (variable.getRole() == Role::parameter && shapeOf(read).size() >= 3)
      reads.push_back(read);
  });
  Propagation all = spreadFrom(reads, entry, mesh, axis);
  for (ReadOp read : reads) {
    if (!isMultiplied(read, all, axis))
      continue;
    experts.push_back(read);
    if (int64_t count = shapeOf(read)[0]; isStep && count < of.size)
      return emitError(read.getLoc())
             << asked << " shards the experts of `" << read.getVariable() << "`, but there are "
             << count << ": expected at least one per rank; use more experts, or at most "
             << of.name << "=" << count;
  }
  if (isStep && experts.empty())
    return emitError(entry.getLoc())
           << asked << " shards experts, but this model has none: expected parameters whose first "
           << "dimension counts experts, such as [experts, width, hidden], multiplied by the "
           << "tokens of each, [experts, places, width]; to shard only batches, use dp";
  if (experts.empty())
    return success();

  Propagation cuts = spreadFrom(experts, entry, mesh, axis);
  entry.walk([&](Operation *op) {
    if (auto read = dyn_cast<ReadOp>(op))
      propagation.seed(read, cuts.of(read));
    auto shardable = dyn_cast<Shardable>(op);
    if (!shardable)
      return;
    Layout factors = cuts.factors(shardable);
    if (factors.isCutOver(axis) && isOfExperts(shardable, cuts.ruleOf(shardable), factors, axis))
      propagation.pin(shardable, axis, factors, expertsReason.str());
  });
  propagation.run(entry, expertsReason.str());
  return success();
}

} // namespace weir::sharding
