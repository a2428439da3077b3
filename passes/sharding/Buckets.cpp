//===- Buckets.cpp - What ranks tell each other, small things together -----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/sharding/Buckets.h"
#include "ir/weir/Collectives.h"
#include "ir/weir/Locations.h"
#include "ir/weir/Names.h"
#include "ir/weir/OpOrder.h"
#include "ir/weir/Shapes.h"
#include "ir/weir/Sharding.h"
#include "ir/weir/Stages.h"
#include "ir/weir/collective/Collective.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/structure/Structure.h"
#include "passes/sharding/Reshard.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace weir::sharding {
namespace {

/// More is not short to send, and would be copied together for nothing.
constexpr int64_t mostTogether = 1 << 18;
/// Ops that are looked at for what a value takes.
constexpr size_t mostAhead = 64;

bool isPlace(Operation *op) { return isa<UnrealizedConversionCastOp>(op); }

/// What a value takes that stands behind `where` in its block, in order; nothing where not all of
/// that can be done there.
std::optional<llvm::SetVector<Operation *>> takenAhead(Value value, Operation *where,
                                                       const OpOrder &places) {
  llvm::SetVector<Operation *> ops;
  size_t looked = 0;
  auto take = [&](auto &&self, Value one) -> bool {
    Operation *op = one.getDefiningOp();
    if (!op || op->getBlock() != where->getBlock() || places.isBefore(op, where) ||
        ops.contains(op))
      return true;
    if (op == where || isPlace(op) || isCollective(op) || op->getNumRegions() ||
        !isMemoryEffectFree(op) || ++looked > mostAhead ||
        !llvm::all_of(op->getOperands(), [&](Value operand) { return self(self, operand); }))
      return false;
    ops.insert(op);
    return true;
  };
  if (!take(take, value))
    return std::nullopt;
  return ops;
}

/// Whether it is a variable as it stands.
bool isRead(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && isa<TransposeOp, SplitDimOp, MergeDimsOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return op && isa<ReadOp>(op);
}

/// Whether it may be moved with others. Parameters are gathered for a layer at a time: ahead of
/// that there is memory for biases and the like alone.
bool isSmall(const Later &one) {
  if (one.elements > mostTogether)
    return false;
  return one.kind != Later::gather || tensorType(one.value()).getRank() == 1 ||
         !isRead(one.value());
}

bool goTogether(const Later &one, const Later &other) {
  return one.kind == other.kind && one.axis == other.axis && one.also == other.also &&
         one.again == other.again && one.stage == other.stage &&
         one.place->getBlock() == other.place->getBlock() &&
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

/// Several as one: as columns, of which a member has or gets all.
class Bucket {
public:
  Bucket(OpBuilder &builder, Mover &mover, ArrayRef<Later> parts)
      : builder(builder), mover(mover), parts(parts), kind(parts[0].kind),
        members(mover.members(parts[0].axis)) {}

  /// The results of the parts.
  SmallVector<Value> move() {
    SmallVector<Location> lines;
    SmallVector<Value> columns;
    Later whole = parts[0];
    whole.elements = 0;
    for (const Later &part : parts) {
      lines.push_back(part.place->getLoc());
      columns.push_back(columnsOf(part));
      whole.elements += part.elements;
    }
    Location loc = builder.getFusedLoc(lines);
    Location each = locationOfAll(builder.getContext(), lines);
    Value packed = PackOp::create(builder, each, typeOfAll(columns, rowsSent()), columns);
    Value moved = mover.move(loc, merged(builder, loc, packed, 0), whole);
    if (kind == Later::gather)
      moved = split(builder, loc, moved, 0, {members, shapeOf(packed)[0]});
    SmallVector<Type> types;
    for (Value column : columns)
      types.push_back(typeOfAll(column, rowsGot()));
    SmallVector<Value> results;
    auto unpacked = UnpackOp::create(builder, each, types, moved);
    SmallVector<Attribute> lies(parts.size(), builder.getUnitAttr());
    bool isSaid = false; // of any
    for (auto [i, part] : llvm::enumerate(parts)) {
      Value got = unpacked.getParts()[i];
      results.push_back(resultOf(part, got));
      if (auto said = part.place->getAttrOfType<ArrayAttr>(resultShardingsAttrName);
          said && results.back() == got) {
        lies[i] = said[0];
        isSaid = true;
      }
    }
    if (isSaid)
      unpacked->setAttr(resultShardingsAttrName, builder.getArrayAttr(lies));
    return results;
  }

private:
  /// Of what is for all alike, or of all, there is one row.
  std::optional<int64_t> rowsSent() const { return rowsWhere(kind == Later::scatter); }
  std::optional<int64_t> rowsGot() const { return rowsWhere(kind == Later::gather); }
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

  Value columnsOf(const Later &part) {
    Location line = part.place->getLoc();
    Value value = part.value();
    if (!rowsSent())
      return merged(builder, line, value, 0);
    int64_t rows = shapeOf(value)[0];
    value = SplitDimOp::create(builder, line, value, int64_t(0),
                               ArrayRef<int64_t>{members, rows / members});
    return merged(builder, line, value, 1);
  }

  Value resultOf(const Later &part, Value got) {
    Location line = part.place->getLoc();
    if (!rowsGot())
      return split(builder, line, got, 0, shapeOf(part.place->getResult(0)));
    got = split(builder, line, got, 1, shapeOf(part.value()));
    return MergeDimsOp::create(builder, line, got, int64_t(0), int64_t(2));
  }

  OpBuilder &builder;
  Mover &mover;
  ArrayRef<Later> parts;
  const Later::Kind kind;
  const int64_t members;
};

void replace(const Later &one, Value made, OpOrder &places) {
  if (Attribute lies = one.place->getAttr(resultShardingsAttrName);
      lies && !made.getDefiningOp<UnpackOp>()) // which says it of all its parts
    made.getDefiningOp()->setAttr(resultShardingsAttrName, lies);
  one.place->getResult(0).replaceAllUsesWith(made);
  places.erase(one.place);
}

/// With the first, those that can be moved where it is, as they are ready.
SmallVector<Later> bucketOf(ArrayRef<Later> all, OpOrder &places) {
  const Later first = all.front();
  SmallVector<Later> some = {first};
  if (!isSmall(first))
    return some;
  int64_t elements = first.elements;
  for (const Later &one : all.drop_front()) {
    if (!goTogether(one, first) || !isSmall(one) || elements + one.elements > mostTogether)
      continue;
    auto ahead = takenAhead(one.value(), first.place, places);
    if (!ahead)
      continue;
    for (Operation *op : *ahead)
      places.moveBefore(op, first.place);
    elements += one.elements;
    some.push_back(one);
  }
  auto madeHere = [](const Later &one) -> Operation * {
    Operation *made = one.value().getDefiningOp();
    return made && made->getBlock() == one.place->getBlock() ? made : nullptr;
  };
  llvm::stable_sort(some, [&](const Later &a, const Later &b) {
    Operation *one = madeHere(a), *other = madeHere(b);
    return other && (!one || (one != other && one->isBeforeInBlock(other)));
  });
  return some;
}

} // namespace

Value Buckets::put(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> shape,
                   Later later) {
  later.place = UnrealizedConversionCastOp::create(builder, loc, typeLike(value, shape), value);
  all.push_back(later);
  return later.place->getResult(0);
}

void Buckets::make(OpBuilder &builder, Mover &mover) {
  pipeline::StageOf stageOf;
  for (Later &one : all)
    if (const Mesh *mesh = meshOf(one.place->getParentOfType<ModuleOp>());
        mesh && mesh->find(stageAxis) >= 0)
      one.stage = stageOf(one.value());
  llvm::MapVector<Block *, OpOrder> blocks;
  while (!all.empty()) {
    Operation *place = all.front().place;
    OpOrder &places = blocks.try_emplace(place->getBlock(), *place->getBlock()).first->second;
    SmallVector<Later> some = bucketOf(all, places);
    llvm::erase_if(all, [&](const Later &one) {
      return llvm::any_of(some, [&](const Later &taken) { return taken.place == one.place; });
    });
    builder.setInsertionPoint(place);
    if (some.size() == 1) {
      replace(some[0], mover.move(place->getLoc(), some[0].value(), some[0]), places);
      continue;
    }
    SmallVector<Value> results = Bucket(builder, mover, some).move();
    // The builder stands at one of them.
    for (auto [one, made] : llvm::zip_equal(some, results))
      replace(one, made, places);
  }
}

} // namespace weir::sharding
