//===- TensorParallel.cpp - Tensor and sequence parallelism ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/sharding/TensorParallel.h"
#include "ir/weir/Names.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/interfaces/Contracting.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Variable.h"
#include "ir/weir/requests/Blocks.h"
#include "passes/sharding/CommunicationCost.h"
#include "passes/sharding/OpSharding.h"
#include "passes/sharding/SubDimensions.h"
#include "llvm/ADT/MapVector.h"
#include <map>

using namespace mlir;

namespace weir::sharding {
namespace {

/// A value that is given a cut, and what it is cut to.
struct Seed {
  Value value;
  Layout layout;
};
using Seeds = SmallVector<Seed>;

/// Matrices and tables of one kind, such as those of "h.*.mlp.c_fc.weight".
struct Matrices {
  std::string name;
  SmallVector<Value> reads;
  SmallVector<Shardable> uses; ///< that are cut with them
  int64_t bytes = 0;
  /// Rows are picked of it, which are moved cheaply: it follows what the others are cut along, not
  /// they its.
  bool isTable() const {
    return llvm::any_of(uses, [](Shardable use) { return isa<Picking>(*use); });
  }
};

/// Appends the ops that multiply the value, or pick rows of it, as it is or in another form.
void addUses(Value value, SmallVectorImpl<Shardable> &uses) {
  for (Operation *user : value.getUsers()) {
    if (isa<Contracting>(user) || (isa<Picking>(user) && user->getOperand(0) == value))
      uses.push_back(cast<Shardable>(user));
    else if (isa<View>(user) || isa<CastOp>(user))
      addUses(user->getResult(0), uses);
  }
}

class Chooser {
public:
  Chooser(func::FuncOp entry, Propagation &propagation, const Mesh &mesh, const MeshRates &rates,
          unsigned axis, bool cutsSums)
      : entry(entry), propagation(propagation), mesh(mesh), rates(rates), axis(axis),
        cutsSums(cutsSums), forward(forwardOps(entry)) {}

  void run() {
    cutMatrices();
    cutSums();
  }

private:
  /// How a kind is cut decides how others are best cut, and some ways cut others too: each way is
  /// followed to its end, with the cheapest of each kind from there on, and what comes out cheapest
  /// is how this one is cut.
  void cutMatrices() {
    SmallVector<Matrices> kinds = matrices();
    batches = cutsOfBatches();
    for (ArrayRef<Matrices> left = kinds; !left.empty(); left = left.drop_front()) {
      const Matrices &kind = left.front();
      if (isCut(kind, propagation))
        continue;
      if (kind.isTable()) {
        cutEach(kind);
        continue;
      }
      const Propagation before = propagation;
      std::optional<Propagation> best;
      double least = 0;
      for (const Seeds &way : waysOf(kind)) {
        propagation = before;
        if (!choose(way, whyOf(kind), [&](const Propagation &cuts) { return isCut(kind, cuts); }))
          continue;
        Propagation cut = propagation;
        cutEach(left.drop_front());
        cutSums();
        double price = shardingCostOf(entry, propagation, mesh, rates).total();
        if (!best || price < least) {
          best.emplace(std::move(cut));
          least = price;
        }
      }
      propagation = best ? std::move(*best) : before;
    }
  }

  void cutSums() {
    if (!cutsSums)
      return;
    SmallVector<Value> sums;
    entry.walk([&](Shardable op) {
      if (!forward.contains(op) || op->getNumResults() != 1)
        return;
      const ShardRule &rule = propagation.ruleOf(op);
      Layout cuts = propagation.factors(op);
      for (auto [factor, pieces] : llvm::zip_equal(rule.factors, cuts.dimensions))
        for (const Piece &piece : pieces)
          if (factor.kind == Factor::Kind::sum && llvm::is_contained(piece.axes, axis))
            sums.push_back(op->getResult(0));
    });
    // Where they cost the same: what stands behind the rows, which other axes cut, then channels.
    choose({cutsBehindRows(sums), cutsAlongLast(sums), cutsAlong(sums, 0)}, "--sequence-parallel",
           [](const Propagation &) { return true; });
  }

  static std::string whyOf(const Matrices &kind) { return "with " + kind.name; }

  bool isCut(const Matrices &kind, const Propagation &cuts) const {
    return llvm::all_of(kind.reads, [&](Value read) { return cuts.of(read).isCutOver(axis); }) &&
           llvm::all_of(kind.uses,
                        [&](Shardable use) { return cuts.factors(use).isCutOver(axis); });
  }

  SmallVector<Seeds> waysOf(const Matrices &kind) {
    SmallVector<Seeds> ways;
    for (size_t d = 0; d < shapeOf(kind.reads[0]).size(); ++d)
      ways.push_back(cutsAlong(kind.reads, d));
    llvm::append_range(ways, batches);
    return ways;
  }

  void cutEach(ArrayRef<Matrices> kinds) {
    for (const Matrices &kind : kinds) {
      auto serves = [&](const Propagation &cuts) { return isCut(kind, cuts); };
      if (serves(propagation))
        continue;
      // A table by its rows: what is picked and told apart, where the rows are long enough.
      if (kind.isTable() && choose(cutsAlong(kind.reads, 0), whyOf(kind), serves))
        continue;
      choose(waysOf(kind), whyOf(kind), serves);
    }
  }

  /// The largest kind first, tables last.
  SmallVector<Matrices> matrices() {
    llvm::MapVector<StringRef, Matrices> kinds;
    std::map<std::string, StringRef> names;
    entry.walk([&](ReadOp read) {
      auto variable =
          SymbolTable::lookupNearestSymbolFrom<VariableOp>(read, read.getVariableAttr());
      SmallVector<Shardable> uses;
      addUses(read, uses);
      if (variable.getRole() != Role::parameter || shapeOf(read).size() < 2 || uses.empty())
        return;
      auto [name, isNew] = names.try_emplace(patternOf(read.getVariable()), read.getVariable());
      Matrices &kind = kinds[name->second];
      kind.name = name->first;
      kind.reads.push_back(read);
      llvm::append_range(kind.uses, uses);
      kind.bytes += storageBytes(read.getType());
    });
    SmallVector<Matrices> all;
    for (auto &[name, kind] : kinds)
      all.push_back(std::move(kind));
    llvm::stable_sort(all, [](auto &a, auto &b) {
      return std::pair(!a.isTable(), a.bytes) > std::pair(!b.isTable(), b.bytes);
    });
    return all;
  }

  Seeds cutsAlong(ArrayRef<Value> values, size_t dimension) {
    Seeds seeds;
    for (Value value : values) {
      Layout layout = Layout::whole(shapeOf(value));
      if (dimension >= layout.dimensions.size())
        continue;
      Piece &piece = layout.dimensions[dimension][0];
      piece.axes = {axis};
      if (!piece.hasPlaceForAll(mesh))
        continue;
      seeds.push_back({value, layout});
    }
    return seeds;
  }

  /// Of the microbatch, or of the batch, that the value is made in; 0 where that is not known.
  int64_t rowsAround(Value value) {
    if (auto loop = dyn_cast<MicrobatchesOp>(value.getParentBlock()->getParentOp());
        loop && !loop.getSliced().empty())
      return shapeOf(loop.getBody().getArgument(1))[0];
    auto batch = entry->getParentOfType<ModuleOp>()->getAttrOfType<IntegerAttr>(batchAttrName);
    return batch ? batch.getInt() : 0;
  }

  /// Along the places of a sequence or an image: the second dimension, or what the first one has
  /// for each row.
  Seeds cutsBehindRows(ArrayRef<Value> values) {
    Seeds seeds;
    for (Value value : values) {
      Layout layout = Layout::whole(shapeOf(value));
      if (layout.dimensions.empty())
        continue;
      int64_t size = layout.dimensions[0][0].size, rows = rowsAround(value);
      if (rows && size > rows && size % rows == 0)
        layout.dimensions[0] = {Piece{rows}, Piece{size / rows}};
      else if (layout.dimensions.size() < 3)
        continue;
      size_t dimension = layout.dimensions[0].size() > 1 ? 0 : 1;
      layout.dimensions[dimension].back().axes = {axis};
      // Further than the places are cut already.
      Layout now = propagation.of(value);
      cutFurther(now.dimensions[dimension], layout.dimensions[dimension], axis, mesh);
      if (now.isCutOver(axis))
        seeds.push_back({value, now});
    }
    return seeds;
  }

  Seeds cutsAlongLast(ArrayRef<Value> values) {
    Seeds seeds;
    for (Value value : values)
      if (size_t rank = shapeOf(value).size(); rank > 1)
        llvm::append_range(seeds, cutsAlong(value, rank - 1));
    return seeds;
  }

  /// Cuts of what multiplies no parameter, along what all that it reads and makes has, as heads of
  /// attention: ops of one name and shape alike.
  SmallVector<Seeds> cutsOfBatches() {
    llvm::MapVector<std::pair<OperationName, Type>, SmallVector<Value>> kinds;
    entry.walk([&](Contracting op) {
      if (forward.contains(op) &&
          llvm::none_of(op->getOperands(), [](Value value) { return isOfParameter(value); }))
        kinds[{op->getName(), op->getResult(0).getType()}].push_back(op->getResult(0));
    });
    SmallVector<Seeds> ways;
    for (auto &[kind, values] : kinds) {
      const ShardRule &rule = propagation.ruleOf(cast<Shardable>(values[0].getDefiningOp()));
      auto has = [](ArrayRef<ShardRule::Dimension> dimensions, unsigned factor) {
        return llvm::any_of(dimensions, [&](auto &one) { return llvm::is_contained(one, factor); });
      };
      for (auto [d, dimension] : llvm::enumerate(rule.results[0]))
        if (dimension.size() == 1 &&
            llvm::all_of(rule.operands, [&](auto &operand) { return has(operand, dimension[0]); }))
          ways.push_back(cutsAlong(values, d));
    }
    return ways;
  }

  static bool isOfParameter(Value value) {
    Operation *op = value.getDefiningOp();
    while (op && (isa<View>(op) || isa<CastOp>(op)))
      op = op->getOperand(0).getDefiningOp();
    return isa_and_nonnull<ReadOp>(op);
  }

  /// Spreads the cheapest of the ways that `serves`; false where none does.
  bool choose(ArrayRef<Seeds> ways, StringRef why, function_ref<bool(const Propagation &)> serves) {
    std::optional<Propagation> best;
    double least = 0;
    for (const Seeds &seeds : ways) {
      if (seeds.empty())
        continue;
      Propagation tried = propagation;
      for (const Seed &seed : seeds)
        tried.seed(seed.value, seed.layout);
      tried.run(entry, why.str());
      if (!serves(tried))
        continue;
      double price = shardingCostOf(entry, tried, mesh, rates).total();
      if (!best || price < least) {
        best.emplace(std::move(tried));
        least = price;
      }
    }
    if (best)
      propagation = std::move(*best);
    return best.has_value();
  }

  func::FuncOp entry;
  Propagation &propagation;
  const Mesh &mesh;
  const MeshRates &rates;
  const unsigned axis;
  const bool cutsSums;
  const llvm::DenseSet<Operation *> forward;
  SmallVector<Seeds> batches; ///< ways to cut what multiplies no parameter
};

} // namespace

void applyTensorParallel(func::FuncOp entry, Propagation &propagation, const Mesh &mesh,
                         const MeshRates &rates, unsigned axis, bool cutsSums) {
  Chooser(entry, propagation, mesh, rates, axis, cutsSums).run();
}

} // namespace weir::sharding
