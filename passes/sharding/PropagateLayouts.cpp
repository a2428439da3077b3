//===- PropagateLayouts.cpp - Chooses the sharding of every op ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs after the recipe's passes, because clipping, the decision to skip and optimizers are then
// ordinary ops. Runs before fusion, because fusion depends on the sizes of a rank's shards.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Locations.h"
#include "ir/weir/Names.h"
#include "ir/weir/Sharding.h"
#include "ir/weir/Strategy.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Variable.h"
#include "ir/weir/reports/LayoutReport.h"
#include "ir/weir/requests/ShardingConstraints.h"
#include "passes/Passes.h"
#include "passes/sharding/ContextParallel.h"
#include "passes/sharding/ExpertParallel.h"
#include "passes/sharding/OpSharding.h"
#include "passes/sharding/TensorParallel.h"
#include "llvm/ADT/SetVector.h"
#include <map>

namespace weir {
#define GEN_PASS_DEF_PROPAGATELAYOUTS
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;
using namespace weir::sharding;

namespace {

/// What is sharded over the axes of a batch: only optimizer state (ZeRO-1), or the sums of
/// gradients over microbatches (ZeRO-2), or parameters, too (ZeRO-3, FSDP). Rajbhandari et al.,
/// "ZeRO: Memory optimizations toward training trillion parameter models", SC 2020. In each stage,
/// a gradient is reduced to the sharding of its optimizer state. With ZeRO-1, this happens once in
/// a step, and microbatches accumulate unsharded gradients. From ZeRO-2 on, each microbatch reduces
/// its own.
enum Zero { optimizers = 1, parameters = 3 };

/// Cuts the piece of a variable over the axis whose largest share is then smallest, the first of
/// equals.
void cutPiece(Layout &layout, const Mesh &mesh, unsigned axis) {
  Piece *best = nullptr;
  double least = 1;
  for (Pieces &pieces : layout.dimensions)
    for (Piece &piece : pieces) {
      Piece cut = piece;
      cut.axes.push_back(axis);
      int64_t before = 0, largest = 0, smallest = piece.size;
      for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
        int64_t size = cut.share(mesh, rank).size;
        before = std::max(before, piece.share(mesh, rank).size);
        largest = std::max(largest, size), smallest = std::min(smallest, size);
      }
      double share = double(largest) / double(before);
      if (smallest > 0 && share < least) {
        best = &piece;
        least = share;
      }
    }
  if (best)
    best->axes.push_back(axis);
}

bool isCutByZero(VariableOp variable, int64_t zero) {
  return (variable.getRole() == Role::optimizer && zero >= optimizers &&
          variable.getSymName() != amaxName) ||
         (variable.getRole() == Role::parameter && zero >= parameters);
}

/// How a variable lies, and on whose account.
struct Lying {
  Layout layout;
  std::string why;
};

/// By name, of variables that are cut.
using VariableLayouts = llvm::StringMap<Lying>;

/// How an entry is cut, in rounds: what has been cut in an earlier one stays so.
class Entry {
public:
  /// `reducesGradients`: in each microbatch.
  Entry(func::FuncOp function, const Mesh &mesh, bool reducesGradients)
      : function(function), mesh(mesh), reducesGradients(reducesGradients), propagation(mesh) {}

  StringRef name() { return function.getSymName(); }

  /// What is computed of a batch is computed where its rows are, or its positions. Parameters are
  /// whole there, but for those of experts, and tables of positions.
  LogicalResult cutBatch(std::optional<ContextParallel> contextParallel) {
    if (int axis = cutAlong(expertAxis);
        axis >= 0 && failed(applyExpertParallel(function, propagation, mesh, unsigned(axis))))
      return failure();
    for (unsigned axis : rowAxes())
      function.walk([&](ReadOp read) { propagation.fix(read, axis); });
    if (failed(cutRows()))
      return failure();
    int axis = cutAlong(contextAxis);
    return axis < 0
               ? success()
               : applyContextParallel(function, propagation, mesh, unsigned(axis), contextParallel);
  }

  /// Chooses how variables lie over tp, from how they are used, but for those of which
  /// the model says it.
  LogicalResult cutVariables(bool cutsSums, ArrayRef<ShardingConstraint> pins,
                             const MeshRates &rates, VariableLayouts &variables) {
    for (unsigned axis = 0; axis < mesh.axes.size(); ++axis)
      if (mesh.axes[axis].name == tensorAxis) {
        if (failed(cutPinned(axis, pins)))
          return failure();
        applyTensorParallel(function, propagation, mesh, rates, axis, cutsSums);
      }
    function.walk([&](ReadOp read) {
      if (Layout layout = propagation.of(read); layout.isCut())
        variables[read.getVariable()] = {layout, propagation.whyOf(read)};
    });
    return success();
  }

  /// Variables lie so. What is stored in parts comes last.
  void useVariables(const VariableLayouts &variables) {
    function.walk([&](ReadOp read) {
      auto found = variables.find(read.getVariable());
      propagation.fix(read, found == variables.end() ? Layout::whole(shapeOf(read))
                                                     : found->second.layout);
    });
    function.walk([&](WriteOp write) {
      if (auto found = variables.find(write.getVariable()); found != variables.end())
        propagation.seed(write.getValue(), found->second.layout);
    });
    // What microbatches add up, and what is rounded before ranks do, has not been added up yet.
    function.walk([&](MicrobatchesOp loop) {
      auto yielded = loop.getBody().front().getTerminator()->getOperands();
      for (auto [result, sum] : llvm::zip(loop.getResults().take_front(loop.numSums()), yielded)) {
        if (reducesGradients && isRounded(sum))
          continue;
        if (reducesGradients)
          propagation.untie(result);
        leave(sum);
      }
    });
    function.walk([&](CastOp cast) {
      if (!cast->hasAttr(partsAttrName))
        return;
      leave(cast.getInput());
      leave(cast.getResult());
    });
    propagation.run(function, "as what is stored lies");
    function.walk([&](Operation *op) { record(op); });
  }

  /// Whether ranks have added up the value, as it was rounded.
  static bool isRounded(Value value) {
    auto widened = value.getDefiningOp<CastOp>();
    Operation *narrow = widened ? widened.getInput().getDefiningOp() : nullptr;
    return narrow && narrow->hasAttr(partsAttrName);
  }

  /// No more axes of the batch cut the value.
  void leave(Value value) {
    for (auto [number, axis] : llvm::enumerate(mesh.axes))
      if (isOfBatch(axis.name) && !propagation.of(value).isCutOver(unsigned(number)))
        propagation.fix(value, unsigned(number));
  }

  /// Appends how what the lines of the model make lies, in the forward computation.
  void place(SmallVectorImpl<LayoutRecord> &placements) {
    llvm::DenseSet<Operation *> forward = forwardOps(function);
    struct Values {
      size_t number;
      llvm::SetVector<StringRef> ops;
    };
    std::map<std::tuple<StringRef, unsigned, std::string>, Values> alike;
    function.walk([&](Shardable op) {
      FileLineColLoc line = modelLine(op.getLoc());
      if (!forward.contains(op) || isa<View>(*op) || !op->getNumOperands() || !line)
        return;
      if (shapeOf(op->getResult(0)).empty())
        return;
      std::string layout =
          layoutOf(propagation.ruleOf(op).results[0], propagation.factors(op)).text(mesh);
      auto [found, isNew] = alike.try_emplace({line.getFilename(), line.getLine(), layout},
                                              Values{placements.size(), {}});
      if (isNew)
        placements.push_back({line, "", false, 0, layout, propagation.whyOf(op)});
      LayoutRecord &placement = placements[found->second.number];
      ++placement.times;
      if (StringRef name = op->getName().stripDialect(); found->second.ops.insert(name))
        placement.what += (placement.what.empty() ? "" : ", ") + name.str();
    });
  }

private:
  LogicalResult cutRows() {
    Axes all = rowAxes();
    bool anyCut = all.empty() || function.getNumArguments() == 0;
    for (BlockArgument argument : function.getArguments()) {
      Layout layout = rowsOf(argument);
      propagation.fix(argument, layout);
      anyCut |= llvm::all_of(all, [&](unsigned axis) { return layout.isCutOver(axis); });
      if (layout.isCut())
        function.setArgAttr(argument.getArgNumber(), shardingAttrName, sharding(layout));
    }
    if (function.getSymName() == "step" && !anyCut)
      return refuse();
    propagation.run(function, "rows of a batch");
    return success();
  }

  /// Those that cut rows. What experts have of them is cut over fewer: the others are inner ones.
  Axes rowAxes() {
    Axes all;
    for (std::string_view name : {nodesAxis, dataAxis, expertAxis})
      if (int axis = mesh.find(name); axis >= 0)
        all.push_back(unsigned(axis));
    return all;
  }

  /// The axis, if it has ranks to cut anything over.
  int cutAlong(std::string_view name) {
    int axis = mesh.find(name);
    return axis >= 0 && mesh.axes[unsigned(axis)].size > 1 ? axis : -1;
  }

  /// Why a parameter is not cut as the model says.
  std::string whyNot(ReadOp read, int64_t dimension, unsigned axis) {
    const Layout lies = propagation.of(read);
    for (auto [i, pieces] : llvm::enumerate(lies.dimensions))
      for (const Piece &piece : pieces)
        for (unsigned other : piece.axes) {
          if (other == axis)
            return "another line shards it along dimension " + std::to_string(i) +
                   "; expected a single line for it";
          if (int64_t(i) == dimension)
            return "dimension " + std::to_string(dimension) + " is already sharded over " +
                   mesh.axes[other].name + "; expected another dimension";
        }
    return "dimension " + std::to_string(dimension) + " has size " +
           std::to_string(shapeOf(read)[dimension]) + "; expected at least " +
           std::to_string(mesh.axes[axis].size) + ", one per rank";
  }

  LogicalResult cutPinned(unsigned axis, ArrayRef<ShardingConstraint> pins) {
    const Mesh::Axis &of = mesh.axes[axis];
    for (const ShardingConstraint &pin : pins) {
      if (pin.axis != of.name)
        continue;
      auto result = function.walk([&](ReadOp read) {
        if (read.getVariable() != pin.parameter)
          return WalkResult::advance();
        Layout layout = Layout::whole(shapeOf(read));
        Piece &piece = layout.dimensions[pin.dimension][0];
        piece.axes = {axis};
        if (piece.size >= of.size)
          propagation.seed(read, layout);
        const Layout lies = propagation.of(read);
        for (const Piece &made : lies.dimensions[pin.dimension])
          if (llvm::is_contained(made.axes, axis))
            return WalkResult::advance();
        emitError(pin.at) << "`" << pin.parameter << "` cannot be sharded this way over the "
                          << of.size << " ranks of " << of.name << ": "
                          << whyNot(read, pin.dimension, axis);
        return WalkResult::interrupt();
      });
      if (result.wasInterrupted())
        return failure();
    }
    propagation.run(function, "with what the model says of its shards");
    return success();
  }

  ShardingAttr sharding(const Layout &layout) {
    return shardingAttr(function.getContext(), layout, mesh);
  }
  ArrayAttr shardings(ValueRange values) {
    SmallVector<Attribute> all;
    for (Value value : values)
      all.push_back(sharding(propagation.of(value)));
    return ArrayAttr::get(function.getContext(), all);
  }

  int64_t batches() {
    int64_t count = 1;
    function.walk([&](MicrobatchesOp loop) { count = loop.getCount(); });
    return count;
  }

  LogicalResult refuse() {
    ArrayRef<int64_t> shape = shapeOf(function.getArgument(0));
    int64_t count = batches(), ranks = 1;
    std::string who = "--mesh ";
    for (unsigned axis : rowAxes()) {
      const Mesh::Axis &of = mesh.axes[axis];
      who += (ranks == 1 ? "" : ",") + of.name + "=" + of.ranks();
      ranks *= of.size;
    }
    if (!strategyOf(function->getParentOfType<ModuleOp>()).hosts.axes.empty())
      who = "--deterministic"; // whatever the mesh
    const int64_t rows = shape.empty() ? 1 : shape[0] / count;
    return emitError(function.getArgument(0).getLoc())
           << "a microbatch has " << rows << (rows == 1 ? " row" : " rows") << ", too few for the "
           << ranks << " shards of " << who
           << ": expected at least one row per shard; use a larger batch or fewer microbatches";
  }

  /// An input has the rows of all microbatches, one after the other: each rank has its part of
  /// each.
  Layout rowsOf(BlockArgument argument) {
    Layout layout = Layout::whole(shapeOf(argument));
    if (layout.dimensions.empty())
      return layout;
    int64_t count = batches(), rows = shapeOf(argument)[0];
    if (rows % count != 0)
      return layout;
    Piece piece{rows / count};
    for (unsigned axis : rowAxes()) {
      piece.axes.push_back(axis);
      if (!piece.hasPlaceForAll(mesh))
        piece.axes.pop_back();
    }
    if (!piece.axes.empty())
      layout.dimensions[0] = joined(Pieces{Piece{count}, piece});
    return layout;
  }

  void record(Operation *op) {
    if (auto loop = dyn_cast<MicrobatchesOp>(op)) {
      loop->setAttr(bodyShardingsAttrName, shardings(loop.getBody().front().getArguments()));
      if (reducesGradients)
        loop->setAttr(sumShardingsAttrName,
                      shardings(loop.getResults().take_front(loop.numSums())));
    } else if (auto shardable = dyn_cast<Shardable>(op)) {
      if (Layout cuts = propagation.factors(shardable); cuts.isCut())
        op->setAttr(factorShardingAttrName, sharding(cuts));
    }
  }

  func::FuncOp function;
  const Mesh &mesh;
  const bool reducesGradients;
  Propagation propagation;
};

struct PropagateLayouts : weir::impl::PropagateLayoutsBase<PropagateLayouts> {
  void runOnOperation() override {
    const Strategy &strategy = strategyOf(getOperation());
    const Mesh &all = strategy.mesh;
    const int64_t zero = *strategy.zero;
    if (all.axes.empty())
      return;
    const MeshRates rates = strategy.usedRates();
    getOperation()->setAttr(meshAttrName, MeshAttr::get(&getContext(), all));
    const SmallVector<ShardingConstraint> pins = shardingConstraints(getOperation());
    VariableLayouts variables;
    std::vector<Entry> entries;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      entries.emplace_back(function, all, strategy.reducesInMicrobatches());
      if (failed(entries.back().cutBatch(strategy.contextParallel)))
        return signalPassFailure();
      if (function.getSymName() == "step" &&
          failed(entries.back().cutVariables(*strategy.sequenceParallel, pins, rates, variables)))
        return signalPassFailure();
    }
    SmallVector<LayoutRecord> placements;
    for (auto variable : getOperation().getOps<VariableOp>()) {
      Lying lying{Layout::whole(cast<RankedTensorType>(variable.getType()).getShape()), ""};
      if (auto found = variables.find(variable.getSymName()); found != variables.end())
        lying = found->second;
      auto &[layout, why] = lying;
      // The last axis first: its members are neighbours, and what they have reduced is less for the
      // network.
      for (unsigned number = all.axes.size(); number-- > 0;) {
        const Mesh::Axis &axis = all.axes[number];
        if (!isOfBatch(axis.name) || !isCutByZero(variable, zero) || layout.isCutOver(number))
          continue;
        cutPiece(layout, all, number);
        if (layout.isCutOver(number))
          why += (why.empty() ? "" : "; ") + axis.name + ": --zero " + std::to_string(zero);
      }
      placements.push_back(
          {variable.getLoc(), variable.getSymName().str(), true, 1, layout.text(all), why});
      if (!layout.isCut())
        continue;
      variable->setAttr(shardingAttrName, shardingAttr(&getContext(), layout, all));
      variables[variable.getSymName()] = std::move(lying);
    }
    for (Entry &entry : entries) {
      entry.useVariables(variables);
      if (entry.name() == "step")
        entry.place(placements);
    }
    setLayoutReport(getOperation(), placements);
  }
};

} // namespace
