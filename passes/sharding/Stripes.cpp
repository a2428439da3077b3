//===- Stripes.cpp - Causal attention of striped queries ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/sharding/Stripes.h"
#include "ir/weir/Names.h"
#include "ir/weir/attention/Attention.h"
#include "ir/weir/collective/Collective.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/elementwise/Selection.h"
#include "ir/weir/kernel/RowBuilder.h"
#include "ir/weir/structure/Structure.h"
#include <limits>

using namespace mlir;

namespace weir::sharding {
namespace {

constexpr int64_t positions = 2; ///< a dimension of all operands and results

class Striped {
public:
  Striped(OpBuilder &builder, Operation *op, ValueRange operands, TypeRange types, Value number,
          int64_t count, StringRef ring = "")
      : builder(builder), op(op), b(builder, op), operands(operands), types(types), number(number),
        count(count), ring(ring) {}

  SmallVector<Value> forward() {
    SmallVector<Value> outputs, logSums;
    for (int64_t stripe = 0; stripe < count; ++stripe) {
      auto made = ofStripe(stripe, {});
      outputs.push_back(wide(back(made[0], stripe)));
      logSums.push_back(unseen(back(made[1], stripe), stripe));
    }
    Value largest = logSums[0], output, sum;
    for (Value one : ArrayRef(logSums).drop_front())
      largest = MaxOp::create(builder, b.loc, largest, one);
    for (auto [one, logSum] : llvm::zip_equal(outputs, logSums)) {
      Value weight = b.exp(b.sub(logSum, largest));
      addTo(sum, weight);
      addTo(output, b.mul(one, b.spread(weight, one)));
    }
    return {narrow(b.div(output, b.spread(sum, output)), types[0]),
            narrow(b.add(largest, b.log(sum)), types[1])};
  }

  SmallVector<Value> gradient() {
    if (!ring.empty())
      return gradientInRing();
    Value ofQueries;
    SmallVector<Value> ofKeys, ofValues;
    for (int64_t stripe = 0; stripe < count; ++stripe) {
      auto made = ofStripe(stripe, operands.drop_front(3));
      addTo(ofQueries, wide(back(made[0], stripe)));
      ofKeys.push_back(made[1]);
      ofValues.push_back(made[2]);
    }
    return {narrow(ofQueries, types[0]), woven(ofKeys), woven(ofValues)};
  }

private:
  /// Gradients of keys and values go on with these, and come home behind the last.
  SmallVector<Value> gradientInRing() {
    Value ofQueries, ofKeys, ofValues;
    for (int64_t step = 0; step < count; ++step) {
      auto made = ofStripe(step, operands.drop_front(3));
      addTo(ofQueries, wide(back(made[0], step)));
      if (step > 0) {
        ofKeys = passedOn(ofKeys);
        ofValues = passedOn(ofValues);
      }
      addTo(ofKeys, wide(made[1]));
      addTo(ofValues, wide(made[2]));
    }
    return {narrow(ofQueries, types[0]), narrow(passedOn(ofKeys), types[1]),
            narrow(passedOn(ofValues), types[2])};
  }

  Value passedOn(Value value) {
    if (count == 1)
      return value;
    SmallVector<int64_t> rows(count, shapeOf(value)[0]);
    return CollectivePermuteOp::create(builder, b.loc, value.getType(), value, ring, rows,
                                       isa<AttentionGradOp>(op));
  }

  /// Keys or values of a stripe: in a ring of the one that is so many ranks before. In order.
  Value stripeOf(unsigned number, int64_t stripe) {
    if (ring.empty())
      return part(operands[number], stripe);
    Value &here = inRing[number - 1];
    return here = stripe == 0 ? operands[number] : passedOn(here);
  }

  /// The op on the queries and one stripe of keys and values; `more` are of the queries too.
  SmallVector<Value> ofStripe(int64_t stripe, ValueRange more) {
    SmallVector<Value> local = {forth(operands[0], stripe), stripeOf(1, stripe),
                                stripeOf(2, stripe)};
    for (Value value : more)
      local.push_back(forth(value, stripe));
    SmallVector<Type> made;
    bool isForward = more.empty();
    for (auto [i, type] : llvm::enumerate(types))
      made.push_back(isForward || i == 0 || !ring.empty() ? type : typeLikePart(type));
    Operation *attention = cloneWith(builder, op, local, made);
    attention->removeAttr(factorShardingAttrName);
    attention->removeAttr(ringShardingAttrName);
    return SmallVector<Value>(attention->getResults());
  }

  Type typeLikePart(Type type) {
    auto whole = cast<RankedTensorType>(type);
    Shape shape(whole.getShape());
    shape[positions] /= count;
    return whole.clone(shape);
  }

  /// Every `count`-th place, from `stripe` on.
  Value part(Value value, int64_t stripe) {
    Shape offsets(shapeOf(value).size(), 0), strides(offsets.size(), 1), shape(shapeOf(value));
    offsets[positions] = stripe;
    strides[positions] = count;
    shape[positions] /= count;
    return SliceOp::create(builder, b.loc, typeLike(value, shape), value, offsets, strides);
  }

  /// The opposite of `part`, for all stripes.
  Value woven(ArrayRef<Value> stripes) {
    SmallVector<Value> columns;
    for (Value value : stripes)
      columns.push_back(
          SplitDimOp::create(builder, b.loc, value, positions,
                             ArrayRef<int64_t>{shapeOf(value)[positions], int64_t(1)}));
    Value all = ConcatOp::create(builder, b.loc, columns, positions + 1);
    return MergeDimsOp::create(builder, b.loc, all, positions, int64_t(2));
  }

  /// Whether queries do not see the keys of their own place in a stripe; null: they do. In a ring,
  /// the stripe that comes at step s is the number - s, and where that is none, s - number before
  /// the last: of a later one than the queries' own.
  Value isAhead(int64_t stripe, ArrayRef<int64_t> shape) {
    if (stripe == 0 || !number)
      return nullptr;
    Value ahead = CompareOp::create(builder, b.loc, Predicate::lt, number,
                                    b.constant(number, double(stripe)));
    return BroadcastOp::create(builder, b.loc, typeLike(ahead, shape), ahead, ArrayRef<int64_t>());
  }

  /// The places moved by one, towards the first or away from it; where none comes, zero.
  Value moved(Value value, bool isToFirst) {
    Shape shape(shapeOf(value)), none(shape.size(), 0), one(none), strides(shape.size(), 1);
    if (shape[positions] == 1)
      return b.constant(value, 0);
    one[positions] = 1;
    Shape less = shape;
    --less[positions];
    Value some = SliceOp::create(builder, b.loc, typeLike(value, less), value,
                                 isToFirst ? one : none, strides);
    return PadOp::create(builder, b.loc, typeLike(value, shape), some, isToFirst ? none : one,
                         strides);
  }

  /// Where keys of the same place are not seen, a query stands in the place before its own.
  Value forth(Value value, int64_t stripe) {
    Value ahead = isAhead(stripe, shapeOf(value));
    return ahead ? b.select(ahead, moved(value, true), value) : value;
  }
  Value back(Value value, int64_t stripe) {
    Value ahead = isAhead(stripe, shapeOf(value));
    return ahead ? b.select(ahead, moved(value, false), value) : value;
  }

  /// The log-sum-exp of a stripe, where the first query sees no key of it if it does not see the
  /// one of its place.
  Value unseen(Value logSum, int64_t stripe) {
    Value ahead = isAhead(stripe, shapeOf(logSum));
    if (!ahead)
      return logSum;
    Value place = b.iota(logSum, positions);
    Value isFirst = CompareOp::create(builder, b.loc, Predicate::eq, place, b.constant(place, 0));
    return b.select(AndOp::create(builder, b.loc, ahead, isFirst),
                    b.constant(logSum, -std::numeric_limits<double>::infinity()), logSum);
  }

  void addTo(Value &sum, Value value) { sum = sum ? b.add(sum, value) : value; }

  Value wide(Value value) { return narrow(value, tensorType(value).clone(builder.getF32Type())); }
  Value narrow(Value value, Type type) {
    return value.getType() == type ? value
                                   : CastOp::create(builder, b.loc, type, value).getResult();
  }

  OpBuilder &builder;
  Operation *op;
  RowBuilder b;
  ValueRange operands;
  TypeRange types;
  Value number;
  const int64_t count;
  const StringRef ring; ///< the axis; "": all keys are here
  Value inRing[2];      ///< keys and values that have come
};

} // namespace

bool needsStripes(Operation *op) {
  if (auto attention = dyn_cast<AttentionOp>(op))
    return attention.getCausal();
  auto gradient = dyn_cast<AttentionGradOp>(op);
  return gradient && gradient.getCausal();
}

SmallVector<Value> attentionInStripes(OpBuilder &builder, Operation *op, ValueRange operands,
                                      TypeRange types, Value number, int64_t count) {
  Striped striped(builder, op, operands, types, number, count);
  return isa<AttentionOp>(op) ? striped.forward() : striped.gradient();
}

SmallVector<Value> attentionInRing(OpBuilder &builder, Operation *op, ValueRange operands,
                                   TypeRange types, Value number, StringRef axis, int64_t count) {
  Striped striped(builder, op, operands, types, number, count, axis);
  return isa<AttentionOp>(op) ? striped.forward() : striped.gradient();
}

} // namespace weir::sharding
