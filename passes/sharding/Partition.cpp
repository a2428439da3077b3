//===- Partition.cpp - One rank's program ----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every op computes with the cuts that it was given (weir.cuts), on operands that are brought there
// from the layouts that they have. Where what is summed over is cut, the result is still to be
// added up; that waits through ops that are linear in it, as gradients do in a loop of
// microbatches, for the first op that is not, or whose result is larger.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Names.h"
#include "ir/weir/Shapes.h"
#include "passes/Passes.h"
#include "passes/sharding/Propagation.h"
#include "passes/sharding/Reshard.h"
#include <map>

namespace weir {
#define GEN_PASS_DEF_PARTITION
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;
using namespace weir::sharding;

namespace {

/// A value of the rank's program.
struct Local {
  Value value;
  Layout layout;
};

class Partitioner {
public:
  Partitioner(ModuleOp module, const Mesh &mesh, int64_t rank, bool says)
      : mesh(mesh), rank(rank), says(says), module(module), builder(module.getContext()),
        reshard(builder, module, mesh, rank) {}

  LogicalResult run() {
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (failed(partition(function)))
        return failure();
    for (auto variable : module.getOps<VariableOp>()) {
      FailureOr<Layout> layout = parsed(variable, variable->getAttr(layoutAttrName),
                                        cast<RankedTensorType>(variable.getType()));
      if (failed(layout))
        return failure();
      variable.setType(typeOf(cast<RankedTensorType>(variable.getType()), *layout));
    }
    module->setAttr(rankAttrName, builder.getI64IntegerAttr(rank));
    return success();
  }

private:
  RankedTensorType typeOf(RankedTensorType whole, const Layout &layout) {
    return whole.clone(layout.shape(mesh, rank));
  }
  RankedTensorType typeOf(Value whole, const Layout &layout) {
    return typeOf(tensorType(whole), layout);
  }

  FailureOr<Layout> parsed(Operation *op, Attribute text, RankedTensorType type) {
    if (!text)
      return Layout::whole(type.getShape());
    return parsed(op, text, type.getShape());
  }
  FailureOr<Layout> parsed(Operation *op, Attribute attribute, ArrayRef<int64_t> shape) {
    auto text = dyn_cast<StringAttr>(attribute);
    auto layout = text ? Layout::parse(text.getValue(), mesh) : std::nullopt;
    if (layout && ArrayRef(layout->shape()) == shape)
      return *layout;
    return op->emitError() << attribute << " is no layout of " << printed(shape) << " on "
                           << mesh.text();
  }

  LogicalResult partition(func::FuncOp function) {
    SmallVector<Layout> layouts;
    SmallVector<Type> types;
    for (BlockArgument argument : function.getArguments()) {
      auto text = function.getArgAttr(argument.getArgNumber(), layoutAttrName);
      FailureOr<Layout> layout = parsed(function, text, tensorType(argument));
      if (failed(layout))
        return failure();
      types.push_back(typeOf(argument, *layout));
      layouts.push_back(*layout);
    }
    builder.setInsertionPoint(function);
    auto made = cast<func::FuncOp>(builder.insert(function->cloneWithoutRegions()));
    made.setFunctionType(builder.getFunctionType(types, function.getResultTypes()));
    Block *body = made.addEntryBlock();
    for (auto [old, argument, layout] :
         llvm::zip_equal(function.getArguments(), body->getArguments(), layouts)) {
      argument.setLoc(old.getLoc());
      locals[old] = {argument, layout};
    }
    builder.setInsertionPointToStart(body);
    moved.push_back({body});
    if (failed(copyAll(function.front())))
      return failure();
    moved.pop_back();
    function.erase();
    return success();
  }

  LogicalResult copyAll(Block &block) {
    for (Operation &op : block)
      if (failed(copy(&op)))
        return failure();
    return success();
  }

  LogicalResult copy(Operation *op) {
    if (auto read = dyn_cast<ReadOp>(op))
      return copyRead(read);
    if (auto write = dyn_cast<WriteOp>(op))
      return copyWrite(write);
    if (auto loop = dyn_cast<MicrobatchesOp>(op))
      return copyLoop(loop);
    if (isa<func::ReturnOp>(op)) {
      SmallVector<Value> values;
      for (Value value : op->getOperands())
        values.push_back(at(value, Layout::whole(shapeOf(value))));
      func::ReturnOp::create(builder, op->getLoc(), values);
      return success();
    }
    if (isa<YieldOp>(op))
      return success(); // its loop's
    if (auto shardable = dyn_cast<Shardable>(op))
      return copyCut(shardable);
    return op->emitOpError("cannot be cut over the mesh ") << mesh.text();
  }

  LogicalResult copyRead(ReadOp read) {
    auto variable = module.lookupSymbol<VariableOp>(read.getVariable());
    FailureOr<Layout> layout =
        parsed(variable, variable->getAttr(layoutAttrName), tensorType(read.getResult()));
    if (failed(layout))
      return failure();
    locals[read] = {ReadOp::create(builder, read.getLoc(), typeOf(read.getResult(), *layout),
                                   read.getVariable()),
                    *layout};
    return success();
  }

  LogicalResult copyWrite(WriteOp write) {
    auto variable = module.lookupSymbol<VariableOp>(write.getVariable());
    FailureOr<Layout> layout =
        parsed(variable, variable->getAttr(layoutAttrName), tensorType(write.getValue()));
    if (failed(layout))
      return failure();
    if (write.getCondition())
      return write.emitOpError("has a condition, and is partitioned behind what decides it");
    WriteOp::create(builder, write.getLoc(), write.getVariable(), at(write.getValue(), *layout));
    return success();
  }

  LogicalResult copyLoop(MicrobatchesOp loop) {
    Block &body = loop.getBody().front();
    auto inside = loop->getAttrOfType<ArrayAttr>(insideAttrName);
    if (!inside || inside.size() != body.getNumArguments())
      return loop.emitOpError("needs the layouts of what its body gets, " + insideAttrName);
    SmallVector<Layout> layouts;
    for (auto [argument, text] : llvm::zip_equal(body.getArguments(), inside)) {
      FailureOr<Layout> layout = parsed(loop, text, shapeOf(argument));
      if (failed(layout))
        return failure();
      layouts.push_back(*layout);
    }
    SmallVector<Value> sliced, carried;
    ArrayRef<Layout> left = ArrayRef(layouts).drop_front();
    for (Value value : loop.getSliced()) {
      Layout all = left.front();
      all.dimensions[0].insert(all.dimensions[0].begin(), Piece{int64_t(loop.getCount())});
      all.dimensions[0] = joined(all.dimensions[0]);
      sliced.push_back(at(value, all));
      left = left.drop_front();
    }
    for (auto [value, layout] : llvm::zip_equal(loop.getCarried(), left))
      carried.push_back(at(value, layout));

    // The body first: how its sums lie says what the loop's results are.
    Region region;
    Block &made = region.emplaceBlock();
    for (auto [argument, layout] : llvm::zip_equal(body.getArguments(), layouts))
      locals[argument] = {made.addArgument(typeOf(argument, layout), argument.getLoc()), layout};
    FailureOr<SmallVector<Layout>> results = copyBody(loop, made, left);
    if (failed(results))
      return failure();
    SmallVector<Type> types;
    for (auto [result, layout] : llvm::zip_equal(loop.getResults(), *results))
      types.push_back(typeOf(result, layout));
    auto copied =
        MicrobatchesOp::create(builder, loop.getLoc(), types, loop.getCountAttr(), sliced, carried);
    copied.getBody().takeBody(region);
    for (auto [old, result, layout] :
         llvm::zip_equal(loop.getResults(), copied.getResults(), *results))
      locals[old] = {result, layout};
    return success();
  }

  /// How what the body yields lies: sums as they come, and what is carried on as it was.
  FailureOr<SmallVector<Layout>> copyBody(MicrobatchesOp loop, Block &made,
                                          ArrayRef<Layout> carried) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&made);
    moved.push_back({&made});
    Block &body = loop.getBody().front();
    if (failed(copyAll(body)))
      return failure();
    SmallVector<Layout> layouts;
    SmallVector<Value> yielded;
    for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
      layouts.push_back(i < loop.numSums() ? locals.at(value).layout : carried[i - loop.numSums()]);
      yielded.push_back(at(value, layouts.back()));
    }
    YieldOp::create(builder, body.getTerminator()->getLoc(), yielded);
    moved.pop_back();
    return layouts;
  }

  /// The axes over which operands may stay sums, and the result is one then.
  Axes waiting(Shardable op, const Layout &factors) {
    Axes axes;
    for (unsigned axis = 0; axis < mesh.axes.size(); ++axis) {
      int64_t sums = 0;
      bool isUsedElsewhere = false; // and would be added up for each use
      for (Value operand : op->getOperands())
        if (llvm::is_contained(locals.at(operand).layout.sums, axis)) {
          ++sums;
          isUsedElsewhere |= !operand.hasOneUse();
        }
      if (!sums || isUsedElsewhere || factors.isCutOver(axis) || op->getNumResults() != 1)
        continue;
      bool first = llvm::is_contained(locals.at(op->getOperand(0)).layout.sums, axis);
      Linearity linear = op.linearity();
      bool passes = linear == Linearity::first      ? first && sums == 1
                    : linear == Linearity::any      ? sums == 1
                    : linear == Linearity::together ? sums == op->getNumOperands()
                                                    : false;
      if (passes && !grows(op, axis))
        axes.push_back(axis);
    }
    return axes;
  }

  /// Whether more is to be added up behind the op than before it.
  bool grows(Operation *op, unsigned axis) {
    int64_t before = 0;
    for (Value operand : op->getOperands())
      if (llvm::is_contained(locals.at(operand).layout.sums, axis))
        before += storageBytes(operand.getType());
    return storageBytes(op->getResult(0).getType()) > before;
  }

  LogicalResult copyCut(Shardable op) {
    ShardRule rule = op.shardRule();
    SmallVector<int64_t> sizes;
    for (const Factor &factor : rule.factors)
      sizes.push_back(factor.size);
    Layout factors = Layout::whole(sizes);
    if (Attribute text = op->getAttr(cutsAttrName)) {
      FailureOr<Layout> cuts = parsed(op, text, sizes);
      if (failed(cuts))
        return failure();
      factors = *cuts;
    }
    Axes waits = waiting(op, factors), sums = waits;
    SmallVector<Value> operands;
    for (auto [operand, dimensions] : llvm::zip_equal(op->getOperands(), rule.operands)) {
      Layout wanted = layoutOf(dimensions, factors);
      for (unsigned axis : waits)
        if (llvm::is_contained(locals.at(operand).layout.sums, axis))
          wanted.sums.push_back(axis);
      operands.push_back(at(operand, wanted));
    }
    for (auto [factor, pieces] : llvm::zip_equal(rule.factors, factors.dimensions))
      for (const Piece &piece : pieces)
        if (factor.kind == Factor::Kind::sum)
          sums.insert(sums.end(), piece.axes.begin(), piece.axes.end());
    llvm::sort(sums);
    SmallVector<Layout> layouts;
    for (ArrayRef<ShardRule::Dimension> dimensions : rule.results) {
      layouts.push_back(layoutOf(dimensions, factors));
      layouts.back().sums = sums;
    }
    Operation *made = compute(op, operands, layouts);
    say(made, layouts);
    for (auto [old, result, layout] :
         llvm::zip_equal(op->getResults(), made->getResults(), layouts))
      locals[old] = {result, layout};
    return success();
  }

  /// The op on a rank's shares.
  Operation *compute(Operation *op, ArrayRef<Value> operands, ArrayRef<Layout> layouts) {
    if (auto iota = dyn_cast<IotaOp>(op); iota && layouts[0].isCut()) {
      SmallVector<int64_t> strides(layouts[0].dimensions.size(), 0);
      strides[iota.getDimension()] = 1;
      return reshard.places(op->getLoc(), layouts[0], strides).getDefiningOp();
    }
    Operation *made = builder.insert(op->clone());
    made->removeAttr(cutsAttrName);
    made->setOperands(operands);
    for (auto [old, result, layout] :
         llvm::zip_equal(op->getResults(), made->getResults(), layouts))
      result.setType(typeOf(old, layout));
    if (auto split = dyn_cast<SplitDimOp>(made))
      split.setSizes(
          shapeOf(split.getResult()).slice(split.getDimension(), split.getSizes().size()));
    if (auto random = dyn_cast<RandomOp>(made); random && layouts[0].isCut())
      drawShare(random, tensorType(op->getResult(0)), layouts[0]);
    return made;
  }

  /// The numbers that the whole tensor has there.
  void drawShare(RandomOp random, RankedTensorType whole, const Layout &layout) {
    assert(!random.getPlaces() && "programs are partitioned once");
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(random);
    SmallVector<int64_t> strides(whole.getRank(), 1);
    for (size_t d = strides.size(); d-- > 1;)
      strides[d - 1] = strides[d] * whole.getDimSize(d);
    random.getPlacesMutable().assign(reshard.places(random.getLoc(), layout, strides));
    random.setElements(whole.getNumElements());
  }

  /// A value as the layout says, moved there once.
  Value at(Value value, const Layout &layout) {
    const Local &local = locals.at(value);
    if (local.layout == layout)
      return local.value;
    if (auto constant = value.getDefiningOp<ConstantOp>()) {
      Operation *made = builder.insert(constant->clone());
      made->removeAttr(cutsAttrName);
      made->getResult(0).setType(typeOf(value, layout));
      return made->getResult(0);
    }
    std::pair key(value.getAsOpaquePointer(), layout.text(mesh));
    for (const Moved &block : moved)
      if (auto found = block.values.find(key); found != block.values.end())
        return found->second;
    // Where it is made: what a loop reads from outside is not moved in each round.
    Moved *home = &moved.back();
    for (Moved &block : moved)
      if (block.block == Value(local.value).getParentBlock())
        home = &block;
    OpBuilder::InsertionGuard guard(builder);
    if (home != &moved.back())
      builder.setInsertionPointToEnd(home->block);
    Value there = reshard.move(value.getLoc(), local.value, local.layout, layout);
    if (Operation *made = there.getDefiningOp(); made != local.value.getDefiningOp())
      say(made, layout);
    return home->values[key] = there;
  }

  void say(Operation *made, ArrayRef<Layout> layouts) {
    SmallVector<Attribute> texts;
    for (const Layout &layout : layouts)
      texts.push_back(builder.getStringAttr(layout.text(mesh)));
    if (says)
      made->setAttr(liesAttrName, builder.getArrayAttr(texts));
  }

  /// Values that have been moved in a block, by what they were and the layout.
  struct Moved {
    Block *block;
    std::map<std::pair<const void *, std::string>, Value> values = {};
  };

  const Mesh &mesh;
  const int64_t rank;
  const bool says; ///< ops say how their results lie
  ModuleOp module;
  OpBuilder builder;
  Reshard reshard;
  llvm::DenseMap<Value, Local> locals;
  SmallVector<Moved> moved; ///< of each block that is being copied, the outermost first
};

struct Partition : weir::impl::PartitionBase<Partition> {
  using Base::Base;

  void runOnOperation() override {
    auto text = getOperation()->getAttrOfType<StringAttr>(meshAttrName);
    if (!text)
      return;
    auto mesh = Mesh::parse(text.getValue());
    if (auto *wrong = std::get_if<std::string>(&mesh)) {
      getOperation().emitError() << meshAttrName << ": " << *wrong;
      return signalPassFailure();
    }
    if (failed(Partitioner(getOperation(), std::get<Mesh>(mesh), rank, says).run()))
      signalPassFailure();
  }
};

} // namespace
