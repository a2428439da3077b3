//===- Reshard.cpp - From one layout to another ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/sharding/Reshard.h"
#include "ir/weir/Names.h"
#include "ir/weir/Shapes.h"
#include "passes/sharding/Pieces.h"

using namespace mlir;

namespace weir::sharding {

/// A sum of fewer elements than so many for each member is made of all members' at once: two
/// collectives of a part each would move as little, and wait twice.
static constexpr int64_t fewElements = 1024;

Value Reshard::begin(Location loc, const Piece &piece) {
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
      Value scaled =
          MulOp::create(builder, loc, place, ConstantOp::create(builder, loc, type, double(inner)));
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

/// Changes the places of one piece of a value, brought to the front as rows.
Value Reshard::inFront(Location loc, Value value, const Layout &layout, At at,
                       function_ref<Value(Value)> change) {
  SmallVector<int64_t> sizes;
  for (const Piece &piece : layout.dimensions[at.dimension])
    sizes.push_back(piece.share(mesh, rank).size);
  if (sizes.size() > 1)
    value = SplitDimOp::create(builder, loc, value, int64_t(at.dimension), sizes);
  int64_t place = at.dimension + at.piece, dimensions = shapeOf(value).size();
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
    value = MergeDimsOp::create(builder, loc, value, int64_t(at.dimension), int64_t(sizes.size()));
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

static Value allGather(OpBuilder &builder, Location loc, Value value, StringRef axis,
                       ArrayRef<int64_t> rows) {
  return AllGatherOp::create(builder, loc, typeLike(value, withRows(value, all(rows))), value, axis,
                             rows);
}

/// Against the innermost axis of a piece.
Value Reshard::gather(Location loc, Value value, Layout &layout, At at) {
  Piece &piece = layout.dimensions[at.dimension][at.piece];
  unsigned axis = piece.axes.back();
  SmallVector<int64_t> members = rows(piece, axis);
  Value result = inFront(loc, value, layout, at, [&](Value front) {
    return allGather(builder, loc, front, mesh.axes[axis].name, members);
  });
  piece.axes.pop_back();
  return result;
}

/// Cuts a piece over one axis more.
Value Reshard::slice(Location loc, Value value, Layout &layout, At at, unsigned axis) {
  Piece &piece = layout.dimensions[at.dimension][at.piece], cut = piece;
  cut.axes.push_back(axis);
  int64_t size = cut.share(mesh, rank).size;
  Value result = inFront(loc, value, layout, at, [&](Value front) -> Value {
    auto type = RankedTensorType::get({size}, builder.getI32Type());
    Value indices = IotaOp::create(builder, loc, type, int64_t(0));
    indices = AddOp::create(builder, loc, indices,
                            broadcast(builder, loc, begin(loc, cut), type.getShape()));
    if (!piece.axes.empty())
      indices = SubOp::create(builder, loc, indices,
                              broadcast(builder, loc, begin(loc, piece), type.getShape()));
    return GatherOp::create(builder, loc, front, indices);
  });
  piece = cut;
  return result;
}

/// Of what lies one part after the other along the first dimension, in order and in f32.
Value Reshard::sum(Location loc, Value parts) {
  RankedTensorType type = tensorType(parts);
  bool isLow = isa<FloatType>(type.getElementType()) && !type.getElementType().isF32();
  if (isLow)
    parts = CastOp::create(builder, loc, type.clone(builder.getF32Type()), parts);
  Value sum = ReduceOp::create(builder, loc, parts, Reduction::sum, ArrayRef<int64_t>{0});
  return isLow ? CastOp::create(builder, loc, type.clone(shapeOf(sum)), sum).getResult() : sum;
}

/// The sum of all members' values, for all of them.
Value Reshard::addUp(Location loc, Value value, unsigned axis) {
  int64_t members = mesh.axes[axis].size, elements = tensorType(value).getNumElements();
  StringRef name = mesh.axes[axis].name;
  if (elements < fewElements * members) {
    Value one = MergeDimsOp::create(builder, loc, value, int64_t(0), int64_t(0));
    return sum(loc, allGather(builder, loc, one, name, SmallVector<int64_t>(members, 1)));
  }
  Shape shape(shapeOf(value));
  Value flat = value;
  if (shape.size() > 1)
    flat = MergeDimsOp::create(builder, loc, flat, int64_t(0), int64_t(shape.size()));
  int64_t share = (elements + members - 1) / members;
  SmallVector<int64_t> shares(members, share);
  const int64_t zero[] = {0}, one[] = {1};
  if (share * members != elements)
    flat = PadOp::create(builder, loc, typeLike(flat, {share * members}), flat, zero, one);
  Value parts = AllToAllOp::create(builder, loc, flat.getType(), flat, name, shares);
  parts = SplitDimOp::create(builder, loc, parts, int64_t(0), ArrayRef<int64_t>{members, share});
  flat = allGather(builder, loc, sum(loc, parts), name, shares);
  if (share * members != elements)
    flat = SliceOp::create(builder, loc, typeLike(flat, {elements}), flat, zero, one);
  return shape.size() > 1 ? SplitDimOp::create(builder, loc, flat, int64_t(0), shape).getResult()
                          : flat;
}

/// The sum of all members' values, of which each gets its share.
Value Reshard::addUpTo(Location loc, Value value, Layout &layout, At at, unsigned axis) {
  Piece &piece = layout.dimensions[at.dimension][at.piece], cut = piece;
  cut.axes.push_back(axis);
  SmallVector<int64_t> members = rows(cut, axis);
  int64_t count = members.size(), share = cut.share(mesh, rank).size;
  Value result = inFront(loc, value, layout, at, [&](Value front) {
    Value parts = AllToAllOp::create(builder, loc, typeLike(front, withRows(front, count * share)),
                                     front, mesh.axes[axis].name, members);
    return sum(
        loc, SplitDimOp::create(builder, loc, parts, int64_t(0), ArrayRef<int64_t>{count, share}));
  });
  piece = cut;
  return result;
}

Value Reshard::move(Location loc, Value value, const Layout &from, const Layout &to) {
  Layout now = from;
  // Pieces of equal sizes in both, so that a piece has a place.
  Layout goal = to;
  for (auto [d, pieces] : llvm::enumerate(now.dimensions))
    if (!align(pieces, goal.dimensions[d], mesh)) {
      // They have no pieces in common: all are gathered first.
      for (size_t p = pieces.size(); p-- > 0;)
        while (!pieces[p].axes.empty())
          value = gather(loc, value, now, {d, p});
      pieces = goal.dimensions[d];
      for (Piece &piece : pieces)
        piece.axes.clear();
    }
  auto common = [&](At at) {
    ArrayRef<unsigned> a = now.dimensions[at.dimension][at.piece].axes,
                       b = goal.dimensions[at.dimension][at.piece].axes;
    return std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
  };
  auto each = [&](function_ref<void(At)> visit) {
    for (size_t d = 0; d < now.dimensions.size(); ++d)
      for (size_t p = 0; p < now.dimensions[d].size(); ++p)
        visit({d, p});
  };
  each([&](At at) {
    while (int64_t(now.dimensions[at.dimension][at.piece].axes.size()) > common(at))
      value = gather(loc, value, now, at);
  });
  auto isSummed = [&](unsigned axis) {
    return llvm::is_contained(now.sums, axis) && !llvm::is_contained(goal.sums, axis);
  };
  each([&](At at) {
    const Piece &wanted = goal.dimensions[at.dimension][at.piece];
    for (unsigned axis : ArrayRef(wanted.axes).drop_front(common(at)))
      if (isSummed(axis)) {
        value = addUpTo(loc, value, now, at, axis);
        llvm::erase(now.sums, axis);
      } else {
        value = slice(loc, value, now, at, axis);
      }
  });
  for (unsigned axis : from.sums)
    if (isSummed(axis)) {
      value = addUp(loc, value, axis);
      llvm::erase(now.sums, axis);
    }
  return value;
}

} // namespace weir::sharding
