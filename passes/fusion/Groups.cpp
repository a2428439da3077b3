//===- Groups.cpp - Groups of ops that become one kernel ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/fusion/Groups.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/kernel/KernelLimits.h"
#include "ir/weir/structure/Structure.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weir {

static void collectSources(Value value, bool direct, SmallVectorImpl<Source> &into) {
  Operation *op = value.getDefiningOp();
  if (!op || fusionClass(op) != FusionClass::cheap) {
    into.push_back({value, direct});
    return;
  }
  for (Value operand : op->getOperands())
    collectSources(operand, direct && isa<BroadcastOp, CastOp>(op), into);
}

SmallVector<Source> sources(Operation *op) {
  SmallVector<Source> all;
  // What neither works element by element nor along rows finds its elements elsewhere.
  bool direct = isa<Pointwise>(op) || reductionSplit(op);
  for (Value operand : op->getOperands())
    collectSources(operand, direct, all);
  return all;
}

void sortNearby(SmallVectorImpl<Operation *> &ops) {
  if (ops.empty())
    return;
  llvm::SmallPtrSet<Operation *, 32> missing(ops.begin(), ops.end());
  SmallVector<Operation *> before, behind;
  Operation *up = ops.front(), *down = up;
  missing.erase(up);
  while (!missing.empty()) {
    assert((up || down) && "the ops are of one block");
    if (up && (up = up->getPrevNode()) && missing.erase(up))
      before.push_back(up);
    if (down && (down = down->getNextNode()) && missing.erase(down))
      behind.push_back(down);
  }
  SmallVector<Operation *> sorted(llvm::reverse(before));
  sorted.push_back(ops.front());
  llvm::append_range(sorted, behind);
  ops.assign(sorted.begin(), sorted.end());
}

bool usedOutside(Operation *user, llvm::function_ref<bool(Operation *)> isInside) {
  if (isInside(user))
    return false;
  if (fusionClass(user) != FusionClass::cheap)
    return true;
  return llvm::any_of(user->getUsers(),
                      [&](Operation *next) { return usedOutside(next, isInside); });
}

Groups::Groups(Block &block, bool wholesApart)
    : block(block), wholesApart(wholesApart), order(block) {
  for (Operation &op : block) {
    FusionClass kind = fusionClass(&op);
    if (kind != FusionClass::fused && kind != FusionClass::root)
      continue;
    FusionGroup &group = storage.emplace_back();
    group.ops.insert(&op);
    group.fused = kind == FusionClass::fused;
    if (group.fused) {
      auto split = reductionSplit(&op);
      group.shape = shapeOf(split ? op.getOperand(0) : op.getResult(0));
      group.rows = split ? split->rows : -1;
      group.reducesAll =
          split && !split->alongRow && tensorType(op.getResult(0)).getNumElements() == 1;
    }
    groupOf[&op] = &group;
  }
  mergeAlongEdges();
  mergeSiblings();
}

SmallVector<FusionGroup *> Groups::all() {
  SmallVector<FusionGroup *> live;
  for (FusionGroup &group : storage)
    if (!group.ops.empty())
      live.push_back(&group);
  for (FusionGroup *group : live) {
    SmallVector<Operation *> sorted(group->ops.begin(), group->ops.end());
    llvm::sort(sorted, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    group->ops.clear();
    group->ops.insert(sorted.begin(), sorted.end());
  }
  llvm::stable_sort(live, [](FusionGroup *a, FusionGroup *b) {
    return a->ops.front()->isBeforeInBlock(b->ops.front());
  });
  return live;
}

void Groups::adopt(Operation *op, FusionGroup *group) {
  if (FusionGroup *old = groupOf.lookup(op))
    old->ops.remove(op);
  group->ops.insert(op);
  groupOf[op] = group;
}

void Groups::erase(Operation *op) {
  groupOf.lookup(op)->ops.remove(op);
  groupOf.erase(op);
  op->erase();
}

bool Groups::fits(const FusionGroup &group, const OpSet &others) {
  if (group.ops.size() + others.size() > mostKernelOps)
    return false;
  auto all = llvm::concat<Operation *const>(group.ops, others);
  // Few are more than a kernel could take if all were different.
  size_t most = 0;
  for (Operation *op : all)
    most += op->getNumOperands() + op->getNumResults();
  if (most <= mostKernelOperands)
    return true;
  auto isInside = [&](Operation *op) { return group.ops.contains(op) || others.contains(op); };
  llvm::SmallPtrSet<Value, 32> operands;
  for (Operation *op : all) {
    for (Source source : sources(op))
      if (Operation *definer = source.value.getDefiningOp(); !definer || !isInside(definer))
        operands.insert(source.value);
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(),
                       [&](Operation *user) { return usedOutside(user, isInside); }))
        operands.insert(result);
  }
  return operands.size() <= mostKernelOperands;
}

void Groups::mergeAlongEdges() {
  for (Operation &op : block) {
    if (!groupOf.lookup(&op))
      continue;
    for (Source source : sources(&op)) {
      Operation *producer = source.value.getDefiningOp();
      FusionGroup *from = producer ? groupOf.lookup(producer) : nullptr;
      FusionGroup *into = groupOf.lookup(&op);
      if (from && into && from != into)
        tryMerge(from, into);
    }
  }
}

/// The full tensors that an op of a group reads element by element, also those that are another
/// view of what is in memory: two readers of one view read the same elements together.
static SmallVector<Value> fullReads(Operation *op, ArrayRef<int64_t> full) {
  SmallVector<Value> reads;
  if (full.empty())
    return reads;
  for (Source source : sources(op))
    if (source.direct && shapeOf(source.value) == full)
      reads.push_back(source.value);
  if (isa<Pointwise>(op) || reductionSplit(op))
    for (Value operand : op->getOperands())
      if (auto view = operand.getDefiningOp<View>(); view && view.use() == ViewUse::each &&
                                                     shapeOf(operand) == full &&
                                                     fusionClass(view) == FusionClass::cheap)
        reads.push_back(operand);
  return reads;
}

/// Groups that read the same full tensor are one pass over it, if they do not wait for each other.
/// Maps gain nothing worth the longer lifetimes; rows with reductions do.
void Groups::mergeSiblings() {
  llvm::MapVector<Value, SmallVector<Operation *>> readers;
  for (Operation &op : block)
    if (FusionGroup *group = groupOf.lookup(&op); group && group->fused && group->rows >= 0)
      for (Value read : fullReads(&op, group->shape))
        readers[read].push_back(&op);
  for (auto &[value, ops] : readers)
    for (size_t i = 0; i < ops.size(); ++i) {
      FusionGroup *a = groupOf.lookup(ops[i]);
      for (size_t j = i + 1; j < ops.size(); ++j) {
        FusionGroup *b = groupOf.lookup(ops[j]);
        looked += 1 + b->ops.size();
        if (a == b || a->shape != b->shape || a->rows != b->rows || !mayReduceTogether(*a, *b) ||
            !fits(*a, b->ops))
          continue;
        if (!order.otherPath(ops[i], ops[j], false) && !order.otherPath(ops[j], ops[i], false))
          absorb(a, b, *a);
      }
    }
}

/// Whether the two domains can be one, and what the merged one is.
bool Groups::joins(const FusionGroup &producer, const FusionGroup &consumer, FusionGroup &merged) {
  merged.fused = true;
  merged.reducesAll = producer.reducesAll || consumer.reducesAll;
  if (!mayReduceTogether(producer, consumer))
    return false;
  if (producer.shape == consumer.shape) {
    if (producer.rows >= 0 && consumer.rows >= 0 && producer.rows != consumer.rows)
      return false;
    merged.shape = producer.shape;
    merged.rows = std::max(producer.rows, consumer.rows);
    return true;
  }
  auto rowsOf = [](const FusionGroup &rows, const FusionGroup &full) {
    return full.rows > 0 && rows.rows < 0 && int64_t(rows.shape.size()) == full.rows &&
           rows.shape == full.shape.take_front(full.rows);
  };
  if (rowsOf(consumer, producer)) {
    merged.shape = producer.shape;
    merged.rows = producer.rows;
    return true;
  }
  if (rowsOf(producer, consumer)) {
    merged.shape = consumer.shape;
    merged.rows = consumer.rows;
    return true;
  }
  return false;
}

/// Follows a value through broadcasts to `user` and tells whether it is used element by element
/// (same shape) or, being a value per row, broadcast along the columns.
static bool fitsDomain(Value value, Operation *user, const FusionGroup &merged) {
  SmallVector<std::pair<Value, bool>> walk;
  ArrayRef<int64_t> shape = shapeOf(value), full = merged.shape;
  bool isFull = shape == full;
  bool isRow = merged.rows >= 0 && shape == full.take_front(merged.rows) &&
               int64_t(shape.size()) == merged.rows;
  for (Value operand : user->getOperands()) {
    if (operand == value) {
      if (!isFull && !isRow)
        return false;
      continue;
    }
    auto broadcast = operand.getDefiningOp<BroadcastOp>();
    while (broadcast) {
      if (broadcast.getInput() == value) {
        bool leading = true;
        for (auto [i, d] : llvm::enumerate(broadcast.getDimensions()))
          leading &= int64_t(i) == d && shape[i] == shapeOf(broadcast.getResult())[d];
        if (!isRow || !leading || shapeOf(broadcast.getResult()) != full)
          return false;
        break;
      }
      broadcast = broadcast.getInput().getDefiningOp<BroadcastOp>();
    }
  }
  return true;
}

static bool isCompleteOnlyAtTheEnd(Value value) {
  auto split = reductionSplit(value.getDefiningOp());
  return split && !split->alongRow;
}

bool Groups::edgesAllow(FusionGroup *producer, FusionGroup *consumer, const FusionGroup &merged) {
  for (Operation *op : consumer->ops)
    for (Source source : sources(op)) {
      Operation *from = source.value.getDefiningOp();
      if (!from || !producer->ops.contains(from))
        continue;
      if (!source.direct || isCompleteOnlyAtTheEnd(source.value) ||
          !fitsDomain(source.value, op, merged))
        return false;
    }
  return true;
}

/// The consumer reads what the producer makes: the producer waits for nothing of the consumer's.
void Groups::tryMerge(FusionGroup *producer, FusionGroup *consumer) {
  looked += producer->ops.size() + consumer->ops.size();
  FusionGroup merged;
  if (producer->fused && consumer->fused && joins(*producer, *consumer, merged) &&
      edgesAllow(producer, consumer, merged) && fits(*producer, consumer->ops) &&
      !order.otherPath(producer->ops.front(), consumer->ops.front(), true)) {
    // The smaller moves: along a chain, one op at a time.
    if (producer->ops.size() > consumer->ops.size())
      std::swap(producer, consumer);
    absorb(consumer, producer, merged);
  }
}

void Groups::absorb(FusionGroup *into, FusionGroup *from, const FusionGroup &merged) {
  into->shape = merged.shape;
  into->rows = merged.rows;
  into->reducesAll = merged.reducesAll;
  order.merge(into->ops.front(), from->ops.front());
  for (Operation *op : from->ops) {
    into->ops.insert(op);
    groupOf[op] = into;
  }
  from->ops.clear();
}

} // namespace weir
