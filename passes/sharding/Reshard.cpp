//===- Reshard.cpp - Changes the sharding of a value ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/sharding/Reshard.h"
#include "ir/weir/Names.h"
#include "ir/weir/Shapes.h"
#include "ir/weir/collective/Collective.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/indexing/Indexing.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Variable.h"
#include "ir/weir/reduction/Reduction.h"
#include "ir/weir/structure/Structure.h"
#include "passes/collectives/Expansion.h"
#include "passes/sharding/SubDimensions.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace weir::sharding {

static int64_t mostElements(const Layout &layout, const Mesh &mesh) {
  int64_t elements = 1;
  for (int64_t size : layout.shape(mesh, mesh.fullestRank()))
    elements *= size;
  return elements;
}

Value Reshard::begin(Location loc, const Piece &piece) {
  constexpr int64_t mostPlaces = INT32_MAX; // the variable that says where a shard begins is i32
  if (piece.size > mostPlaces && !isTooLong) {
    emitError(loc) << "a sharded dimension whose indices are computed has size " << piece.size
                   << ": expected at most " << mostPlaces
                   << "; make it smaller (--set), or shard another dimension";
    isTooLong = true;
  }
  std::string name = runBeginPrefix + Layout{{{piece}}}.text(mesh);
  auto type = RankedTensorType::get({}, builder.getI32Type());
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    VariableOp::create(builder, module.getLoc(), name, Role::run, type);
  }
  return ReadOp::create(builder, loc, type, name);
}

static Value broadcast(OpBuilder &builder, Location loc, Value scalar, ArrayRef<int64_t> shape) {
  return BroadcastOp::create(builder, loc, typeLike(scalar, shape), scalar, ArrayRef<int64_t>());
}

Value Reshard::places(Location loc, const Layout &layout, ArrayRef<int64_t> strides) {
  Shape split;
  for (const Pieces &pieces : layout.dimensions)
    for (const Piece &piece : pieces)
      split.push_back(piece.share(mesh, rank).size);
  auto type = RankedTensorType::get(split, builder.getI32Type());
  Value all;
  int64_t at = 0;
  for (auto [pieces, stride] : llvm::zip_equal(layout.dimensions, strides)) {
    if (!stride) {
      at += pieces.size();
      continue;
    }
    int64_t inner = stride;
    for (const Piece &piece : pieces)
      inner *= piece.size;
    for (const Piece &piece : pieces) {
      inner /= piece.size;
      Value place = IotaOp::create(builder, loc, type, at++);
      if (!piece.axes.empty())
        place =
            AddOp::create(builder, loc, place, broadcast(builder, loc, begin(loc, piece), split));
      // Modulo 2^32, as what is added up.
      Value scaled = MulOp::create(builder, loc, place,
                                   ConstantOp::create(builder, loc, type, double(int32_t(inner))));
      all = all ? AddOp::create(builder, loc, all, scaled).getResult() : scaled;
    }
  }
  if (!all)
    return ConstantOp::create(builder, loc, type, 0.0);
  for (auto [i, pieces] : llvm::enumerate(layout.dimensions))
    if (pieces.size() > 1)
      all = MergeDimsOp::create(builder, loc, all, int64_t(i), int64_t(pieces.size()));
  return all;
}

/// Changes the places of a step's piece of a value, brought to the front as rows.
Value Reshard::inFront(Location loc, Value value, const Layout &layout, const Step &step,
                       function_ref<Value(Value)> change) {
  SmallVector<int64_t> sizes;
  for (const Piece &piece : layout.dimensions[step.dimension])
    sizes.push_back(piece.share(mesh, rank).size);
  if (sizes.size() > 1)
    value = SplitDimOp::create(builder, loc, value, int64_t(step.dimension), sizes);
  int64_t place = step.dimension + step.piece, dimensions = shapeOf(value).size();
  SmallVector<int64_t> there = {place}, back;
  for (int64_t i = 0; i < dimensions; ++i)
    if (i != place)
      there.push_back(i);
  for (int64_t i = 1; i < dimensions; ++i)
    back.push_back(i);
  back.insert(back.begin() + place, 0);
  if (place)
    value = TransposeOp::create(builder, loc, value, there);
  value = change(value);
  if (place)
    value = TransposeOp::create(builder, loc, value, back);
  if (sizes.size() > 1)
    value =
        MergeDimsOp::create(builder, loc, value, int64_t(step.dimension), int64_t(sizes.size()));
  return value;
}

/// What each member along the axis has of a piece.
SmallVector<int64_t> Reshard::rows(const Piece &piece, unsigned axis) const {
  SmallVector<int64_t> sizes;
  for (int64_t member : mesh.along(rank, axis))
    sizes.push_back(piece.share(mesh, member).size);
  return sizes;
}

static int64_t all(ArrayRef<int64_t> rows) {
  int64_t sum = 0;
  for (int64_t count : rows)
    sum += count;
  return sum;
}

static Shape withRows(Value value, int64_t rows) {
  Shape shape(shapeOf(value));
  shape[0] = rows;
  return shape;
}

static Piece &pieceOf(Layout &layout, const Step &step) {
  return layout.dimensions[step.dimension][step.piece];
}
static const Piece &pieceOf(const Layout &layout, const Step &step) {
  return layout.dimensions[step.dimension][step.piece];
}

/// What stands alone is tensor parallelism's: what a layer's ranks tell each other over other axes
/// is large, and each collective has its place. Members that have as many rows have equal columns
/// of several values.
IntegerAttr Reshard::fullest(const Layout &layout, const Piece &piece, unsigned axis,
                             int64_t times) {
  return isOfBatch(mesh.axes[axis].name) && piece.isEven(mesh)
             ? builder.getI64IntegerAttr(times * mostElements(layout, mesh))
             : IntegerAttr();
}

Value Reshard::allGather(Location loc, Value value, unsigned axis, ArrayRef<int64_t> rows,
                         IntegerAttr fullest) {
  return AllGatherOp::create(builder, loc, typeLike(value, withRows(value, all(rows))), value,
                             builder.getStringAttr(mesh.axes[axis].name),
                             builder.getDenseI64ArrayAttr(rows),
                             again ? builder.getUnitAttr() : UnitAttr(), fullest);
}

Value Reshard::stack(Location loc, Value value, unsigned axis) {
  Value one = MergeDimsOp::create(builder, loc, value, int64_t(0), int64_t(0));
  return allGather(loc, one, axis, SmallVector<int64_t>(mesh.axes[axis].size, 1));
}

Value Reshard::gather(Location loc, Value value, const Layout &layout, const Step &step) {
  const Piece &piece = pieceOf(layout, step);
  SmallVector<int64_t> members = rows(piece, step.axis);
  return inFront(loc, value, layout, step, [&](Value front) {
    return allGather(loc, front, step.axis, members,
                     fullest(layout, piece, step.axis, mesh.axes[step.axis].size));
  });
}

Value Reshard::slice(Location loc, Value value, const Layout &layout, const Step &step) {
  const Piece &piece = pieceOf(layout, step);
  Piece cut = piece;
  cut.axes.push_back(step.axis);
  int64_t size = cut.share(mesh, rank).size;
  return inFront(loc, value, layout, step, [&](Value front) -> Value {
    auto type = RankedTensorType::get({size}, builder.getI32Type());
    Value indices = IotaOp::create(builder, loc, type, int64_t(0));
    indices = AddOp::create(builder, loc, indices,
                            broadcast(builder, loc, begin(loc, cut), type.getShape()));
    if (!piece.axes.empty())
      indices = SubOp::create(builder, loc, indices,
                              broadcast(builder, loc, begin(loc, piece), type.getShape()));
    return GatherOp::create(builder, loc, front, indices);
  });
}

/// Every member has a share of one piece, and all of the other: it gets its share of the latter
/// from each, and so all of the former.
Value Reshard::swap(Location loc, Value value, const Layout &layout, const Step &step) {
  // Each piece a dimension, then the one that is cut in front.
  SmallVector<int64_t> firsts;
  int64_t count = 0;
  for (const Pieces &pieces : layout.dimensions) {
    firsts.push_back(count);
    count += pieces.size();
  }
  for (size_t d = layout.dimensions.size(); d-- > 0;) {
    SmallVector<int64_t> sizes;
    for (const Piece &piece : layout.dimensions[d])
      sizes.push_back(piece.share(mesh, rank).size);
    if (sizes.size() > 1)
      value = SplitDimOp::create(builder, loc, value, int64_t(d), sizes);
  }
  int64_t cut = firsts[step.dimension] + int64_t(step.piece),
          gathered = firsts[step.otherDimension] + int64_t(step.otherPiece);
  SmallVector<int64_t> there = {cut};
  for (int64_t i = 0; i < count; ++i)
    if (i != cut)
      there.push_back(i);
  Piece piece = pieceOf(layout, step);
  piece.axes.push_back(step.axis);
  SmallVector<int64_t> members = rows(piece, step.axis);
  int64_t share = piece.share(mesh, rank).size, parts = members.size();
  value = TransposeOp::create(builder, loc, value, there);
  value = AllToAllOp::create(builder, loc, typeLike(value, withRows(value, parts * share)), value,
                             mesh.axes[step.axis].name, members);
  // The members' number goes ahead of what each has of the other piece.
  value = SplitDimOp::create(builder, loc, value, int64_t(0), ArrayRef<int64_t>{parts, share});
  SmallVector<int64_t> back;
  for (int64_t i = 0; i < count; ++i) {
    if (i == gathered)
      back.push_back(0);
    back.push_back(i == cut ? 1 : i < cut ? i + 2 : i + 1);
  }
  value = TransposeOp::create(builder, loc, value, back);
  value = MergeDimsOp::create(builder, loc, value, gathered, int64_t(2));
  for (auto [d, pieces] : llvm::enumerate(layout.dimensions))
    if (pieces.size() > 1)
      value = MergeDimsOp::create(builder, loc, value, int64_t(d), int64_t(pieces.size()));
  return value;
}

/// The sum of all members' values, of which each gets its share.
Value Reshard::reduceScatter(Location loc, Value value, const Layout &layout, const Step &step) {
  Piece cut = pieceOf(layout, step);
  cut.axes.push_back(step.axis);
  SmallVector<int64_t> members = rows(cut, step.axis);
  const int64_t share = cut.share(mesh, rank).size;
  return inFront(loc, value, layout, step, [&](Value front) {
    return ReduceScatterOp::create(builder, loc, typeLike(front, withRows(front, share)), front,
                                   builder.getStringAttr(mesh.axes[step.axis].name),
                                   builder.getDenseI64ArrayAttr(members),
                                   fullest(layout, cut, step.axis));
  });
}

void apply(Layout &layout, const Step &step) {
  if (step.kind == Step::regroup)
    layout.dimensions[step.dimension] = step.pieces;
  if (step.kind == Step::gather)
    pieceOf(layout, step).axes.pop_back();
  if (step.kind == Step::slice || step.kind == Step::sumTo || step.kind == Step::swap)
    pieceOf(layout, step).axes.push_back(step.axis);
  if (step.kind == Step::swap)
    layout.dimensions[step.otherDimension][step.otherPiece].axes.pop_back();
  if (step.kind == Step::sum || step.kind == Step::sumTo)
    llvm::erase(layout.partial, step.axis);
}

bool isOfFew(const Layout &before, unsigned axis, const Mesh &mesh) {
  return collectives::gathersToReduce(mostElements(before, mesh), mesh.axes[axis].size);
}

int64_t bytesOf(const Step &step, const Layout &before, int64_t elementBytes, const Mesh &mesh) {
  if (step.kind == Step::slice || step.kind == Step::regroup)
    return 0;
  int64_t bytes = elementBytes * mostElements(before, mesh), members = mesh.axes[step.axis].size;
  if (step.kind == Step::gather || (step.kind == Step::sum && isOfFew(before, step.axis, mesh)))
    return bytes * (members - 1);
  return (step.kind == Step::sum ? 2 : 1) * (bytes / members * (members - 1));
}

SmallVector<Step> stepsBetween(const Layout &from, const Layout &to, const Mesh &mesh) {
  SmallVector<Step> steps;
  Layout now = from, goal = to;
  auto add = [&](Step step) {
    apply(now, step);
    steps.push_back(std::move(step));
  };
  // Pieces of equal sizes in both, so that a piece has a place.
  for (size_t d = 0; d < now.dimensions.size(); ++d) {
    Pieces mine = now.dimensions[d];
    if (!align(mine, goal.dimensions[d], mesh)) {
      // They have none in common: all are gathered first.
      for (size_t p = now.dimensions[d].size(); p-- > 0;)
        while (!now.dimensions[d][p].axes.empty())
          add({Step::gather, now.dimensions[d][p].axes.back(), d, p});
      mine = goal.dimensions[d];
      for (Piece &piece : mine)
        piece.axes.clear();
    }
    if (mine != now.dimensions[d])
      add({.kind = Step::regroup, .axis = 0, .dimension = d, .pieces = mine});
  }
  auto common = [&](size_t d, size_t p) {
    const Axes &a = now.dimensions[d][p].axes, &b = goal.dimensions[d][p].axes;
    return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
  };
  auto each = [&](function_ref<void(size_t d, size_t p)> visit) {
    for (size_t d = 0; d < now.dimensions.size(); ++d)
      for (size_t p = 0; p < now.dimensions[d].size(); ++p)
        visit(d, p);
  };
  // Where the axis of a piece is to cut another one next.
  auto swapFrom = [&](size_t from, size_t piece) -> std::optional<Step> {
    const Piece &other = now.dimensions[from][piece];
    unsigned axis = other.axes.back();
    if (!other.isEven(mesh))
      return std::nullopt;
    std::optional<Step> found;
    each([&](size_t d, size_t p) {
      const Axes &mine = now.dimensions[d][p].axes, &wanted = goal.dimensions[d][p].axes;
      if (common(d, p) == int64_t(mine.size()) && wanted.size() > mine.size() &&
          wanted[mine.size()] == axis)
        found = Step{Step::swap, axis, d, p, from, piece};
    });
    return found;
  };
  each([&](size_t d, size_t p) {
    while (int64_t(now.dimensions[d][p].axes.size()) > common(d, p))
      add(swapFrom(d, p).value_or(Step{Step::gather, now.dimensions[d][p].axes.back(), d, p}));
  });
  auto isSummed = [&](unsigned axis) {
    return llvm::is_contained(now.partial, axis) && !llvm::is_contained(goal.partial, axis);
  };
  each([&](size_t d, size_t p) {
    Axes wanted = goal.dimensions[d][p].axes;
    for (unsigned axis : ArrayRef(wanted).drop_front(common(d, p)))
      add({isSummed(axis) ? Step::sumTo : Step::slice, axis, d, p});
  });
  // The last axis first: its members are neighbours.
  for (unsigned axis : llvm::reverse(from.partial))
    if (isSummed(axis))
      add({Step::sum, axis});
  return steps;
}

bool isOnlyGathered(const Layout &from, const Layout &to, const Mesh &mesh) {
  return llvm::all_of(stepsBetween(from, to, mesh), [](const Step &step) {
    return step.kind == Step::gather || step.kind == Step::regroup;
  });
}

Value Reshard::move(Location loc, Value value, const Layout &from, const Layout &to, bool again) {
  llvm::SaveAndRestore restored(this->again, again);
  Layout now = from;
  auto isSumOfBatch = [&](const Step &step) {
    return step.kind == Step::sum && isOfBatch(mesh.axes[step.axis].name);
  };
  SmallVector<Step> steps = stepsBetween(from, to, mesh);
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step &step = steps[i];
    switch (step.kind) {
    case Step::gather:
      value = gather(loc, value, now, step);
      break;
    case Step::slice:
      value = slice(loc, value, now, step);
      break;
    case Step::swap:
      value = swap(loc, value, now, step);
      break;
    case Step::sumTo:
      value = reduceScatter(loc, value, now, step);
      break;
    case Step::sum: {
      SmallVector<StringRef> axes = {mesh.axes[step.axis].name};
      for (; isSumOfBatch(step) && i + 1 < steps.size() && isSumOfBatch(steps[i + 1]); ++i)
        axes.push_back(mesh.axes[steps[i + 1].axis].name);
      value =
          AllReduceOp::create(builder, loc, value.getType(), value, builder.getStrArrayAttr(axes),
                              builder.getI64IntegerAttr(mostElements(now, mesh)));
      break;
    }
    case Step::regroup:
      break;
    }
    apply(now, step);
  }
  return value;
}

} // namespace weir::sharding
