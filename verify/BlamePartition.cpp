//===- BlamePartition.cpp - Finds the wrong op in the ranks' programs -----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every op that partitioning copied, and the last op of each resharding, states the shardings of
// its results. So the value can be assembled from the shards of all ranks, and looked up in the
// whole program.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Collectives.h"
#include "ir/weir/Names.h"
#include "ir/weir/Sharding.h"
#include "passes/sharding/Reshard.h"
#include "verify/Blame.h"
#include "verify/Compare.h"
#include "verify/ValueSet.h"

namespace weir {
namespace {

/// What an op of one rank has given, in the order in which they ran.
struct Seen {
  mlir::Operation *op;
  Tensors results;
};

/// A value from what each rank has of it; nothing where ranks that should have the same do not.
std::optional<Tensor> together(llvm::ArrayRef<const Tensor *> shares, const Layout &layout,
                               const Mesh &mesh) {
  Tensor whole(layout.shape());
  auto isOne = [&](int64_t rank) { // of those that have the same, the first
    for (unsigned axis = 0; axis < mesh.axes.size(); ++axis)
      if (!layout.isCutOver(axis) && !llvm::is_contained(layout.partial, axis) &&
          mesh.coordinate(rank, axis) != 0)
        return false;
    return true;
  };
  for (auto [rank, share] : llvm::enumerate(shares)) {
    std::vector<int64_t> shape = layout.shape(mesh, int64_t(rank));
    if (llvm::ArrayRef(share->shape) != llvm::ArrayRef(shape))
      return std::nullopt;
    if (isOne(int64_t(rank)))
      forEachRun(layout, mesh, int64_t(rank), [&](int64_t to, int64_t from, int64_t count) {
        for (int64_t i = 0; i < count; ++i)
          whole.values[to + i] += share->values[from + i];
      });
  }
  for (auto [rank, share] : llvm::enumerate(shares))
    if (layout.partial.empty() &&
        !sameElements(shareOf(whole, layout, mesh, int64_t(rank)), *share))
      return std::nullopt;
  return whole;
}

/// "; weir.all_gather over dp brings it": the last collective that partitioning made for a value.
std::string broughtBy(mlir::Operation *op) {
  while (op && !isCollective(op) && !llvm::isa<AllReduceOp, ReduceScatterOp>(op)) {
    mlir::Operation *before = nullptr;
    for (mlir::Value operand : op->getOperands())
      if (mlir::Operation *maker = operand.getDefiningOp();
          maker && !maker->hasAttr(resultShardingsAttrName))
        before = maker;
    op = before;
  }
  if (!op)
    return "";
  auto all = llvm::dyn_cast<AllReduceOp>(op);
  const std::string axes = all ? llvm::join(all.getAxes().getAsValueRange<mlir::StringAttr>(), ", ")
                               : op->getAttrOfType<mlir::StringAttr>("axis").str();
  return "; " + op->getName().getStringRef().str() + " over " + axes + " brings it";
}

} // namespace

std::optional<Blame> blamePartition(mlir::ModuleOp before, RankInterpreter &after, const Mesh &mesh,
                                    const Disagreement &what, const RandomInputs &feed) {
  mlir::Value value;
  mlir::Operation *root = rootOf(after.program(0), what, value);
  if (!root)
    return std::nullopt;
  ValueSet known = valueSetOf(watched(before, what.entry, feed));
  std::vector<std::vector<Seen>> seen(size_t(mesh.ranks()));
  after.variables = feed.variablesFor(what.entry);
  after.observe = [&](int64_t rank, mlir::Operation *op, llvm::ArrayRef<Tensor> results) {
    if (op->hasAttr(resultShardingsAttrName))
      seen[size_t(rank)].push_back({op, Tensors(results)});
  };
  (void)after.run(what.entry, feed.inputs.at(what.entry));
  after.observe = nullptr;
  llvm::DenseSet<mlir::Operation *> slice = sliceOf(value);
  for (auto [number, first] : llvm::enumerate(seen[0])) {
    if (!slice.contains(first.op))
      continue;
    auto shardings = first.op->getAttrOfType<mlir::ArrayAttr>(resultShardingsAttrName);
    for (auto [i, sharding] : llvm::enumerate(shardings)) {
      std::optional<Layout> layout = layoutOn(sharding, mesh); // nothing where it is not known
      std::vector<const Tensor *> shares;
      for (const std::vector<Seen> &one : seen)
        if (number < one.size() && one[number].op->getName() == first.op->getName())
          shares.push_back(&one[number].results[i]);
      if (!layout || shares.size() != seen.size())
        continue;
      std::optional<Tensor> whole = together(shares, *layout, mesh);
      if (whole && known.has(*whole))
        continue;
      const char *why = whole ? "nothing before the pass computes what the ranks have together"
                              : "ranks that should have the same have not";
      return Blame{first.op->getName().getStringRef().str(), first.op->getLoc(),
                   why + broughtBy(first.op), true};
    }
  }
  return Blame{root->getName().getStringRef().str(), value.getLoc(),
               "every value was there before, but this result is another one of them now"};
}

} // namespace weir
