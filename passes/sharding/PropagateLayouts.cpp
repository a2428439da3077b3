//===- PropagateLayouts.cpp - How every op is cut over the mesh -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Behind the recipe, since clipping, the decision to skip and optimizers are then ops like others,
// and ahead of fusion, since what is computed together depends on what a rank has.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Names.h"
#include "passes/Passes.h"
#include "passes/sharding/Propagation.h"

namespace weir {
#define GEN_PASS_DEF_PROPAGATELAYOUTS
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;
using namespace weir::sharding;

namespace {

/// Over which rows of a batch are cut.
constexpr StringLiteral dataAxis = "dp";

/// How much of what is cut over the data axis, besides rows (Rajbhandari et al., "ZeRO: Memory
/// optimizations toward training trillion parameter models", SC 2020). Gradients follow from the
/// states of optimizers, so 1 and 2 are one.
enum Zero { optimizers = 1, parameters = 3 };

/// Cut along the first dimension that is long enough.
Layout cutFor(VariableOp variable, const Mesh &mesh, int64_t zero) {
  Layout layout = Layout::whole(cast<RankedTensorType>(variable.getType()).getShape());
  int axis = mesh.find(dataAxis);
  bool isCut = (variable.getRole() == Role::optimizer && zero >= optimizers &&
                variable.getSymName() != amaxName) ||
               (variable.getRole() == Role::parameter && zero >= parameters);
  if (axis >= 0 && isCut)
    for (Pieces &pieces : layout.dimensions)
      if (pieces[0].size >= mesh.axes[axis].size) {
        pieces[0].axes = {unsigned(axis)};
        break;
      }
  return layout;
}

/// By name, of those that are cut.
using VariableLayouts = llvm::StringMap<Layout>;

class Entry {
public:
  Entry(func::FuncOp function, const Mesh &mesh, const VariableLayouts &variables)
      : function(function), mesh(mesh), variables(variables), propagation(mesh) {}

  LogicalResult run() {
    bool anyCut = false;
    for (BlockArgument argument : function.getArguments()) {
      Layout layout = rowsOf(argument);
      propagation.fix(argument, layout);
      anyCut |= layout.isCut();
      if (layout.isCut())
        function.setArgAttr(argument.getArgNumber(), layoutAttrName, text(layout));
    }
    if (function.getSymName() == "step" && mesh.find(dataAxis) >= 0 && function.getNumArguments() &&
        !anyCut)
      return refuse();
    function.walk([&](ReadOp read) { propagation.fix(read, Layout::whole(shapeOf(read))); });
    propagation.run(function);
    // What is stored in parts comes second: what is computed of a batch's rows is computed there.
    function.walk([&](ReadOp read) {
      if (auto found = variables.find(read.getVariable()); found != variables.end())
        propagation.fix(read, found->second);
    });
    function.walk([&](WriteOp write) {
      if (auto found = variables.find(write.getVariable()); found != variables.end())
        propagation.seed(write.getValue(), found->second);
    });
    propagation.run(function);
    function.walk([&](Operation *op) { record(op); });
    return success();
  }

private:
  StringAttr text(const Layout &layout) {
    return StringAttr::get(function.getContext(), layout.text(mesh));
  }
  ArrayAttr texts(ValueRange values) {
    SmallVector<Attribute> all;
    for (Value value : values)
      all.push_back(text(propagation.of(value)));
    return ArrayAttr::get(function.getContext(), all);
  }

  int64_t batches() {
    int64_t count = 1;
    function.walk([&](MicrobatchesOp loop) { count = loop.getCount(); });
    return count;
  }

  LogicalResult refuse() {
    ArrayRef<int64_t> shape = shapeOf(function.getArgument(0));
    int64_t count = batches(), ranks = mesh.axes[mesh.find(dataAxis)].size;
    return emitError(function.getArgument(0).getLoc())
           << "a microbatch has " << (shape.empty() ? 1 : shape[0] / count)
           << " rows, which --mesh dp=" << ranks << " cuts over " << ranks
           << " ranks: expected a row for each; make the batch larger, or fewer microbatches";
  }

  /// An input has the rows of all microbatches, one after the other: each rank has its part of
  /// each.
  Layout rowsOf(BlockArgument argument) {
    Layout layout = Layout::whole(shapeOf(argument));
    int axis = mesh.find(dataAxis);
    if (axis < 0 || layout.dimensions.empty())
      return layout;
    int64_t count = batches(), rows = shapeOf(argument)[0];
    if (rows % count == 0 && rows / count >= mesh.axes[axis].size)
      layout.dimensions[0] = joined(Pieces{Piece{count}, Piece{rows / count, {unsigned(axis)}}});
    return layout;
  }

  void record(Operation *op) {
    if (auto loop = dyn_cast<MicrobatchesOp>(op)) {
      loop->setAttr(insideAttrName, texts(loop.getBody().front().getArguments()));
    } else if (auto shardable = dyn_cast<Shardable>(op)) {
      if (Layout cuts = propagation.factors(shardable); cuts.isCut())
        op->setAttr(cutsAttrName, text(cuts));
    }
  }

  func::FuncOp function;
  const Mesh &mesh;
  const VariableLayouts &variables;
  Propagation propagation;
};

struct PropagateLayouts : weir::impl::PropagateLayoutsBase<PropagateLayouts> {
  using Base::Base;

  void runOnOperation() override {
    auto parsed = Mesh::parse(std::string(mesh));
    if (auto *wrong = std::get_if<std::string>(&parsed)) {
      getOperation().emitError() << "--mesh " << std::string(mesh) << ": " << *wrong;
      return signalPassFailure();
    }
    const Mesh &all = std::get<Mesh>(parsed);
    if (all.ranks() == 1)
      return;
    getOperation()->setAttr(meshAttrName, StringAttr::get(&getContext(), all.text()));
    VariableLayouts variables;
    for (auto variable : getOperation().getOps<VariableOp>())
      if (Layout layout = cutFor(variable, all, zero); layout.isCut()) {
        variable->setAttr(layoutAttrName, StringAttr::get(&getContext(), layout.text(all)));
        variables[variable.getSymName()] = std::move(layout);
      }
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(Entry(function, all, variables).run()))
        return signalPassFailure();
  }
};

} // namespace
