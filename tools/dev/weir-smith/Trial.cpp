//===- Trial.cpp - Runs a program in f64 and as f32 would -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/dev/weir-smith/Trial.h"
#include "ir/weir/ElementTypes.h"
#include "ir/weir/convolution/Convolution.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/elementwise/Selection.h"
#include "ir/weir/elementwise/Unary.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Gradient.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/random/Random.h"
#include "ir/weir/reduction/Reduction.h"
#include "ir/weir/rows/Rows.h"
#include "verify/Compare.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace weir::smith {
namespace {

constexpr double largestFloat = 1e4, largestInteger = 1 << 24, largestRstd = 25;

bool isFloat(Value value) { return isa<FloatType>(tensorType(value).getElementType()); }

RoundingKind roundingOf(Operation &op) {
  auto castable = dyn_cast<Castable>(op);
  return castable ? castable.rounding() : RoundingKind::once;
}

/// Ops with sums of products inside. Their operands are moved by a rounding, since what cancels
/// exactly in one order of the sum does not in another.
bool sumsInside(Operation &op) { return roundingOf(op) >= RoundingKind::products; }

/// Sums and products of small whole numbers round nothing.
bool wholeAndEqual(const Known &known) {
  for (auto [a, b] : llvm::zip(known.truth.values, known.rounded.values))
    if (a != b || a != std::trunc(a) || std::fabs(a) > 1e6)
      return false;
  return true;
}

/// Whether the order of two values survives rounding.
bool apart(double a, double b) { return std::fabs(a - b) > 2e-4 * (1 + std::fabs(a)); }

/// Whether it is clear to which number of low precision each element rounds.
bool apartFromTies(const Known &a, Element low) {
  for (auto [x, inF32] : llvm::zip(a.truth.values, a.rounded.values)) {
    double margin = 1e-5 * std::fabs(x) + 8 * std::fabs(x - inF32);
    if (weir::rounded(low, x - margin) != weir::rounded(low, x + margin))
      return false;
  }
  return true;
}

/// Where the result is one of a few numbers: all implementations have the same, once it is decided.
bool givesFewNumbers(Operation &op) {
  if (isa<RoundAtRandomOp, PowerOfTwoOp>(op))
    return true;
  auto cast = dyn_cast<CastOp>(op);
  return cast && isLow(tensorType(cast.getResult()).getElementType());
}

/// Whether it is clear to which neighbour a draw rounds each element.
bool roundsClearly(RoundAtRandomOp op, const Known &number, const Known &draw) {
  Interpreter interpreter;
  auto moved = [](const Known &known, double sign) {
    Tensor tensor = known.truth;
    for (auto [x, inF32] : llvm::zip(tensor.values, known.rounded.values))
      if (!known.exact)
        x += sign * (1e-5 * std::fabs(x) + 8 * std::fabs(x - inF32));
    return tensor;
  };
  auto evaluated = [&](double a, double b) {
    return cast<Interpretable>(*op).evaluate({moved(number, a), moved(draw, b)}, interpreter);
  };
  FailureOr<Tensors> low = evaluated(-1, -1), high = evaluated(1, 1), mixed = evaluated(-1, 1),
                     other = evaluated(1, -1);
  auto same = [&](const FailureOr<Tensors> &one) {
    return succeeded(one) && (*one)[0].values == (*low)[0].values;
  };
  return succeeded(low) && same(high) && same(mixed) && same(other);
}

/// Every implementation rounds its result as IEEE 754 says, if at all.
bool roundsAsSaid(Operation &op) { return isa<AddOp, SubOp, MulOp, DivOp>(op); }

/// Zeros (of relu, of masks) are the same everywhere.
bool isZero(const Known &known, size_t i) {
  return known.truth.values[i] == 0 && known.rounded.values[i] == 0;
}

bool apart(const Known &a, const Known &b, bool equalAllowed) {
  for (size_t i = 0; i < a.truth.values.size(); ++i)
    if (!apart(a.truth.values[i], b.truth.values[i]) && !(isZero(a, i) && isZero(b, i)) &&
        !(equalAllowed && a.truth.values[i] == b.truth.values[i] &&
          a.rounded.values[i] == b.rounded.values[i]))
      return false;
  return true;
}

bool apartFromZero(const Known &a) {
  for (size_t i = 0; i < a.truth.values.size(); ++i)
    if (!apart(a.truth.values[i], 0) && !isZero(a, i))
      return false;
  return true;
}

bool apartFromIntegers(const Known &a) {
  for (size_t i = 0; i < a.truth.values.size(); ++i)
    if (double x = a.truth.values[i]; std::fabs(x - std::round(x)) <= 2e-4 && !isZero(a, i))
      return false;
  return true;
}

/// Whether the values are more than what rounding leaves of numbers that cancel: what divides by
/// such a rest may divide by 0.
bool apartFromRounding(const Known &a) {
  for (auto [x, inF32] : llvm::zip(a.truth.values, a.rounded.values))
    if (std::fabs(x - inF32) > 0.1 * std::fabs(x))
      return false;
  return true;
}

bool apartFromPowersOfTwo(const Known &a) {
  return llvm::all_of(a.truth.values, [](double x) {
    double margin = 1e-5 * std::fabs(x);
    return x == 0 || std::ilogb(x - margin) == std::ilogb(x + margin);
  });
}

/// Moves results by a rounding of the largest number behind them: a function's largest value is its
/// error close to its zeros, but for the sine's at 0; a small loss is the logarithm of a sum
/// near 1.
void nudgeByLargest(Operation *op, ArrayRef<Tensor> operands, MutableArrayRef<Tensor> results) {
  constexpr double rounding = 0x1p-23;
  Tensor &result = results[0];
  auto random = dyn_cast<RandomOp>(op);
  bool sine = isa<SinOp>(op), normal = random && random.getDistribution() == Distribution::normal;
  for (size_t i = 0; i < result.values.size(); ++i)
    if (isa<CosOp>(op) || normal || (sine && std::fabs(operands[0].values[i]) > 0.5))
      result.values[i] += rounding;
    else if (roundingOf(*op) == RoundingKind::logOfSum)
      result.values[i] += rounding * (1 + std::fabs(result.values[i]));
}

/// What adding up numbers rounds: about a quarter of the last place of all magnitudes together,
/// which is much of a sum that cancels.
LogicalResult nudgeByAddends(Operation &op, ArrayRef<Tensor> operands,
                             MutableArrayRef<Tensor> results, Interpreter &interpreter) {
  Tensors positive(operands.begin(), operands.end());
  for (auto [tensor, operand] : llvm::zip_equal(positive, op.getOperands()))
    if (isFloat(operand))
      for (double &value : tensor.values)
        value = std::fabs(value);
  FailureOr<Tensors> magnitudes =
      cast<Interpretable>(op).evaluate(std::move(positive), interpreter);
  if (failed(magnitudes))
    return failure();
  for (auto [result, magnitude] : llvm::zip_equal(results, *magnitudes))
    for (auto [value, all] : llvm::zip_equal(result.values, magnitude.values))
      value += 0x1p-26 * all;
  return success();
}

/// Moves the op's operand of that number by roundings, and each operand by others: one tensor that
/// is two operands would be moved as a whole otherwise.
Tensor nudged(Tensor tensor, size_t operand) {
  const size_t stride = 7 + operand % 6; // no multiple of 13
  for (size_t i = 0; i < tensor.values.size(); ++i)
    tensor.values[i] *=
        1 + 0x1p-24 * (static_cast<double>((i * stride + operand * 5) % 13) - 6) / 3;
  return tensor;
}

/// Whether each group's largest (sign 1) or smallest (-1) element is decided.
using Candidates = std::vector<std::pair<double, bool>>; // values, and whether they are zeros

bool firstIsDecided(Candidates &values) {
  llvm::sort(values, std::greater<>());
  return values.size() < 2 || apart(values[0].first, values[1].first) ||
         (values[0].second && values[1].second);
}

template <class GroupOf> bool groupsDecided(const Known &known, double sign, GroupOf groupOf) {
  std::map<int64_t, Candidates> groups;
  size_t at = 0;
  forEachIndex(known.truth.shape, [&](ArrayRef<int64_t> index) {
    groups[groupOf(index)].push_back({sign * known.truth.values[at], isZero(known, at)});
    ++at;
  });
  return llvm::all_of(groups, [](auto &group) { return firstIsDecided(group.second); });
}

bool axesDecided(const Known &known, double sign, ArrayRef<int64_t> axes) {
  return groupsDecided(known, sign, [&](ArrayRef<int64_t> index) {
    int64_t group = 0;
    for (size_t d = 0; d < index.size(); ++d)
      if (!llvm::is_contained(axes, d))
        group = group * known.truth.shape[d] + index[d];
    return group;
  });
}

bool windowsDecided(const Known &known, ArrayRef<int64_t> window, ArrayRef<int64_t> strides) {
  const Tensor &tensor = known.truth;
  int64_t rank = tensor.shape.size(), h = tensor.shape[rank - 2], w = tensor.shape[rank - 1];
  int64_t planes = h * w > 0 ? tensor.values.size() / (h * w) : 0;
  for (int64_t plane = 0; plane < planes; ++plane)
    for (int64_t y = 0; y + window[0] <= h; y += strides[0])
      for (int64_t x = 0; x + window[1] <= w; x += strides[1]) {
        Candidates values;
        for (int64_t i = 0; i < window[0]; ++i)
          for (int64_t j = 0; j < window[1]; ++j) {
            size_t at = (plane * h + y + i) * w + x + j;
            values.push_back({tensor.values[at], isZero(known, at)});
          }
        if (!firstIsDecided(values))
          return false;
      }
  return true;
}

} // namespace

Tensor rounded(Tensor tensor, Type type) {
  if (isa<FloatType>(cast<RankedTensorType>(type).getElementType()))
    for (double &value : tensor.values)
      value = static_cast<float>(value);
  return tensor;
}

bool Trial::refuse(Operation &op, const Twine &why) {
  refusal = (op.getName().getStringRef() + ": " + why).str();
  return false;
}

/// Whether rounding can turn no decision that the op takes. What a gradient goes through has to be
/// decided where nothing is rounded too: its differences move what rounds.
bool Trial::decided(Operation &op) {
  auto inexact = [&](unsigned i) { return !values.at(op.getOperand(i)).exact; };
  auto in = [&](unsigned i) -> const Known & { return values.at(op.getOperand(i)); };
  auto settled = [&](unsigned i) { return !onGradient && !inexact(i); };
  return llvm::TypeSwitch<Operation *, bool>(&op)
      .Case([&](CompareOp) { return (!inexact(0) && !inexact(1)) || apart(in(0), in(1), true); })
      .Case<MaxOp, MinOp>([&](auto op) {
        return !isFloat(op.getResult()) || (settled(0) && settled(1)) || apart(in(0), in(1), false);
      })
      .Case<SignOp, AbsOp>([&](auto) { return !inexact(0) || apartFromZero(in(0)); })
      .Case([&](DivOp) { return !inexact(1) || apartFromRounding(in(1)); })
      .Case([&](FloorOp) { return !inexact(0) || apartFromIntegers(in(0)); })
      .Case([&](RoundAtRandomOp round) {
        return (!inexact(0) && !inexact(1)) || roundsClearly(round, in(0), in(1));
      })
      .Case([&](PowerOfTwoOp) { return !inexact(0) || apartFromPowersOfTwo(in(0)); })
      .Case([&](CastOp cast) {
        auto to = tensorType(cast.getResult()).getElementType();
        if (isLow(to))
          return !inexact(0) || apartFromTies(in(0), *weir::elementOf(to));
        if (!isa<IntegerType>(to))
          return true;
        if (to.isInteger(8) &&
            llvm::any_of(in(0).truth.values, [](double x) { return x <= -1 || x >= 256; }))
          return false;
        return !inexact(0) || (to.isInteger(1) ? apartFromZero(in(0)) : apartFromIntegers(in(0)));
      })
      .Case([&](ReduceOp reduce) {
        return reduce.getKind() == Reduction::sum || !isFloat(reduce.getResult()) || settled(0) ||
               axesDecided(in(0), reduce.getKind() == Reduction::max ? 1 : -1, reduce.getAxes());
      })
      .Case([&](ArgMaxOp argmax) {
        return !inexact(0) || axesDecided(in(0), 1, {int64_t(argmax.getAxis())});
      })
      .Case<MaxPoolOp, MaxPoolGradOp>(
          [&](auto pool) { return windowsDecided(in(0), pool.getWindow(), pool.getStrides()); })
      .Default(true);
}

void Trial::noteNorm(Value value) {
  if (isFloat(value))
    largestNorm = std::max(largestNorm, norm(values.at(value).truth));
}

bool Trial::execute(Operation &op) {
  if (auto read = dyn_cast<ReadOp>(op)) {
    values[read.getResult()] = variables.at(read.getVariable().str());
    noteNorm(read.getResult());
    return true;
  }
  // Behind a weir.gradient nothing is known.
  if (llvm::any_of(op.getOperands(), [&](Value operand) { return !values.contains(operand); }))
    return true;
  if (auto write = dyn_cast<WriteOp>(op)) {
    last.writes[write.getVariable().str()] = values.at(write.getValue());
    return true;
  }
  if (auto microbatches = dyn_cast<MicrobatchesOp>(op))
    return runMicrobatches(microbatches);
  if (auto gradient = dyn_cast<GradientOp>(op)) {
    onGradient(gradient);
    return true;
  }
  if (!decided(op))
    return refuse(op, "rounding may turn a decision");
  Tensors truth, inRounded;
  bool exact = true;
  for (Value operand : op.getOperands()) {
    const Known &known = values.at(operand);
    truth.push_back(known.truth);
    inRounded.push_back(sumsInside(op) && isFloat(operand) ? nudged(known.rounded, inRounded.size())
                                                           : known.rounded);
    exact &= known.exact;
  }
  auto interpretable = dyn_cast<Interpretable>(op);
  if (!interpretable)
    return refuse(op, "has no reference semantics");
  FailureOr<Tensors> exactly = interpretable.evaluate(truth, interpreter);
  FailureOr<Tensors> roughly = interpretable.evaluate(inRounded, interpreter);
  if (failed(exactly) || failed(roughly))
    return refuse(op, "the interpreter fails");
  if (op.getNumResults())
    nudgeByLargest(&op, inRounded, *roughly);
  if (roundingOf(op) == RoundingKind::sum && isFloat(op.getResult(0)) &&
      failed(nudgeByAddends(op, inRounded, *roughly, interpreter)))
    return refuse(op, "the interpreter fails");
  for (auto [value, a, b] : llvm::zip(op.getResults(), *exactly, *roughly)) {
    double limit = isFloat(value) ? largestFloat : largestInteger;
    if (isa<NormalizeOp>(op) && cast<OpResult>(value).getResultNumber() == 2)
      limit = largestRstd;
    Known known{std::move(a), rounded(std::move(b), value.getType()), false};
    bool equal = known.truth.values == known.rounded.values;
    known.exact = !isFloat(value) || givesFewNumbers(op) ||
                  (exact && (roundingOf(op) == RoundingKind::none || (equal && roundsAsSaid(op)) ||
                             wholeAndEqual(known)));
    for (double x : known.truth.values)
      if (!std::isfinite(x)) {
        finite = false;
        return refuse(op, "a value is infinite or no number");
      } else if (std::fabs(x) > limit && !(isFloat(value) && known.exact)) {
        return refuse(op, "a value is too large");
      }
    bool noted = !known.exact; // scales, and what is exact under them, move no result
    values[value] = std::move(known);
    if (noted)
      noteNorm(value);
  }
  return true;
}

bool Trial::runBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (!execute(op))
      return false;
  return true;
}

bool Trial::runMicrobatches(MicrobatchesOp op) {
  Block &body = op.getBody().front();
  size_t count = op.getCount(), sliced = op.getSliced().size(), sums = op.numSums();
  SmallVector<Known> totals, carried;
  llvm::SmallPtrSet<Value, 4> unknown; // of the results
  for (Value value : op.getCarried())
    carried.push_back(values.at(value));
  for (Value result : op.getResults().take_front(sums)) {
    Tensor zero(shapeOf(result));
    totals.push_back({zero, zero, true});
  }
  for (size_t round = 0; round < count; ++round) {
    Tensor number({}, static_cast<double>(round));
    values[body.getArgument(0)] = {number, number, true};
    for (size_t i = 0; i < sliced; ++i) {
      const Known &whole = values.at(op.getSliced()[i]);
      Known slice{whole.truth.part(round, count), whole.rounded.part(round, count), whole.exact};
      values[body.getArgument(1 + i)] = std::move(slice);
    }
    for (size_t i = 0; i < carried.size(); ++i)
      if (unknown.contains(op.getResult(sums + i)))
        values.erase(body.getArgument(1 + sliced + i));
      else
        values[body.getArgument(1 + sliced + i)] = carried[i];
    if (!runBlock(body))
      return false;
    auto yielded = body.getTerminator()->getOperands();
    for (size_t i = 0; i < sums; ++i) {
      auto found = values.find(yielded[i]);
      if (found == values.end()) { // a gradient
        unknown.insert(op.getResult(i));
        continue;
      }
      const Known &added = found->second;
      Type type = yielded[i].getType();
      for (size_t j = 0; j < added.truth.values.size(); ++j) {
        totals[i].truth.values[j] += added.truth.values[j];
        totals[i].rounded.values[j] += added.rounded.values[j];
      }
      totals[i].rounded = rounded(std::move(totals[i].rounded), type);
      totals[i].exact &= added.exact && wholeAndEqual(totals[i]);
    }
    for (size_t i = 0; i < carried.size(); ++i)
      if (values.contains(yielded[sums + i]))
        carried[i] = values.at(yielded[sums + i]);
      else
        unknown.insert(op.getResult(sums + i));
  }
  llvm::append_range(totals, carried);
  for (auto [value, known] : llvm::zip(op.getResults(), totals))
    if (!unknown.contains(value))
      values[value] = known;
  return true;
}

bool Trial::run(func::FuncOp function, ArrayRef<Known> inputs) {
  values.clear();
  last = {};
  Block &block = function.getBody().front();
  for (auto [value, known] : llvm::zip(block.getArguments(), inputs)) {
    values[value] = known;
    noteNorm(value);
  }
  if (!runBlock(block))
    return false;
  for (Value value : block.getTerminator()->getOperands())
    last.results.push_back(values.lookup(value));
  return true;
}

} // namespace weir::smith
