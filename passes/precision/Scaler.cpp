//===- Scaler.cpp - Scales FP8 operands -----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/precision/Scaler.h"
#include "ir/weir/WeirDialect.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/elementwise/Selection.h"
#include "ir/weir/elementwise/Unary.h"
#include "ir/weir/product/Product.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Variable.h"
#include "ir/weir/reduction/Reduction.h"
#include "ir/weir/structure/Structure.h"
#include "passes/recipe/Scalars.h"

using namespace mlir;

namespace weir {

double highestOf(Type type) {
  return APFloat::getLargest(cast<FloatType>(type).getFloatSemantics()).convertToDouble();
}

static Value spreadOver(OpBuilder &builder, Value like, double number) {
  Location place = like.getLoc();
  return spread(builder, place, scalar(builder, place, number), shapeOf(like));
}

Value scaleFor(OpBuilder &builder, Location place, Value largest, Value highest) {
  Value least = MulOp::create(builder, place, highest, spreadOver(builder, largest, 0x1p-100));
  Value bounded = MaxOp::create(builder, place, largest, least);
  Value times = DivOp::create(builder, place, highest, bounded);
  return PowerOfTwoOp::create(builder, place, times);
}

void Scaler::scale(ArrayRef<LowFactor> factors, StringRef what) {
  delay(factors);
  for (auto [operand, type] : factors) {
    Cuts cuts = type.scales == Scales::blocks ? cutsOf(*operand) : 0;
    operand->set(scaled(operand->get(), type, cuts, what));
  }
  if (!amax)
    return;
  amax->write();
  made.work.insert(amax->work().begin(), amax->work().end());
}

/// Whether the value is a view or a rounding of a parameter.
static bool isParameter(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto read = dyn_cast<ReadOp>(op)) {
      auto variable =
          SymbolTable::lookupNearestSymbolFrom<VariableOp>(read, read.getVariableAttr());
      return variable && variable.getRole() == Role::parameter;
    }
    if (!isa<View, CastOp>(op))
      return false;
    value = op->getOperand(0);
  }
  return false;
}

Scaler::Cuts Scaler::cutsOf(OpOperand &factor) {
  auto product = dyn_cast<MatmulOp>(factor.getOwner());
  if (!product)
    return 0;
  bool left = factor.getOperandNumber() == 0;
  bool sumsOverLast = left != (left ? product.getTransposeLhs() : product.getTransposeRhs());
  int64_t last = tensorType(factor.get()).getRank() - 1;
  Cuts both = Cuts(3) << (last - 1);
  return isParameter(factor.get()) ? both : Cuts(1) << (sumsOverLast ? last : last - 1);
}

void Scaler::delay(ArrayRef<LowFactor> factors) {
  // By type, in program order.
  llvm::MapVector<Type, llvm::SetVector<Value>> sources;
  for (auto [operand, type] : factors) {
    Value source = operand->get();
    while (isa_and_nonnull<View>(source.getDefiningOp()))
      source = source.getDefiningOp()->getOperand(0);
    if (type.scales == Scales::delayed && source.getParentBlock() == &entry.getBody().front())
      sources[type.low].insert(source);
  }
  SmallVector<Type> types;
  for (auto &[low, values] : sources)
    for (Value value : values) {
      rows[{value, low}] = types.size();
      types.push_back(low);
    }
  if (!types.empty() && Amax::serves(entry))
    amax.emplace(entry, types);
}

/// The blocks of a view's source, if they contain the same elements.
static std::optional<uint64_t> cutsBehind(Operation *view, uint64_t cuts) {
  if (cuts == 0)
    return cuts;
  uint64_t behind = 0;
  auto transpose = dyn_cast<TransposeOp>(view);
  if (!transpose)
    return std::nullopt;
  for (auto [to, from] : llvm::enumerate(transpose.getPermutation()))
    behind |= (cuts >> to & 1) << from;
  return behind;
}

Value Scaler::scaled(Value factor, ScaledType type, Cuts cuts, StringRef what) {
  Key key{factor, type.low, type.scales, cuts};
  if (Value before = known.lookup(key))
    return before;
  Value result;
  Operation *op = factor.getDefiningOp();
  std::optional<Cuts> behind =
      isa_and_nonnull<View>(op) ? cutsBehind(op, cuts) : std::optional<Cuts>();
  if (behind) {
    Value source = scaled(op->getOperand(0), type, *behind, what);
    builder.setInsertionPointAfterValue(factor);
    Operation *moved = builder.clone(*op);
    moved->setOperand(0, source);
    result = moved->getResult(0);
  } else {
    result = round(factor, type, cuts, what);
  }
  made.factors[result] = type;
  return known[key] = result;
}

Value Scaler::round(Value factor, ScaledType type, Cuts cuts, StringRef what) {
  Location place = factor.getLoc();
  builder.setInsertionPointAfterValue(factor);
  RankedTensorType stored = tensorType(factor);
  Value wide = CastOp::create(builder, place, stored.clone(builder.getF32Type()), factor);
  Value again = nearest(wide, factor, type, cuts);
  auto result = CastOp::create(builder, place, stored, again);
  rounded[result] = what;
  for (Operation *op = wide.getDefiningOp(); op != result; op = op->getNextNode())
    made.work.insert(op);
  return result;
}

/// The slice from `begin` to `end` of a dimension.
static Value partOf(OpBuilder &builder, Value value, int64_t dimension, int64_t begin,
                    int64_t end) {
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> shape(type.getShape()), offsets(shape.size(), 0), strides(shape.size(), 1);
  shape[dimension] = end - begin;
  offsets[dimension] = begin;
  return SliceOp::create(builder, value.getLoc(), type.clone(shape), value, offsets, strides);
}

Value Scaler::nearest(Value wide, Value factor, ScaledType type, Cuts cuts) {
  constexpr int64_t block = 128;
  Location place = wide.getLoc();
  ArrayRef<int64_t> shape = tensorType(wide).getShape();
  auto isCut = [&](int64_t dimension) { return cuts >> dimension & 1; };
  for (auto [dimension, size] : llvm::enumerate(shape))
    if (isCut(dimension) && size > block && size % block != 0) {
      int64_t whole = size / block * block;
      Value parts[] = {nearest(partOf(builder, wide, dimension, 0, whole), factor, type, cuts),
                       nearest(partOf(builder, wide, dimension, whole, size), factor, type, cuts)};
      return ConcatOp::create(builder, place, parts, dimension);
    }

  SmallVector<int64_t> split, inside, outside; // dimensions; of a block, and of blocks
  int64_t rank = 0;
  for (auto [dimension, size] : llvm::enumerate(shape)) {
    if (isCut(dimension) && size > block) {
      split.push_back(dimension);
      outside.push_back(rank++);
    }
    (isCut(dimension) || cuts == 0 ? inside : outside).push_back(rank++);
  }
  for (int64_t dimension : llvm::reverse(split)) {
    int64_t sizes[] = {shape[dimension] / block, block};
    wide = SplitDimOp::create(builder, place, wide, dimension, sizes);
  }
  Value largest = AbsOp::create(builder, place, wide);
  if (!inside.empty())
    largest = ReduceOp::create(builder, place, largest, Reduction::max, inside);
  auto row = rows.find({factor, type.low});
  bool isDelayed = amax && type.scales == Scales::delayed && row != rows.end();
  Value again = isDelayed ? underDelayed(wide, largest, type.low, row->second)
                          : underOwn(wide, largest, type.low, outside);
  for (int64_t dimension : split)
    again = MergeDimsOp::create(builder, place, again, dimension, 2);
  return again;
}

/// The value times a scale: one for all elements, or one for each index along some dimensions.
static Value times(OpBuilder &builder, Value value, Value scale, ArrayRef<int64_t> dimensions) {
  Location place = value.getLoc();
  RankedTensorType type = tensorType(value);
  Value everywhere = type.getRank() == 0
                         ? sumOfAll(builder, place, scale) // of one, at most
                         : BroadcastOp::create(builder, place, type, scale, dimensions).getResult();
  return MulOp::create(builder, place, value, everywhere);
}

static Value roundedTo(OpBuilder &builder, Value large, Type low) {
  RankedTensorType type = tensorType(large);
  Value small = CastOp::create(builder, large.getLoc(), type.clone(low), large);
  return CastOp::create(builder, large.getLoc(), type, small);
}

Value Scaler::underOwn(Value wide, Value largest, Type low, ArrayRef<int64_t> dimensions) {
  Location place = wide.getLoc();
  Value scale = scaleFor(builder, place, largest, spreadOver(builder, largest, highestOf(low)));
  // Non-finite values do not make finite ones non-finite.
  Value finite = IsFiniteOp::create(builder, place, largest);
  Value least = spreadOver(builder, largest, 0x1p-120);
  scale = SelectOp::create(builder, place, scale.getType(), finite, scale, least);
  Value inverse = DivOp::create(builder, place, spreadOver(builder, largest, 1), scale);
  Value small = roundedTo(builder, times(builder, wide, scale, dimensions), low);
  return times(builder, small, inverse, dimensions);
}

Value Scaler::underDelayed(Value wide, Value largest, Type low, unsigned row) {
  Location place = wide.getLoc();
  amax->note(row, largest);
  auto [scale, inverse] = amax->scales(builder, place, row);
  int64_t one[] = {0}; // each is f32[1]
  double highest = highestOf(low);
  Value large = times(builder, wide, scale, one);
  large = MinOp::create(builder, place, large, spreadOver(builder, wide, highest));
  large = MaxOp::create(builder, place, large, spreadOver(builder, wide, -highest));
  Value again = times(builder, roundedTo(builder, large, low), inverse, one);
  // A non-finite value stays non-finite, so that the step is skipped.
  Value finite = IsFiniteOp::create(builder, place, wide);
  return SelectOp::create(builder, place, wide.getType(), finite, again, wide);
}

} // namespace weir
