//===- BucketCollectives.cpp - Buckets small collectives ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A collective has a fixed cost, and most gradients and parameters of a model are small: biases,
// and the weights of norms. So this pass merges small collectives of one kind into one, up to a
// size. A bucket stands where its first collective stood, and takes those whose values can be
// computed before that place. A bucket of reductions may also wait for a later one, if nothing in
// between needs the sums: so the small gradients of a step fill buckets, as they become ready.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Collectives.h"
#include "ir/weir/Locations.h"
#include "ir/weir/OpOrder.h"
#include "ir/weir/Shapes.h"
#include "ir/weir/Sharding.h"
#include "ir/weir/Stages.h"
#include "ir/weir/collective/Collective.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/structure/Structure.h"
#include "passes/Passes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace weir {
#define GEN_PASS_DEF_BUCKETCOLLECTIVES
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

/// Elements. A larger collective does not benefit, and would be copied for nothing.
constexpr int64_t largestBucket = 1 << 18;
/// The number of ops to visit for the dependences, or the users, of a collective's value.
constexpr size_t mostAhead = 64;

/// A collective that may share a bucket. All of its members have equally many rows.
struct Candidate {
  Operation *op;
  int64_t elements;   ///< sent or received at most, on the rank with the largest shard
  int64_t stage = -1; ///< of a pipeline: the stage of the value (ir/weir/Stages.h)

  Value value() const { return op->getOperand(0); }
};

std::optional<Candidate> candidateOf(Operation *op) {
  std::optional<uint64_t> fullest;
  if (auto all = dyn_cast<AllReduceOp>(op))
    fullest = all.getFullest().value_or(uint64_t(tensorType(all.getInput()).getNumElements()));
  else if (auto scatter = dyn_cast<ReduceScatterOp>(op))
    fullest = scatter.getFullest();
  else if (auto gather = dyn_cast<AllGatherOp>(op))
    fullest = gather.getFullest();
  return fullest ? std::optional(Candidate{op, int64_t(*fullest)}) : std::nullopt;
}

/// Whether the op may stand elsewhere in its block, among those that it does not depend on.
bool mayMove(Operation *op) {
  return !isCollective(op) && !isa<AllReduceOp, ReduceScatterOp>(op) && !op->getNumRegions() &&
         isMemoryEffectFree(op);
}

/// The ops that computing `value` takes and that stand after `where` in its block, in order.
/// Nothing if one of them cannot move ahead of `where`. `fixed` are ops that cannot: the
/// collectives of the bucket, and those that are found here, since many values depend on the same
/// ones.
std::optional<llvm::SetVector<Operation *>> takenAhead(Value value, Operation *where,
                                                       const OpOrder &places,
                                                       llvm::DenseSet<Operation *> &fixed) {
  llvm::SetVector<Operation *> ops;
  size_t looked = 0;
  auto take = [&](auto &&self, Value one) -> bool {
    Operation *op = one.getDefiningOp();
    if (op && fixed.contains(op))
      return false;
    if (!op || op->getBlock() != where->getBlock() || ops.contains(op) ||
        places.isBefore(op, where))
      return true;
    if (++looked > mostAhead)
      return false;
    if (op == where || !mayMove(op) ||
        !llvm::all_of(op->getOperands(), [&](Value operand) { return self(self, operand); })) {
      if (looked <= mostAhead)
        fixed.insert(op);
      return false;
    }
    ops.insert(op);
    return true;
  };
  if (!take(take, value))
    return std::nullopt;
  return ops;
}

/// Whether it is an unchanged variable.
bool isRead(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && isa<TransposeOp, SplitDimOp, MergeDimsOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return op && isa<ReadOp>(op);
}

/// Whether it may share a bucket. Parameters are gathered one layer at a time: gathering earlier
/// has memory only for biases and other vectors.
bool isSmall(const Candidate &one) {
  if (one.elements > largestBucket)
    return false;
  return !isa<AllGatherOp>(one.op) || tensorType(one.value()).getRank() == 1 ||
         !isRead(one.value());
}

/// Whether they are the same collective of different values.
bool goTogether(const Candidate &one, const Candidate &other) {
  auto isAlike = [&](StringRef name) { return one.op->getAttr(name) == other.op->getAttr(name); };
  return one.op->getName() == other.op->getName() && isAlike("axis") && isAlike("axes") &&
         isAlike("again") && one.stage == other.stage &&
         one.op->getBlock() == other.op->getBlock() &&
         getElementTypeOrSelf(one.value().getType()) ==
             getElementTypeOrSelf(other.value().getType());
}

Value merged(OpBuilder &builder, Location loc, Value value, int64_t first) {
  int64_t count = tensorType(value).getRank() - first;
  return count == 1 ? value : MergeDimsOp::create(builder, loc, value, first, count).getResult();
}

Value split(OpBuilder &builder, Location loc, Value value, int64_t dimension,
            ArrayRef<int64_t> sizes) {
  return sizes.size() == 1 ? value
                           : SplitDimOp::create(builder, loc, value, dimension, sizes).getResult();
}

/// Concatenates several values as columns, of which each member holds or receives all rows.
class Bucket {
public:
  Bucket(OpBuilder &builder, ArrayRef<Candidate> parts)
      : builder(builder), parts(parts), first(parts[0].op) {
    if (auto scatter = dyn_cast<ReduceScatterOp>(first))
      members = scatter.getRows().size();
    else if (auto gather = dyn_cast<AllGatherOp>(first))
      members = gather.getRows().size();
  }

  /// Splits the results.
  SmallVector<Value> move() {
    SmallVector<Location> lines;
    SmallVector<Value> columns;
    int64_t elements = 0;
    for (const Candidate &part : parts) {
      lines.push_back(part.op->getLoc());
      columns.push_back(columnsOf(part));
      elements += part.elements;
    }
    Location loc = builder.getFusedLoc(lines);
    Location each = locationOfAll(builder.getContext(), lines);
    Value packed = PackOp::create(builder, each, typeOfAll(columns, rowsSent()), columns);
    Value moved = moveAll(loc, merged(builder, loc, packed, 0), elements);
    if (isa<AllGatherOp>(first))
      moved = split(builder, loc, moved, 0, {members, shapeOf(packed)[0]});
    SmallVector<Type> types;
    for (Value column : columns)
      types.push_back(typeOfAll(column, rowsGot()));
    SmallVector<Value> results;
    auto unpacked = UnpackOp::create(builder, each, types, moved);
    for (auto [part, got] : llvm::zip_equal(parts, unpacked.getParts()))
      results.push_back(resultOf(part, got));
    return results;
  }

private:
  /// A value that is the same for all members, or that all receive, has one row.
  std::optional<int64_t> rowsSent() const { return rowsWhere(isa<ReduceScatterOp>(first)); }
  std::optional<int64_t> rowsGot() const { return rowsWhere(isa<AllGatherOp>(first)); }
  std::optional<int64_t> rowsWhere(bool isByMember) const {
    return isByMember ? std::optional(members) : std::nullopt;
  }

  static Type typeOfAll(ValueRange columns, std::optional<int64_t> rows) {
    Shape shape;
    if (rows)
      shape.push_back(*rows);
    shape.push_back(0);
    for (Value column : columns)
      shape.back() += shapeOf(column).back();
    return typeLike(columns.front(), shape);
  }

  /// Creates the first one's collective for the values of all.
  Value moveAll(Location loc, Value value, int64_t elements) {
    IntegerAttr fullest = builder.getI64IntegerAttr(elements);
    if (auto all = dyn_cast<AllReduceOp>(first))
      return AllReduceOp::create(builder, loc, value.getType(), value, all.getAxesAttr(), fullest);
    const int64_t rows = shapeOf(value)[0];
    if (auto scatter = dyn_cast<ReduceScatterOp>(first))
      return ReduceScatterOp::create(builder, loc, typeLike(value, {rows / members}), value,
                                     scatter.getAxisAttr(), rowsOfEach(rows / members), fullest);
    auto gather = cast<AllGatherOp>(first);
    return AllGatherOp::create(builder, loc, typeLike(value, {rows * members}), value,
                               gather.getAxisAttr(), rowsOfEach(rows), gather.getAgainAttr(),
                               fullest);
  }
  DenseI64ArrayAttr rowsOfEach(int64_t rows) {
    return builder.getDenseI64ArrayAttr(SmallVector<int64_t>(members, rows));
  }

  Value columnsOf(const Candidate &part) {
    Location line = part.op->getLoc();
    Value value = part.value();
    if (!rowsSent())
      return merged(builder, line, value, 0);
    int64_t rows = shapeOf(value)[0];
    value = SplitDimOp::create(builder, line, value, int64_t(0),
                               ArrayRef<int64_t>{members, rows / members});
    return merged(builder, line, value, 1);
  }

  Value resultOf(const Candidate &part, Value got) {
    Location line = part.op->getLoc();
    if (!rowsGot())
      return split(builder, line, got, 0, shapeOf(part.op->getResult(0)));
    got = split(builder, line, got, 1, shapeOf(part.value()));
    return MergeDimsOp::create(builder, line, got, int64_t(0), int64_t(2));
  }

  OpBuilder &builder;
  ArrayRef<Candidate> parts;
  Operation *const first;
  int64_t members = 1; ///< if the value has rows for each member
};

/// Collectives that share a bucket, and the op before which it stands.
struct Contents {
  SmallVector<Candidate> parts;
  Operation *home;
};

/// The ops before `home` that read what these collectives make, directly or not. Nothing if one of
/// them cannot move behind `home`, or if `home` itself reads it.
std::optional<llvm::SetVector<Operation *>> takenBehind(ArrayRef<Candidate> parts, Operation *home,
                                                        const OpOrder &places) {
  llvm::SetVector<Operation *> ops;
  SmallVector<Operation *> open;
  for (const Candidate &part : parts)
    open.push_back(part.op);
  while (!open.empty())
    for (Operation *user : open.pop_back_val()->getUsers()) {
      Operation *op = home->getBlock()->findAncestorOpInBlock(*user);
      if (op == home)
        return std::nullopt;
      if (!op || !places.isBefore(op, home) || !ops.insert(op))
        continue;
      if (ops.size() > mostAhead * parts.size() || !mayMove(op))
        return std::nullopt;
      open.push_back(op);
    }
  return ops;
}

/// Has the bucket wait for a reduction. False if something needs a sum before.
bool waitFor(const Candidate &one, Contents &bucket, OpOrder &places) {
  if (isa<AllGatherOp>(one.op))
    return false;
  auto behind = takenBehind(bucket.parts, one.op, places);
  if (!behind)
    return false;
  SmallVector<Operation *> ordered = behind->takeVector();
  llvm::sort(ordered, [&](Operation *a, Operation *b) { return places.isBefore(a, b); });
  Operation *last = bucket.home = one.op;
  for (Operation *op : ordered) {
    places.moveAfter(op, last);
    last = op;
  }
  return true;
}

/// Collects, after the first, those that can move to the bucket's place or for which it can wait,
/// in the order in which they are ready.
Contents bucketOf(ArrayRef<Candidate> all, OpOrder &places) {
  const Candidate first = all.front();
  Contents bucket{{first}, first.op};
  if (!isSmall(first))
    return bucket;
  int64_t elements = first.elements;
  llvm::DenseSet<Operation *> fixed = {first.op};
  for (const Candidate &one : all.drop_front()) {
    if (!goTogether(one, first) || !isSmall(one) || elements + one.elements > largestBucket)
      continue;
    if (auto ahead = takenAhead(one.value(), bucket.home, places, fixed)) {
      for (Operation *op : *ahead)
        places.moveBefore(op, bucket.home);
    } else if (waitFor(one, bucket, places)) {
      fixed.clear();
      for (const Candidate &part : bucket.parts)
        fixed.insert(part.op);
    } else {
      continue;
    }
    elements += one.elements;
    bucket.parts.push_back(one);
    fixed.insert(one.op);
  }
  auto madeHere = [](const Candidate &one) -> Operation * {
    Operation *made = one.value().getDefiningOp();
    return made && made->getBlock() == one.op->getBlock() ? made : nullptr;
  };
  llvm::stable_sort(bucket.parts, [&](const Candidate &a, const Candidate &b) {
    Operation *one = madeHere(a), *other = madeHere(b);
    return other && (!one || (one != other && one->isBeforeInBlock(other)));
  });
  return bucket;
}

struct BucketCollectives : weir::impl::BucketCollectivesBase<BucketCollectives> {
  void runOnOperation() override {
    const Mesh *mesh = meshOf(getOperation()->getParentOfType<ModuleOp>());
    if (!mesh)
      return markAllAnalysesPreserved();
    SmallVector<Candidate> all;
    getOperation().walk([&](Operation *op) {
      if (std::optional<Candidate> one = candidateOf(op))
        all.push_back(*one);
    });
    stages::StageOf stageOf;
    if (mesh->find(stageAxis) >= 0)
      for (Candidate &one : all)
        one.stage = stageOf(one.value());
    OpBuilder builder(&getContext());
    llvm::MapVector<Block *, OpOrder> blocks;
    while (!all.empty()) {
      Operation *first = all.front().op;
      OpOrder &order = blocks.try_emplace(first->getBlock(), *first->getBlock()).first->second;
      Contents bucket = bucketOf(all, order);
      llvm::erase_if(all, [&](const Candidate &one) {
        return llvm::any_of(bucket.parts,
                            [&](const Candidate &taken) { return taken.op == one.op; });
      });
      if (bucket.parts.size() == 1)
        continue;
      builder.setInsertionPoint(bucket.home);
      SmallVector<Value> results = Bucket(builder, bucket.parts).move();
      order.addBefore(bucket.home);
      for (auto [one, made] : llvm::zip_equal(bucket.parts, results)) {
        one.op->getResult(0).replaceAllUsesWith(made);
        order.erase(one.op);
      }
    }
  }
};

} // namespace
