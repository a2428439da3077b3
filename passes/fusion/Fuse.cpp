//===- Fuse.cpp - Outlines kernels ----------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs after the step is differentiated and simplified. Every op that computes ends in a
// weir.kernel. Reads, writes, regions of microbatches, and the aliases split_dim and merge_dims
// stay outside kernels.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/ElementTypes.h"
#include "ir/weir/Names.h"
#include "ir/weir/Phase.h"
#include "ir/weir/Program.h"
#include "ir/weir/Strategy.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/interfaces/Statistics.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/kernel/KernelLimits.h"
#include "ir/weir/product/Product.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Offload.h"
#include "ir/weir/program/Yield.h"
#include "ir/weir/reduction/Reduction.h"
#include "ir/weir/structure/Structure.h"
#include "mlir/IR/IRMapping.h"
#include "passes/PassTarget.h"
#include "passes/Passes.h"
#include "passes/fusion/Domain.h"
#include "passes/fusion/Epilogues.h"
#include "passes/fusion/Groups.h"
#include "passes/fusion/Units.h"
#include "passes/stages/GatherSections.h"
#include "llvm/ADT/MapVector.h"

namespace weir {
#define GEN_PASS_DEF_FUSE
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

KernelShape shapeOfGroup(const FusionGroup &group, const Target &target) {
  if (group.fused)
    return group.rows < 0 ? KernelShape::map : KernelShape::row;
  Operation *root = group.ops.front();
  for (Operation *op : group.ops)
    if (fusionClass(op) == FusionClass::root)
      root = op;
  return rootShape(root, target);
}

/// Moves ops, and copies of the cheap ones they use, into a kernel that takes what they need from
/// outside. The caller replaces the results where they are used outside.
class Outliner {
public:
  KernelOp outline(OpBuilder &builder, ArrayRef<Operation *> ops, ArrayRef<Value> results,
                   KernelShape shape) {
    inside.insert(ops.begin(), ops.end());
    for (Operation *op : ops)
      for (Value operand : op->getOperands())
        collect(operand);
    assert(inputs.size() + results.size() <= mostKernelOperands && "more than a launch can take");
    SmallVector<Type> types = llvm::map_to_vector(results, [](Value v) { return v.getType(); });
    auto kernel = KernelOp::create(builder, ops.back()->getLoc(), types, shape, Attribute(),
                                   inputs.getArrayRef());
    Block *body = builder.createBlock(&kernel.getBody());
    for (Value input : inputs)
      mapping.map(input, body->addArgument(input.getType(), input.getLoc()));
    for (auto [value, input] : same)
      mapping.map(value, mapping.lookup(input));
    for (Operation *op : ops) {
      for (OpOperand &operand : op->getOpOperands())
        operand.set(within(builder, operand.get()));
      op->moveBefore(body, body->end());
    }
    YieldOp::create(builder, kernel.getLoc(), results);
    if (Attribute domain = domainOf(kernel))
      kernel.setDomainAttr(domain);
    setResultPhases(kernel);
    builder.setInsertionPointAfter(kernel);
    return kernel;
  }

private:
  bool isInside(Operation *op) { return op && inside.contains(op); }
  bool isCheap(Operation *op) { return op && fusionClass(op) == FusionClass::cheap; }
  void collect(Value value) {
    Operation *op = value.getDefiningOp();
    if (isInside(op))
      return;
    if (!isCheap(op)) {
      auto known = llvm::find_if(inputs, [&](Value input) { return showsTheSame(input, value); });
      if (known != inputs.end())
        same.push_back({value, *known});
      else
        inputs.insert(value);
      return;
    }
    for (Value operand : op->getOperands())
      collect(operand);
  }
  /// One memory under one shape, of which ops that were copied have a name each. As two inputs it
  /// would be read twice, and neither result could be stored in its place.
  static bool showsTheSame(Value a, Value b) {
    Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
    return first && second && isAlias(first) &&
           OperationEquivalence::isEquivalentTo(first, second,
                                                OperationEquivalence::IgnoreLocations |
                                                    OperationEquivalence::IgnoreDiscardableAttrs);
  }
  Value within(OpBuilder &builder, Value value) {
    Operation *op = value.getDefiningOp();
    if (isInside(op))
      return value;
    if (!mapping.contains(value)) {
      for (Value operand : op->getOperands())
        mapping.map(operand, within(builder, operand));
      builder.clone(*op, mapping);
    }
    return mapping.lookup(value);
  }

  llvm::SmallPtrSet<Operation *, 16> inside;
  llvm::SmallSetVector<Value, 8> inputs;
  SmallVector<std::pair<Value, Value>> same; ///< what is no input since another is the same
  IRMapping mapping;
};

/// What outside of a kernel uses a value that it does not yield: cheap ops that only the kernel
/// needed, which has copies of them.
void eraseCopied(Value value, KernelOp kernel) {
  auto user = [&]() -> Operation * {
    auto outside =
        llvm::find_if(value.getUsers(), [&](Operation *op) { return op->getParentOp() != kernel; });
    return outside == value.user_end() ? nullptr : *outside;
  };
  while (Operation *op = user()) {
    for (Value result : op->getResults())
      eraseCopied(result, kernel);
    op->erase();
  }
}

/// A map kernel of its own for a cheap value, where it is defined: what microbatches use of outside
/// is computed once.
Value inMemory(Value value) {
  OpBuilder builder(value.getContext());
  Operation *definer = value.getDefiningOp();
  builder.setInsertionPointAfter(definer);
  Operation *own = builder.clone(*definer);
  return Outliner().outline(builder, own, own->getResult(0), KernelShape::map).getResult(0);
}

/// Attention reads memory through strides: where an operand is no view of memory, what it is a view
/// of gets a kernel.
void materializeAttentionOperand(OpOperand &operand) {
  OpOperand *moved = nullptr; // below a merge: its dimensions do not follow each other
  OpOperand *use = &operand;
  bool merged = false;
  while (Operation *op = use->get().getDefiningOp()) {
    auto cast = dyn_cast<CastOp>(op);
    if (!isa<View>(op) && !(cast && cast.widens()))
      break;
    if (merged && !moved && !cast && !isAlias(op))
      moved = use;
    merged |= isa<MergeDimsOp>(op) && op->getResult(0).getType() != op->getOperand(0).getType();
    use = &op->getOpOperand(0);
  }
  Operation *base = use->get().getDefiningOp();
  if (moved)
    moved->set(inMemory(moved->get()));
  else if (base && fusionClass(base) == FusionClass::cheap)
    use->set(inMemory(use->get()));
}

void outlineAttention(Block &block) {
  SmallVector<Operation *> attentions;
  for (Operation &op : block)
    if (auto fusible = dyn_cast<Fusible>(op); fusible &&
                                              fusible.fusionClass() == FusionClass::root &&
                                              fusible.kernelShape() == KernelShape::attention)
      attentions.push_back(&op);
  // One after the other: a backward kernel reads what the forward one yields.
  for (Operation *op : attentions) {
    for (OpOperand &operand : op->getOpOperands())
      materializeAttentionOperand(operand);
    RootKernel root = attentionKernel(op);
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    KernelOp kernel = Outliner().outline(builder, root.ops, root.results, KernelShape::attention);
    for (auto [old, made] : llvm::zip(root.results, kernel.getResults()))
      old.replaceUsesWithIf(
          made, [&](OpOperand &use) { return use.getOwner()->getParentOp() != kernel; });
  }
}

/// Where a product's library adds a bias of f32 alone, one that is widened gets a kernel of its
/// own. It is small, and the product else would be written and read once more.
void materializeBiases(Block &block, const Target &target) {
  llvm::DenseMap<Value, Value> made;
  for (auto add : llvm::make_early_inc_range(block.getOps<AddOp>()))
    for (auto [sum, other] :
         {std::pair(add.getLhs(), add.getRhs()), std::pair(add.getRhs(), add.getLhs())}) {
      auto matmul = sum.getDefiningOp<MatmulOp>();
      auto cast = other.getDefiningOp<CastOp>();
      auto spread = cast ? cast.getInput().getDefiningOp<BroadcastOp>() : BroadcastOp();
      if (!matmul || !spread || !cast.widens() || tensorType(spread.getInput()).getRank() != 1)
        continue;
      Type low = tensorType(spread).getElementType(), wide = cast.getType().getElementType();
      auto narrow = add->hasOneUse() ? dyn_cast<CastOp>(*add->user_begin()) : CastOp();
      Type result = narrow && narrow.narrows() ? narrow.getType().getElementType() : Type();
      if (target.takes(matmul, {.bias = low}) ||
          target.takes(matmul, {.bias = low, .result = result}) ||
          !target.takes(matmul, {.bias = wide}))
        continue;
      Value &kernel = made[spread.getInput()];
      OpBuilder builder(add);
      if (!kernel) {
        auto vector = tensorType(spread.getInput()).clone(wide);
        kernel = inMemory(CastOp::create(builder, cast.getLoc(), vector, spread.getInput()));
      }
      Value again = BroadcastOp::create(builder, spread.getLoc(), cast.getType(), kernel,
                                        spread.getDimensions());
      add->replaceUsesOfWith(other, again);
    }
}

/// Gives a kernel of its own to every cheap value that someone needs in memory: also in
/// microbatches, whose kernels are made already, where what they read has become cheap since. A sum
/// widens what it reads on the way; a pool's gradient, which reads it again and again, is seven
/// times as slow so.
void materialize(Block &block, const Target &target) {
  SmallVector<OpOperand *> uses;
  block.walk([&](Operation *op) {
    FusionClass kind = fusionClass(op);
    if (isa<KernelOp>(op->getParentOp()))
      return;
    if (op->getBlock() != &block) {
      for (OpOperand &operand : op->getOpOperands())
        if (Operation *definer = operand.get().getDefiningOp();
            definer && definer->getBlock() == &block && fusionClass(definer) == FusionClass::cheap)
          uses.push_back(&operand);
      return;
    }
    if (isa<KernelOp>(op) || kind == FusionClass::fused || kind == FusionClass::cheap)
      return;
    bool widens = isa<ReduceOp>(op) && rootShape(op, target) == KernelShape::nest;
    for (OpOperand &operand : op->getOpOperands())
      if (Operation *definer = operand.get().getDefiningOp();
          definer && fusionClass(definer) == FusionClass::cheap &&
          !(widens && isa<CastOp>(definer)))
        uses.push_back(&operand);
  });
  llvm::DenseMap<Value, Value> made;
  for (OpOperand *use : uses) {
    Value value = use->get();
    Value &kernel = made[value];
    if (!kernel)
      kernel = inMemory(value);
    use->set(kernel);
  }
}

int64_t bytesOf(Value value) {
  RankedTensorType type = tensorType(value);
  return type.getNumElements() * storedBytes(type.getElementType());
}

/// What makes a full value that a group reads: pointwise ops of other groups, and what these read
/// from memory that the group does not read itself.
struct Chain {
  OpSet ops;
  llvm::SmallSetVector<Value, 2> fresh;
};

/// Nothing where more than pointwise ops make it, where it reads what the group makes, or where
/// that is too much.
std::optional<Chain> chainOf(Value value, const FusionGroup &group, const Groups &groups,
                             const llvm::SmallSetVector<Value, 8> &external) {
  Chain chain;
  SmallVector<Value> frontier{value};
  while (!frontier.empty()) {
    Value next = frontier.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (op && chain.ops.contains(op))
      continue;
    FusionGroup *other = op ? groups.of(op) : nullptr;
    if (!other || !other->fused) {
      // A variable may be another by then.
      Operation *maker = memoryOf(next).getDefiningOp();
      if (next == value || !maker || isa<ReadOp, ReloadOp>(maker))
        return std::nullopt;
      chain.fresh.insert(next);
      continue;
    }
    if (!isa<Pointwise>(op) || chain.ops.size() == 24)
      return std::nullopt;
    chain.ops.insert(op);
    for (Source source : sources(op)) {
      if (!source.direct)
        return std::nullopt;
      if (shapeOf(source.value) != group.shape ||
          (source.value != value && external.contains(source.value)))
        continue;
      Operation *definer = source.value.getDefiningOp();
      if (definer && group.ops.contains(definer))
        return std::nullopt;
      frontier.push_back(source.value);
    }
  }
  return chain;
}

/// Clones into groups what makes the values they read.
class Recomputer {
public:
  /// `makesAgain`: also what needs one value beside.
  Recomputer(Groups &groups, Block &block, bool makesAgain)
      : groups(groups), makesAgain(makesAgain) {
    for (auto [place, op] : llvm::enumerate(block))
      places[&op] = place;
  }

  /// Computes pointwise values again where that spares reading them: a full value of another group
  /// is cloned into this one when all it needs is read here anyway, and several are when they need
  /// one value beside that and take more memory than it.
  void run(FusionGroup &group);
  /// What was computed for what is computed again alone.
  void eraseUnused();

private:
  /// The ops behind each other, as they stand in the block.
  SmallVector<Operation *> ordered(const OpSet &ops) const {
    SmallVector<Operation *> list(ops.begin(), ops.end());
    if (llvm::all_of(list, [&](Operation *op) { return places.contains(op); }))
      llvm::sort(list, [&](Operation *a, Operation *b) { return places.at(a) < places.at(b); });
    else
      sortNearby(list);
    return list;
  }
  void clone(FusionGroup &group, Value value, const OpSet &ops, IRMapping &mapping);

  Groups &groups;
  const bool makesAgain;
  llvm::DenseMap<Operation *, unsigned> places; ///< but of what is cloned
  OpSet originals;                              ///< of what is
};

/// Behind the value itself: those that `mapping` has stand before it.
void Recomputer::clone(FusionGroup &group, Value value, const OpSet &ops, IRMapping &mapping) {
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfter(value.getDefiningOp());
  for (Operation *op : ordered(ops))
    if (!mapping.contains(op))
      groups.adopt(builder.clone(*op, mapping), &group);
  originals.insert(ops.begin(), ops.end());
  value.replaceUsesWithIf(mapping.lookup(value), [&](OpOperand &use) {
    return group.ops.contains(use.getOwner()) && !ops.contains(use.getOwner());
  });
}

void Recomputer::run(FusionGroup &group) {
  llvm::SmallSetVector<Value, 8> external;
  for (Operation *op : group.ops)
    for (Source source : sources(op))
      if (Operation *definer = source.value.getDefiningOp();
          source.direct && shapeOf(source.value) == group.shape &&
          !(definer && group.ops.contains(definer)))
        external.insert(source.value);
  /// By the one value that they need beside.
  llvm::MapVector<Value, SmallVector<std::pair<Value, OpSet>>> waiting;
  for (Value value : llvm::to_vector(external)) {
    std::optional<Chain> chain = chainOf(value, group, groups, external);
    if (!chain)
      continue;
    if (makesAgain && chain->fresh.size() == 1 && places.contains(value.getDefiningOp()))
      waiting[chain->fresh.front()].push_back({value, chain->ops});
    if (!chain->fresh.empty() || !Groups::fits(group, chain->ops))
      continue;
    IRMapping mapping;
    clone(group, value, chain->ops, mapping);
    external.remove(value);
  }
  for (auto &[fresh, values] : waiting) {
    int64_t spared = 0;
    OpSet all;
    for (auto &[value, ops] : values)
      all.insert(ops.begin(), ops.end());
    // What a third group reads stays in memory; what only its own group reads never gets there.
    for (auto &[value, ops] : values) {
      FusionGroup *own = groups.of(value.getDefiningOp());
      if (llvm::all_of(value.getUsers(), [&](Operation *user) {
            return group.ops.contains(user) || all.contains(user) ||
                   (own && groups.of(user) == own);
          }))
        spared += bytesOf(value);
    }
    if (spared <= bytesOf(fresh) || !Groups::fits(group, all))
      continue;
    llvm::sort(values, [&](const auto &a, const auto &b) {
      return places.at(a.first.getDefiningOp()) < places.at(b.first.getDefiningOp());
    });
    IRMapping mapping;
    for (auto &[value, ops] : values)
      clone(group, value, ops, mapping);
  }
}

void Recomputer::eraseUnused() {
  for (bool again = true; again;) {
    again = false;
    for (Operation *op : llvm::to_vector(originals))
      if (op->use_empty()) {
        originals.remove(op);
        groups.erase(op);
        again = true;
      }
  }
}

void recompute(Groups &groups, Block &block, const Target &target) {
  // Where arithmetic costs next to nothing beside memory.
  Recomputer recomputer(groups, block, /*makesAgain=*/target.stagesPorts());
  for (FusionGroup *group : groups.all())
    if (group->fused)
      recomputer.run(*group);
  recomputer.eraseUnused();
}

LogicalResult outlineBlock(Block &block, const Target &target, bool wholesApart) {
  if (failed(decomposeDeclined(block, target)))
    return failure();
  if (target.reducesInSteps())
    reduceInSteps(block);
  placeEpilogues(block);
  materializeBiases(block, target);
  computeFromStatistics(block);
  outlineAttention(block);
  materialize(block, target);
  recomputeUpdates(block);
  gatherSections(block);
  Groups groups(block, wholesApart);
  absorbNeighbours(groups, block, target);
  recompute(groups, block, target);

  Operation *terminator = block.getTerminator();
  OpBuilder builder(terminator);
  for (const Unit &unit : unitsInOrder(block, groups)) {
    if (!unit.group) {
      for (Operation *op : unit.ops)
        op->moveBefore(terminator);
      continue;
    }
    ArrayRef<Operation *> ops = unit.ops;
    SmallVector<Value> results;
    for (Operation *op : ops)
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) {
              return usedOutside(user, [&](Operation *op) { return unit.group->ops.contains(op); });
            }))
          results.push_back(result);
    if (results.empty())
      continue;
    builder.setInsertionPoint(terminator);
    KernelOp kernel = Outliner().outline(builder, ops, results, shapeOfGroup(*unit.group, target));
    for (auto [old, made] : llvm::zip(results, kernel.getResults()))
      old.replaceUsesWithIf(
          made, [&](OpOperand &use) { return use.getOwner()->getParentOp() != kernel; });
    for (Operation *op : ops)
      for (Value result : op->getResults())
        eraseCopied(result, kernel);
  }
  return success();
}

/// What kernels compute now. (An alias that was moved may stand behind its users.)
void eraseDead(Block &block) {
  llvm::SetVector<Operation *> dead;
  for (Operation &op : block)
    if (isOpTriviallyDead(&op))
      dead.insert(&op);
  while (!dead.empty()) {
    Operation *op = dead.pop_back_val();
    SmallVector<Value, 4> operands(op->getOperands());
    op->erase();
    for (Value operand : operands)
      if (Operation *definer = operand.getDefiningOp();
          definer && definer->getBlock() == &block && isOpTriviallyDead(definer))
        dead.insert(definer);
  }
}

struct Fuse : weir::impl::FuseBase<Fuse> {
  Fuse() = default;
  explicit Fuse(FuseOptions options) : FuseBase(options) {}
  explicit Fuse(std::shared_ptr<Target> target) : made(std::move(target)) {}

  LogicalResult initialize(MLIRContext *context) override { return made.make(context, target); }

  void runOnOperation() override {
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      if (failed(requireBody(function)))
        return signalPassFailure();
    SmallVector<Block *> blocks;
    getOperation().walk([&](MicrobatchesOp op) { blocks.push_back(&op.getBody().front()); });
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      blocks.push_back(&function.front());
    // Of --deterministic: what else a sum's kernel computes depends on the stages of a mesh.
    bool wholesApart = !strategyOf(getOperation()).hosts.axes.empty();
    for (Block *block : blocks) {
      if (failed(outlineBlock(*block, *made, wholesApart)))
        return signalPassFailure();
      eraseDead(*block);
    }
  }

  PassTarget made;
};

} // namespace

std::unique_ptr<Pass> weir::createFuse(std::shared_ptr<Target> target) {
  return std::make_unique<Fuse>(std::move(target));
}
