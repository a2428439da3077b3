//===- RankPrograms.cpp - Which ranks run the same program ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/RankPrograms.h"
#include "ir/weir/Names.h"
#include "ir/weir/Sharding.h"
#include "ir/weir/program/Variable.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "support/mesh/Layout.h"
#include <map>
#include <set>

using namespace mlir;

namespace weir {

/// A piece by its size and axes.
using Cut = std::pair<int64_t, Axes>;

/// Every piece that is cut, and what it is when fewer axes cut it.
static std::set<Cut> cutsIn(ModuleOp module, const Mesh &mesh) {
  std::set<Cut> cuts;
  auto read = [&](Attribute attribute) {
    std::optional<Layout> layout = layoutOn(attribute, mesh);
    if (!layout)
      return;
    for (const Pieces &pieces : layout->dimensions)
      for (const Piece &piece : pieces)
        for (Axes axes = piece.axes; !axes.empty(); axes.pop_back())
          cuts.insert({piece.size, axes});
  };
  module.walk([&](Operation *op) {
    read(op->getAttr(shardingAttrName));
    read(op->getAttr(factorShardingAttrName));
    for (StringRef ofLoop : {bodyShardingsAttrName, sumShardingsAttrName})
      if (auto all = op->getAttrOfType<ArrayAttr>(ofLoop))
        for (Attribute one : all)
          read(one);
    if (auto entry = dyn_cast<func::FuncOp>(op))
      for (unsigned i = 0; i < entry.getNumArguments(); ++i)
        read(entry.getArgAttr(i, shardingAttrName));
  });
  return cuts;
}

RankPrograms rankPrograms(ModuleOp module, const Mesh &mesh) {
  std::set<Cut> cuts = cutsIn(module, mesh);
  std::map<std::vector<int64_t>, uint32_t> known;
  RankPrograms result;
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    std::vector<int64_t> sizes;
    if (int axis = mesh.find(stageAxis); axis >= 0)
      sizes.push_back(mesh.coordinate(rank, unsigned(axis)));
    for (const auto &[size, axes] : cuts) {
      Piece piece{size, axes};
      sizes.push_back(piece.share(mesh, rank).size);
      for (int64_t member : mesh.along(rank, axes.back()))
        sizes.push_back(piece.share(mesh, member).size);
    }
    auto [found, isNew] = known.try_emplace(std::move(sizes), uint32_t(known.size()));
    if (isNew)
      result.firstRank.push_back(rank);
    result.programOf.push_back(found->second);
  }
  return result;
}

bool hasEqualShards(ModuleOp module, const Mesh &mesh) {
  return llvm::all_of(cutsIn(module, mesh),
                      [&](const Cut &cut) { return Piece{cut.first, cut.second}.isEven(mesh); });
}

Type typeHere(VariableOp variable) {
  auto module = variable->getParentOfType<ModuleOp>();
  const Mesh *mesh = meshOf(module);
  auto rank = module->getAttrOfType<IntegerAttr>(rankAttrName);
  if (!mesh || !rank)
    return variable.getType();
  std::optional<Layout> layout = layoutOn(variable->getAttr(shardingAttrName), *mesh);
  if (!layout || !layout->isElsewhere(*mesh, rank.getInt()))
    return variable.getType();
  return cast<RankedTensorType>(variable.getType()).clone(layout->shape(*mesh, rank.getInt()));
}

} // namespace weir
