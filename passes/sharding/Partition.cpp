//===- Partition.cpp - The program of one rank ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every op computes with the sharding that it was given (weir.factor_sharding), on operands that
// are resharded to it from their own shardings (OpSharding.h). Partitioner::at() places
// collectives: a parameter that ZeRO 3 shards is all-gathered before its first use, in the forward
// and in the backward pass, and a gradient is reduced right behind the op that computes it.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Names.h"
#include "ir/weir/Phase.h"
#include "ir/weir/RankPrograms.h"
#include "ir/weir/Shapes.h"
#include "ir/weir/Sharding.h"
#include "ir/weir/Strategy.h"
#include "ir/weir/attention/Attention.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/product/Product.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Variable.h"
#include "ir/weir/program/Yield.h"
#include "ir/weir/reduction/Reduction.h"
#include "ir/weir/transfer/Transfer.h"
#include "passes/Passes.h"
#include "passes/sharding/OpSharding.h"
#include "passes/sharding/Reshard.h"
#include "passes/sharding/Stripes.h"
#include "llvm/ADT/ScopeExit.h"
#include <map>
#include <tuple>

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
  Partitioner(ModuleOp module, const Mesh &mesh, int64_t rank, bool says, bool lowSums)
      : mesh(mesh), rank(rank), says(says), lowSums(lowSums), module(module),
        builder(module.getContext()), reshard(builder, module, mesh, rank) {}

  LogicalResult run() {
    if (hasEqualShards(module, mesh)) // before ops lose their shardings
      module->setAttr(equalShardsAttrName, builder.getUnitAttr());
    for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      if (failed(partition(function)))
        return failure();
    for (auto variable : module.getOps<VariableOp>()) {
      FailureOr<Layout> layout = layoutFrom(variable, variable->getAttr(shardingAttrName),
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

  FailureOr<Layout> layoutFrom(Operation *op, Attribute sharding, RankedTensorType type) {
    if (!sharding)
      return Layout::whole(type.getShape());
    return layoutFrom(op, sharding, type.getShape());
  }
  FailureOr<Layout> layoutFrom(Operation *op, Attribute sharding, ArrayRef<int64_t> shape) {
    std::optional<Layout> layout = layoutOn(sharding, mesh);
    if (layout && ArrayRef(layout->shape()) == shape)
      return *layout;
    return op->emitError() << sharding << " is no sharding of " << printed(shape) << " on "
                           << mesh.text();
  }

  LogicalResult partition(func::FuncOp function) {
    SmallVector<Layout> layouts;
    SmallVector<Type> types;
    for (BlockArgument argument : function.getArguments()) {
      auto sharding = function.getArgAttr(argument.getArgNumber(), shardingAttrName);
      FailureOr<Layout> layout = layoutFrom(function, sharding, tensorType(argument));
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
    forward = forwardOps(function);
    phases = Phases();
    if (failed(copyAll(function.front())))
      return failure();
    moved.pop_back();
    OpBuilder::InsertionGuard guard(builder);
    if (failed(reshard.check()))
      return failure();
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

  FailureOr<Layout> layoutOfVariable(StringRef name, Value whole) {
    auto variable = module.lookupSymbol<VariableOp>(name);
    return layoutFrom(variable, variable->getAttr(shardingAttrName), tensorType(whole));
  }

  LogicalResult copyRead(ReadOp read) {
    FailureOr<Layout> layout = layoutOfVariable(read.getVariable(), read.getResult());
    if (failed(layout))
      return failure();
    locals[read] = {ReadOp::create(builder, read.getLoc(), typeOf(read.getResult(), *layout),
                                   read.getVariable()),
                    *layout};
    return success();
  }

  LogicalResult copyWrite(WriteOp write) {
    FailureOr<Layout> layout = layoutOfVariable(write.getVariable(), write.getValue());
    if (failed(layout))
      return failure();
    if (write.getCondition())
      return write.emitOpError("has a condition, and is partitioned behind what decides it");
    WriteOp::create(builder, write.getLoc(), write.getVariable(), at(write.getValue(), *layout));
    return success();
  }

  LogicalResult copyLoop(MicrobatchesOp loop) {
    Block &body = loop.getBody().front();
    auto inside = loop->getAttrOfType<ArrayAttr>(bodyShardingsAttrName);
    if (!inside || inside.size() != body.getNumArguments())
      return loop.emitOpError("needs the shardings of what its body gets, " +
                              bodyShardingsAttrName);
    SmallVector<Layout> layouts;
    for (auto [argument, sharding] : llvm::zip_equal(body.getArguments(), inside)) {
      FailureOr<Layout> layout = layoutFrom(loop, sharding, shapeOf(argument));
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
    if (Attribute sampled = loop->getAttr(sampledAttrName))
      copied->setAttr(sampledAttrName, sampled);
    for (auto [old, result, layout] :
         llvm::zip_equal(loop.getResults(), copied.getResults(), *results))
      locals[old] = {result, layout};
    return success();
  }

  /// How what the body yields lies: sums as the loop says or as they come, and what is carried on
  /// as it was.
  FailureOr<SmallVector<Layout>> copyBody(MicrobatchesOp loop, Block &made,
                                          ArrayRef<Layout> carried) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&made);
    moved.push_back({&made});
    Block &body = loop.getBody().front();
    if (failed(copyAll(body)))
      return failure();
    auto ofSums = loop->getAttrOfType<ArrayAttr>(sumShardingsAttrName);
    SmallVector<Layout> layouts;
    SmallVector<Value> yielded;
    for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
      layouts.push_back(i < loop.numSums() ? locals.at(value).layout : carried[i - loop.numSums()]);
      if (ofSums && i < loop.numSums()) {
        FailureOr<Layout> wanted = layoutFrom(loop, ofSums[i], shapeOf(value));
        if (failed(wanted))
          return failure();
        if (isScatteredTo(*wanted, layouts.back()))
          layouts.back() = *wanted;
      }
      yielded.push_back(at(value, layouts.back()));
    }
    YieldOp::create(builder, body.getTerminator()->getLoc(), yielded);
    moved.pop_back();
    return layouts;
  }

  /// Whether a reduce-scatter makes a sum that lies so of a partial one. An all-reduce would save
  /// no memory in the loop, and is done once behind it.
  static bool isScatteredTo(const Layout &wanted, const Layout &sum) {
    return !sum.partial.empty() &&
           llvm::all_of(sum.partial, [&](unsigned axis) { return wanted.isCutOver(axis); });
  }

  LogicalResult copyCut(Shardable op) {
    ShardRule rule = op.shardRule();
    Layout cuts = wholeFactors(rule);
    if (Attribute sharding = op->getAttr(factorShardingAttrName)) {
      FailureOr<Layout> said = layoutFrom(op, sharding, cuts.shape());
      if (failed(said))
        return failure();
      cuts = *said;
    }
    OpSharding opSharding = opShardingOf(op, rule, cuts, mesh, [&](Value value) -> const Layout & {
      return locals.at(value).layout;
    });
    std::optional<Pieces> ring = ringOf(op, opSharding);
    SmallVector<Value> operands;
    for (auto [operand, wanted] : llvm::zip_equal(op->getOperands(), opSharding.operands))
      operands.push_back(at(operand, wanted, forward.contains(op)));
    SmallVector<Type> types;
    for (auto [result, layout] : llvm::zip_equal(op->getResults(), opSharding.results))
      types.push_back(typeOf(result, layout));
    // Of forward values alone, a backward op's program is still backward.
    PhaseListener own(phases.of(op));
    builder.setListener(&own);
    llvm::scope_exit stop([&] { builder.setListener(nullptr); });
    SmallVector<Value> values;
    const Pieces *queries = needsStripes(op) ? &cuts.dimensions[rule.operands[0][2][0]] : nullptr;
    if (queries && !queries->back().axes.empty()) {
      const Piece &stripes = queries->back();
      if (stripes.size != stripes.parts(mesh) || queries->size() > 2 ||
          (queries->size() == 2 && !queries->front().axes.empty()))
        return op->emitOpError("is causal, and its queries are cut into stripes alone: ")
               << "expected one place of the innermost piece for each rank";
      Value number = reshard.begin(op->getLoc(), stripes);
      values = ring ? attentionInRing(builder, op, operands, types, number, axisOf(*ring),
                                      ring->back().parts(mesh))
                    : attentionInStripes(builder, op, operands, types, number, stripes.size);
    } else if (ring) {
      values = attentionInRing(builder, op, operands, types, nullptr, axisOf(*ring),
                               ring->back().parts(mesh));
    } else {
      Operation *made = compute(op, operands, types, cuts, opSharding.results[0]);
      values.assign(made->result_begin(), made->result_end());
      for (const Combination &combination : opSharding.combinations)
        values = combine(made, values, combination);
    }
    say(values, opSharding.results);
    for (auto [old, result, layout] : llvm::zip_equal(op->getResults(), values, opSharding.results))
      locals[old] = {result, layout};
    return success();
  }

  /// Of attention in a ring: how keys lie along their positions, which is how it gets them and
  /// leaves their gradients.
  std::optional<Pieces> ringOf(Operation *op, OpSharding &opSharding) {
    std::optional<Layout> keys = layoutOn(op->getAttr(ringShardingAttrName), mesh);
    if (!keys)
      return std::nullopt;
    constexpr unsigned positions = 2;
    Pieces pieces = keys->dimensions[positions];
    unsigned axis = pieces.back().axes.back();
    for (unsigned i : {1, 2}) { // keys and values
      opSharding.operands[i].dimensions[positions] = pieces;
      if (!isa<AttentionGradOp>(op))
        continue;
      opSharding.results[i].dimensions[positions] = pieces;
      llvm::erase(opSharding.results[i].partial, axis);
    }
    return pieces;
  }
  StringRef axisOf(const Pieces &pieces) { return mesh.axes[pieces.back().axes.back()].name; }

  /// What a rank has of an op, for what the op says besides its types.
  class OwnShares : public Shares {
  public:
    OwnShares(Partitioner &all, Operation *op, const Layout &cuts, const Layout &result)
        : all(all), op(op), cuts(cuts), result(result) {}
    Value begin(unsigned factor) override {
      const Pieces &pieces = cuts.dimensions[factor];
      if (pieces.size() == 1 && pieces[0].axes.empty())
        return nullptr;
      assert(pieces.size() == 1 && "what is counted is cut as one");
      return all.reshard.begin(op->getLoc(), pieces[0]);
    }
    Value places(ArrayRef<int64_t> strides) override {
      return all.reshard.places(op->getLoc(), result, strides);
    }

  private:
    Partitioner &all;
    Operation *op;
    const Layout &cuts, &result;
  };

  /// The op on a rank's shares.
  Operation *compute(Operation *op, ArrayRef<Value> operands, ArrayRef<Type> types,
                     const Layout &cuts, const Layout &result) {
    OwnShares shares(*this, op, cuts, result);
    Operation *made = isa<Localizable>(op)
                          ? cast<Localizable>(op).localize(builder, operands, types, shares)
                          : cloneWith(builder, op, operands, types);
    made->removeAttr(factorShardingAttrName);
    return made;
  }

  /// The results of the op, of what members along an axis have of them.
  SmallVector<Value> combine(Operation *op, ArrayRef<Value> values,
                             const Combination &combination) {
    SmallVector<Value> parts;
    for (Value value : values)
      parts.push_back(reshard.stack(op->getLoc(), value, combination.axis));
    if (combination.kind == Factor::Kind::combined)
      return cast<Combining>(op).combine(builder, parts);
    auto kind = combination.kind == Factor::Kind::max ? Reduction::max : Reduction::min;
    for (Value &part : parts)
      part = ReduceOp::create(builder, op->getLoc(), part, kind, ArrayRef<int64_t>{0});
    return parts;
  }

  /// The value in a sharding. It is resharded once, and the result is used again. An all-gather, as
  /// of a parameter, is done once for the forward and once for the backward pass, each at its first
  /// use, so that the gathered value takes no memory in between.
  Value at(Value value, const Layout &layout, bool isForward = true) {
    const Local &local = locals.at(value);
    if (local.layout == layout)
      return local.value;
    if (isUniform(value)) {
      Operation *made = builder.insert(local.value.getDefiningOp()->clone());
      made->getResult(0).setType(typeOf(value, layout));
      made->removeAttr(resultShardingsAttrName); // of the one that is whole
      return made->getResult(0);
    }
    // What gradients alone read is gathered once.
    isForward |= value.getDefiningOp() && !forward.contains(value.getDefiningOp());
    bool isGathered = isOnlyGathered(local.layout, layout, mesh);
    std::tuple key(value.getAsOpaquePointer(), layout.text(mesh), isForward || !isGathered);
    for (const Moved &block : moved)
      if (auto found = block.values.find(key); found != block.values.end())
        return found->second;
    Moved *home = &moved.back();
    // Where it is made: what a loop reads from outside is not moved in each round.
    for (Moved &block : moved)
      if (!isGathered && block.block == Value(local.value).getParentBlock())
        home = &block;
    OpBuilder::InsertionGuard guard(builder);
    if (home != &moved.back())
      builder.setInsertionPointToEnd(home->block);
    if (isReducedGradient(value, local.layout, layout))
      builder.setInsertionPointAfterValue(local.value);
    Value there = moveTo(value, layout, isGathered && !isForward);
    if (there != local.value)
      say(there, layout);
    return home->values[key] = there;
  }

  /// Whether the change of sharding reduces a gradient over ranks. This is done as soon as the
  /// gradient is computed, so that the rank holds only its shard from then on.
  bool isReducedGradient(Value value, const Layout &from, const Layout &to) {
    return from.partial != to.partial && value.getDefiningOp() &&
           phases.of(value) == StepPhase::backward;
  }

  Value moveTo(Value value, const Layout &layout, bool again) {
    const Local local = locals.at(value);
    RankedTensorType low = lowSumOf(value, local.layout, layout);
    if (!low)
      return reshard.move(value.getLoc(), local.value, local.layout, layout, again);
    Value rounded = CastOp::create(builder, value.getLoc(), typeOf(low, local.layout), local.value);
    Value there = reshard.move(value.getLoc(), rounded, local.layout, layout, again);
    return CastOp::create(builder, value.getLoc(), typeOf(value, layout), there);
  }

  /// The type in which ranks' parts are sent to be added up, where it is not the value's own: of
  /// what a product of low precision gives, over axes that are none of the batch's. Gradients of
  /// parameters, which are added up over those, are as wide as they come
  /// (weir-low-precision-gradient-reduction).
  RankedTensorType lowSumOf(Value value, const Layout &from, const Layout &to) const {
    auto isAdded = [&](unsigned axis) { return !llvm::is_contained(to.partial, axis); };
    auto isOfRows = [&](unsigned axis) { return isAdded(axis) && isOfBatch(mesh.axes[axis].name); };
    RankedTensorType type = tensorType(value);
    if (!lowSums || !type.getElementType().isF32() || !llvm::any_of(from.partial, isAdded) ||
        llvm::any_of(from.partial, isOfRows))
      return {};
    Operation *op = value.getDefiningOp();
    while (isa_and_nonnull<View>(op))
      op = op->getOperand(0).getDefiningOp();
    auto product = dyn_cast_or_null<MatmulOp>(op);
    if (!product)
      return {};
    Type element = tensorType(product.getLhs()).getElementType();
    return element.isF16() || element.isBF16() ? type.clone(element) : RankedTensorType();
  }

  /// Ops with these results, of one op or of one each, say how they lie.
  void say(ValueRange values, ArrayRef<Layout> layouts) {
    SmallVector<Attribute> shardings;
    for (const Layout &layout : layouts)
      shardings.push_back(shardingAttr(builder.getContext(), layout, mesh));
    for (auto [value, sharding] : llvm::zip_equal(values, shardings)) {
      Operation *made = value.getDefiningOp();
      if (!says || !made)
        continue;
      bool isAll = llvm::equal(made->getResults(), values);
      if (isAll || made->getNumResults() == 1)
        made->setAttr(resultShardingsAttrName,
                      isAll ? builder.getArrayAttr(shardings) : builder.getArrayAttr(sharding));
    }
  }

  /// Values that have been moved in a block, by what they were and the layout, and whether for the
  /// forward computation.
  struct Moved {
    Block *block;
    std::map<std::tuple<const void *, std::string, bool>, Value> values = {};
  };

  const Mesh &mesh;
  const int64_t rank;
  const bool says;    ///< ops say how their results lie
  const bool lowSums; ///< of products in low precision
  ModuleOp module;
  OpBuilder builder;
  Reshard reshard;
  llvm::DenseMap<Value, Local> locals;
  llvm::DenseSet<Operation *> forward;
  Phases phases;            ///< of the function that is copied
  SmallVector<Moved> moved; ///< of each block that is being copied, the outermost first
};

struct Partition : weir::impl::PartitionBase<Partition> {
  using Base::Base;

  void runOnOperation() override {
    const Mesh *mesh = meshOf(getOperation());
    const bool lowSums = isLow(*strategyOf(getOperation()).tpReduceType);
    if (mesh && (failed(verifyRank(getOperation(), rank, *mesh)) ||
                 failed(Partitioner(getOperation(), *mesh, rank, says, lowSums).run())))
      signalPassFailure();
  }
};

} // namespace
