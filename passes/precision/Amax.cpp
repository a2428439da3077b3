//===- Amax.cpp - History of the largest magnitudes of tensors ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/precision/Amax.h"
#include "ir/weir/Names.h"
#include "ir/weir/WeirDialect.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/elementwise/Selection.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Variable.h"
#include "ir/weir/reduction/Reduction.h"
#include "ir/weir/structure/Structure.h"
#include "passes/precision/Scaler.h"
#include "passes/recipe/Scalars.h"
#include "support/precision/LossScale.h"

using namespace mlir;

namespace weir {

static constexpr int64_t steps = 16;

/// Whether it is the type of cotangents, which are multiplied by the loss scale.
static bool isOfCotangents(Type type) { return isa<Float8E5M2Type>(type); }

/// The initial scales: parameters and activations are usually about 1, and cotangents of a mean
/// much smaller. Larger values are clamped, not lost.
static double firstScale(Type type) { return isOfCotangents(type) ? 0x1p9 : 0x1p4; }

/// f32[n]: a number for each type; equal types are adjacent.
static Value numbersOf(OpBuilder &builder, Location place, ArrayRef<Type> types,
                       function_ref<Value(Type)> numberOf) {
  SmallVector<Value> parts;
  while (!types.empty()) {
    ArrayRef<Type> equal = types.take_while([&](Type type) { return type == types.front(); });
    Value number = numberOf(types.front());
    parts.push_back(spread(builder, place, number, {int64_t(equal.size())}));
    types = types.drop_front(equal.size());
  }
  return parts.size() == 1 ? parts[0] : ConcatOp::create(builder, place, parts, 0);
}

/// The factor of gradients in this step: an f32 scalar, or nothing.
static Value lossScaleOf(OpBuilder &builder, ModuleOp module) {
  auto name = module->getAttrOfType<StringAttr>(lossScaleAttrName);
  std::optional<LossScale> scale = name ? lossScaleNamed(name.getValue()) : std::nullopt;
  if (!scale || !scale->any())
    return {};
  Location place = module.getLoc();
  if (!scale->dynamic)
    return scalar(builder, place, scale->start);
  auto whole = RankedTensorType::get({}, builder.getI32Type());
  Value now = ReadOp::create(builder, place, whole, runLossScaleName);
  return CastOp::create(builder, place, whole.clone(builder.getF32Type()), now);
}

bool Amax::serves(func::FuncOp entry) {
  auto module = entry->getParentOfType<ModuleOp>();
  return entry.getSymName() == "step" && module && module.lookupSymbol<VariableOp>(runStepName);
}

Amax::Amax(func::FuncOp step, ArrayRef<Type> types) : step(step), largests(types.size()) {
  auto module = step->getParentOfType<ModuleOp>();
  Location place = step.getLoc();
  int64_t count = types.size();
  OpBuilder builder(step.getContext());
  auto type = RankedTensorType::get({count, steps}, builder.getF32Type());

  // After all others, so that the positions of known variables do not change.
  for (auto variable : module.getOps<VariableOp>())
    builder.setInsertionPointAfter(variable);
  VariableOp::create(builder, place, amaxName, Role::optimizer, type);
  if (auto init = module.lookupSymbol<func::FuncOp>("init")) {
    builder.setInsertionPoint(init.getBody().front().getTerminator());
    Value zero = spread(builder, place, scalar(builder, place, 0), type.getShape());
    WriteOp::create(builder, place, amaxName, zero);
  }

  builder.setInsertionPointToStart(&step.getBody().front());
  before = ReadOp::create(builder, place, type, amaxName);
  Value largest = ReduceOp::create(builder, place, before, Reduction::max, ArrayRef<int64_t>{1});
  auto number = [&](auto of) {
    return numbersOf(builder, place, types,
                     [&](Type type) { return scalar(builder, place, of(type)); });
  };
  Value highest = number(highestOf), first = number(firstScale);
  if (Value lossScale = lossScaleOf(builder, module);
      lossScale && llvm::any_of(types, isOfCotangents)) {
    times = numbersOf(builder, place, types, [&](Type type) -> Value {
      return isOfCotangents(type) ? lossScale : scalar(builder, place, 1);
    });
    largest = MulOp::create(builder, place, largest, times);
    first = DivOp::create(builder, place, first, times);
  }
  Value zero = spread(builder, place, scalar(builder, place, 0), {count});
  Value above = CompareOp::create(builder, place, Predicate::gt, largest, zero);
  Value finite = IsFiniteOp::create(builder, place, largest);
  Value known = AndOp::create(builder, place, above, finite);
  Value power = scaleFor(builder, place, largest, highest);
  scale = SelectOp::create(builder, place, power.getType(), known, power, first);
  inverse = DivOp::create(builder, place,
                          spread(builder, place, scalar(builder, place, 1), {count}), scale);
  for (Operation &op : step.getBody().front()) {
    made.insert(&op);
    if (&op == inverse.getDefiningOp())
      break;
  }
}

std::pair<Value, Value> Amax::scales(OpBuilder &builder, Location place, unsigned i) const {
  auto type = RankedTensorType::get({1}, builder.getF32Type());
  auto one = [&](Value all) {
    return SliceOp::create(builder, place, type, all, ArrayRef<int64_t>{i}, ArrayRef<int64_t>{1});
  };
  return {one(scale), one(inverse)};
}

void Amax::write() {
  Operation *end = step.getBody().front().getTerminator(), *last = end->getPrevNode();
  OpBuilder builder(end);
  Location place = step.getLoc();
  RankedTensorType type = tensorType(before);
  int64_t count = type.getDimSize(0);

  SmallVector<Value> rows;
  for (Value largest : largests)
    rows.push_back(spread(builder, place, largest, {1}));
  Value now = rows.size() == 1 ? rows[0] : ConcatOp::create(builder, place, rows, 0);
  if (times)
    now = DivOp::create(builder, place, now, times);
  // A magnitude that is not finite is not recorded.
  Value zero = spread(builder, place, scalar(builder, place, 0), {count});
  now = SelectOp::create(builder, place, now.getType(), IsFiniteOp::create(builder, place, now),
                         now, zero);
  now = BroadcastOp::create(builder, place, type, now, ArrayRef<int64_t>{0});

  auto whole = RankedTensorType::get({}, builder.getI32Type());
  auto number = [&](int32_t value) {
    return ConstantOp::create(builder, place, whole, builder.getI32IntegerAttr(value));
  };
  Value column = RemOp::create(builder, place, ReadOp::create(builder, place, whole, runStepName),
                               number(steps));
  auto indices = type.clone(builder.getI32Type());
  Value isNow =
      CompareOp::create(builder, place, Predicate::eq, IotaOp::create(builder, place, indices, 1),
                        spread(builder, place, column, type.getShape()));
  Value next = SelectOp::create(builder, place, type, isNow, now, before);
  auto write = WriteOp::create(builder, place, amaxName, next);
  step.walk([&](WriteOp other) {
    if (Value condition = other.getCondition())
      write.getConditionMutable().assign(condition);
  });
  for (Operation *op = last->getNextNode(); op != end; op = op->getNextNode())
    made.insert(op);
}

} // namespace weir
