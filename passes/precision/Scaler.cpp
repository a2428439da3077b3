//===- Scaler.cpp - Factors in eight bits ---------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/precision/Scaler.h"
#include "ir/weir/WeirDialect.h"
#include "passes/recipe/Scalars.h"

using namespace mlir;

namespace weir {

double highestOf(Type type) {
  return APFloat::getLargest(cast<FloatType>(type).getFloatSemantics()).convertToDouble();
}

Value scaleFor(OpBuilder &builder, Location place, Value largest, Value highest, Value otherwise) {
  auto all = [&](double number) {
    return spread(builder, place, scalar(builder, place, number), shapeOf(largest));
  };
  Value above = CompareOp::create(builder, place, Predicate::gt, largest, all(0));
  Value finite = IsFiniteOp::create(builder, place, largest);
  Value usual = AndOp::create(builder, place, above, finite);
  Value times = DivOp::create(builder, place, highest, largest);
  Value power = PowerOfTwoOp::create(builder, place, times);
  power = MinOp::create(builder, place, power, all(0x1p100));
  power = MaxOp::create(builder, place, power, all(0x1p-100));
  return SelectOp::create(builder, place, power.getType(), usual, power, otherwise);
}

void Scaler::scale(ArrayRef<LowFactor> factors, StringRef what) {
  // By type, in the order of the program.
  llvm::MapVector<Type, llvm::SetVector<Value>> sources;
  for (auto [operand, low] : factors) {
    Value source = operand->get();
    while (isa_and_nonnull<View>(source.getDefiningOp()))
      source = source.getDefiningOp()->getOperand(0);
    if (source.getParentBlock() == &entry.getBody().front())
      sources[low].insert(source);
  }
  SmallVector<Type> types;
  for (auto &[low, values] : sources)
    for (Value value : values) {
      rows[{value, low}] = types.size();
      types.push_back(low);
    }
  if (!types.empty() && Amax::serves(entry))
    amax.emplace(entry, types);
  for (auto [operand, low] : factors)
    operand->set(scaled(operand->get(), low, what));
  if (!amax)
    return;
  amax->write();
  made.work.insert(amax->work().begin(), amax->work().end());
}

Value Scaler::scaled(Value factor, Type low, StringRef what) {
  Value &before = known[{factor, low}];
  if (before)
    return before;
  Value result;
  if (Operation *op = factor.getDefiningOp(); isa_and_nonnull<View>(op)) {
    Value source = scaled(op->getOperand(0), low, what);
    builder.setInsertionPointAfterValue(factor);
    Operation *moved = builder.clone(*op);
    moved->setOperand(0, source);
    result = moved->getResult(0);
  } else {
    result = round(factor, low, what);
  }
  made.factors[result] = low;
  return known[{factor, low}] = result; // the map may have grown
}

Value Scaler::round(Value factor, Type low, StringRef what) {
  Location place = factor.getLoc();
  builder.setInsertionPointAfterValue(factor);
  RankedTensorType stored = tensorType(factor), type = stored.clone(builder.getF32Type());
  double highest = highestOf(low);

  Value wide = CastOp::create(builder, place, type, factor);
  Value magnitude = AbsOp::create(builder, place, wide);
  auto axes = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  Value largest =
      axes.empty() ? magnitude : ReduceOp::create(builder, place, magnitude, Reduction::max, axes);
  Value scale, inverse;
  if (auto row = rows.find({factor, low}); amax && row != rows.end()) {
    amax->note(row->second, largest);
    std::tie(scale, inverse) = amax->scales(builder, place, row->second);
  } else {
    Value one = scalar(builder, place, 1);
    scale = scaleFor(builder, place, largest, scalar(builder, place, highest), one);
    inverse = DivOp::create(builder, place, one, scale);
  }

  auto everywhere = [&](Value number) -> Value {
    if (axes.empty())
      return sumOfAll(builder, place, number); // of one, at most
    SmallVector<int64_t> dimensions(shapeOf(number).size());
    return BroadcastOp::create(builder, place, type, number, dimensions);
  };
  Value large = MulOp::create(builder, place, wide, everywhere(scale));
  large = MinOp::create(builder, place, large, everywhere(scalar(builder, place, highest)));
  large = MaxOp::create(builder, place, large, everywhere(scalar(builder, place, -highest)));
  Value small = CastOp::create(builder, place, type.clone(low), large);
  Value again = CastOp::create(builder, place, type, small);
  again = MulOp::create(builder, place, again, everywhere(inverse));
  // What is not finite is not made so: the step has to be skipped.
  Value finite = IsFiniteOp::create(builder, place, wide);
  again = SelectOp::create(builder, place, type, finite, again, wide);
  auto result = CastOp::create(builder, place, stored, again);

  rounded[result] = what;
  for (Operation *op = wide.getDefiningOp(); op != result; op = op->getNextNode())
    made.work.insert(op);
  return result;
}

} // namespace weir
