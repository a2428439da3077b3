//===- Arithmetic.cpp - Operators on tensors ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/StaticOperators.h"
#include "frontend/elaborate/TensorBuilder.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/elementwise/Selection.h"
#include "ir/weir/elementwise/Unary.h"
#include "ir/weir/product/Product.h"
#include "ir/weir/structure/Structure.h"

#include <cmath>

namespace weir::elab {

template <typename Op>
static mlir::Value create(mlir::OpBuilder &builder, mlir::Location place, mlir::Value lhs,
                          mlir::Value rhs) {
  return Op::create(builder, place, lhs, rhs);
}

/// One row per operator on two tensors of one type and shape.
struct TensorOperator {
  ast::BinaryOp op;
  bool floats, ints;
  mlir::Value (*create)(mlir::OpBuilder &, mlir::Location, mlir::Value, mlir::Value);
};

template <Predicate predicate>
static mlir::Value compare(mlir::OpBuilder &builder, mlir::Location place, mlir::Value lhs,
                           mlir::Value rhs) {
  return CompareOp::create(builder, place, predicate, lhs, rhs);
}

/// Ints that are divided: the ops round towards zero, the language rounds down.
struct Division {
  Division(mlir::OpBuilder &builder, mlir::Location place, mlir::Value dividend,
           mlir::Value divisor)
      : builder(builder), place(place), dividend(dividend), divisor(divisor),
        type(llvm::cast<mlir::RankedTensorType>(dividend.getType())),
        truncated(RemOp::create(builder, place, dividend, divisor)), roundsUp(signsDiffer()) {}

  mlir::Value quotient() {
    mlir::Value quotient = create<DivOp>(builder, place, dividend, divisor);
    return create<SubOp>(builder, place, quotient, CastOp::create(builder, place, type, roundsUp));
  }
  mlir::Value remainder() {
    return SelectOp::create(builder, place, roundsUp,
                            create<AddOp>(builder, place, truncated, divisor), truncated);
  }

private:
  /// Whether the remainder is not 0 and has another sign than the divisor.
  mlir::Value signsDiffer() {
    mlir::Value zero = ConstantOp::create(builder, place, type, 0.0);
    auto both = [&](Predicate ofRemainder, Predicate ofDivisor) -> mlir::Value {
      return create<AndOp>(builder, place,
                           CompareOp::create(builder, place, ofRemainder, truncated, zero),
                           CompareOp::create(builder, place, ofDivisor, divisor, zero));
    };
    return create<OrOp>(builder, place, both(Predicate::lt, Predicate::gt),
                        both(Predicate::gt, Predicate::lt));
  }

  mlir::OpBuilder &builder;
  mlir::Location place;
  mlir::Value dividend, divisor;
  mlir::RankedTensorType type;
  mlir::Value truncated, roundsUp;
};

static mlir::Value remainder(mlir::OpBuilder &builder, mlir::Location place, mlir::Value lhs,
                             mlir::Value rhs) {
  return Division(builder, place, lhs, rhs).remainder();
}

mlir::Value floorDivision(mlir::OpBuilder &builder, mlir::Location place, mlir::Value lhs,
                          mlir::Value rhs) {
  return Division(builder, place, lhs, rhs).quotient();
}

static const TensorOperator tensorOperators[] = {
    {ast::BinaryOp::add, true, true, create<AddOp>},
    {ast::BinaryOp::sub, true, true, create<SubOp>},
    {ast::BinaryOp::mul, true, true, create<MulOp>},
    {ast::BinaryOp::div, true, false, create<DivOp>},
    {ast::BinaryOp::mod, false, true, remainder},
    {ast::BinaryOp::pow, true, false, create<PowOp>},
    {ast::BinaryOp::eq, true, true, compare<Predicate::eq>},
    {ast::BinaryOp::ne, true, true, compare<Predicate::ne>},
    {ast::BinaryOp::lt, true, true, compare<Predicate::lt>},
    {ast::BinaryOp::le, true, true, compare<Predicate::le>},
    {ast::BinaryOp::gt, true, true, compare<Predicate::gt>},
    {ast::BinaryOp::ge, true, true, compare<Predicate::ge>},
};

/// `==` and `!=` of truth values, of which at least one is a tensor; nothing where neither is one.
std::optional<Value> TensorBuilder::compareTruths(ast::BinaryOp op, const Value &lhs,
                                                  const Value &rhs, Range range) {
  using ast::BinaryOp;
  if (op != BinaryOp::eq && op != BinaryOp::ne)
    return std::nullopt;
  const Tensor *a = lhs.get<Tensor>(), *b = rhs.get<Tensor>();
  bool left = a ? a->isBool() : lhs.get<bool>() != nullptr,
       right = b ? b->isBool() : rhs.get<bool>() != nullptr;
  if (!left && !right)
    return std::nullopt;
  if (left != right) {
    error(range, std::string("`") + spelling(op) + "` compares numbers, or truth values, not " +
                     lhs.describe() + " and " + rhs.describe())
        .help("`f32(x)` converts truth values");
    return Value();
  }
  bool equal = op == BinaryOp::eq;
  auto negated = [&](const Value &value) { return unary(ast::UnaryOp::logicalNot, value, range); };
  if (const bool *known = (a ? rhs : lhs).get<bool>()) {
    const Value &other = a ? lhs : rhs;
    return *known == equal ? other : negated(other);
  }
  // `a == b` is (a and b) or not (a or b).
  Value both = tensorBinary(BinaryOp::logicalAnd, lhs, rhs, range),
        either = tensorBinary(BinaryOp::logicalOr, lhs, rhs, range);
  if (both.isPoison() || either.isPoison())
    return Value();
  Value same = tensorBinary(BinaryOp::logicalOr, both, negated(either), range);
  return equal ? same : negated(same);
}

/// `and` and `or`, of which at least one operand is a tensor.
Value TensorBuilder::logicalBinary(ast::BinaryOp op, const Value &lhs, const Value &rhs,
                                   Range range) {
  using ast::BinaryOp;
  std::string what = std::string("`") + spelling(op) + "`";
  const Tensor *a = lhs.get<Tensor>(), *b = rhs.get<Tensor>();
  if (a && b && a->isBool() && b->isBool()) {
    auto dims = broadcastShapes(*a, *b, what, range);
    if (!dims)
      return {};
    mlir::Value x = broadcast(*a, *dims, range).value, y = broadcast(*b, *dims, range).value;
    mlir::Location place = location(range);
    if (op == BinaryOp::logicalAnd)
      return Tensor{create<AndOp>(opBuilder, place, x, y), *dims};
    return Tensor{create<OrOp>(opBuilder, place, x, y), *dims};
  }
  // What is known when compiling decides, or leaves the tensor as it is.
  const Value &known = a ? rhs : lhs, &other = a ? lhs : rhs;
  if (const bool *truth = known.get<bool>(); truth && (a ? a : b) && (a ? a : b)->isBool())
    return *truth == (op == BinaryOp::logicalOr) ? known : other;
  error(range, what + " wants truth values, not " + lhs.describe() + " and " + rhs.describe());
  return {};
}

Value TensorBuilder::tensorBinary(ast::BinaryOp op, const Value &lhs, const Value &rhs,
                                  Range range) {
  using ast::BinaryOp;
  std::string what = std::string("`") + spelling(op) + "`";
  const Tensor *a = lhs.get<Tensor>(), *b = rhs.get<Tensor>();
  if (op == BinaryOp::matmul) {
    if (a && b)
      return matmul(*a, *b, range);
    error(range, "`@` wants two tensors, not " + lhs.describe() + " and " + rhs.describe());
    return {};
  }
  if (op == BinaryOp::logicalAnd || op == BinaryOp::logicalOr)
    return logicalBinary(op, lhs, rhs, range);
  if (std::optional<Value> compared = compareTruths(op, lhs, rhs, range))
    return *compared;
  // Small whole powers are products: exact, and their gradient needs no logarithm.
  if (op == BinaryOp::pow && a && a->isFloat() && rhs.isNumber()) {
    if (rhs.number() == 1)
      return lhs;
    if (rhs.number() == 2)
      return tensorBinary(BinaryOp::mul, lhs, lhs, range);
    if (rhs.number() == 3)
      return tensorBinary(BinaryOp::mul, tensorBinary(BinaryOp::mul, lhs, lhs, range), lhs, range);
  }
  // A base that no f32 is keeps its digits in its logarithm, which a large exponent would multiply
  // the error of.
  if (op == BinaryOp::pow && b && b->isFloat() && lhs.isNumber() && lhs.number() > 0 &&
      double(float(lhs.number())) != lhs.number()) {
    Value scaled = tensorBinary(BinaryOp::mul, rhs, std::log(lhs.number()), range);
    const auto *exponent = scaled.get<Tensor>();
    return exponent ? Value(Tensor{ExpOp::create(opBuilder, location(range), exponent->value),
                                   exponent->dims})
                    : Value();
  }
  Tensor left, right;
  if (!unify(lhs, rhs, what, range, left, right))
    return {};
  for (const TensorOperator &candidate : tensorOperators) {
    if (candidate.op != op)
      continue;
    if (left.isFloat() ? candidate.floats : candidate.ints)
      return Tensor{candidate.create(opBuilder, location(range), left.value, right.value),
                    left.dims};
    Diagnostic &report = error(range, what + " wants " + (candidate.floats ? "floats" : "ints") +
                                          ", not " + lhs.describe() + " and " + rhs.describe());
    if (op == BinaryOp::div)
      report.help("`div(a, b)` divides ints; `f32(x)` converts");
    return {};
  }
  llvm_unreachable("an operator without a row");
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The operand of a transposition of the last two dimensions, if `value` is one.
static mlir::Value untransposed(mlir::Value value) {
  auto transpose = value.getDefiningOp<TransposeOp>();
  if (!transpose)
    return nullptr;
  llvm::ArrayRef<int64_t> permutation = transpose.getPermutation();
  int64_t rank = permutation.size();
  for (int64_t i = 0; i < rank - 2; ++i)
    if (permutation[i] != i)
      return nullptr;
  return rank >= 2 && permutation[rank - 2] == rank - 1 ? transpose.getInput() : nullptr;
}

Value TensorBuilder::matmul(const Tensor &lhs, const Tensor &rhs, Range range) {
  auto multiplies = [](const Tensor &tensor) { return tensor.isFloat() || tensor.isLow(); };
  if (!multiplies(lhs) || !multiplies(rhs)) {
    error(range, "`@` wants floats, not " + describe(lhs) + " and " + describe(rhs))
        .help("`f32(x)` converts");
    return {};
  }
  if (lhs.rank() < 2 || rhs.rank() < 2) {
    error(range, "`@` wants tensors of at least two dimensions, not " + describe(lhs) + " and " +
                     describe(rhs))
        .help("`x[new]` makes a row of a vector, `x[:, new]` a column");
    return {};
  }
  const Dim &inner = lhs.dims.back(), &other = rhs.dims[rhs.rank() - 2];
  if (inner.size != other.size) {
    Diagnostic &report =
        error(range, "the shapes of `@` do not fit: " + describe(lhs) + " and " + describe(rhs) +
                         "; the last dimension on the left is " + std::to_string(inner.size) +
                         ", the last but one on the right " + std::to_string(other.size));
    if (rhs.dims.back().size == inner.size)
      report.help("`transpose` the right one?");
    return {};
  }
  bool shared = rhs.rank() == 2 && lhs.rank() > 2;
  Dims lead(lhs.dims.begin(), lhs.dims.end() - 2), rightLead(rhs.dims.begin(), rhs.dims.end() - 2);
  if (!shared && !sameSizes(lead, rightLead)) {
    error(range,
          "the leading dimensions of `@` do not agree: " + describe(lhs) + " and " + describe(rhs));
    return {};
  }
  Dims dims(lhs.dims.begin(), lhs.dims.end() - 1);
  dims.push_back(rhs.dims.back());
  mlir::Value right = untransposed(rhs.value);
  bool transposeRight = right != nullptr;
  if (!right)
    right = rhs.value;
  if (shared) {
    // One product of all rows: the weight is used once, and the tiles may be any.
    Tensor rows = mergeDims(lhs, 0, lhs.rank() - 1, range);
    mlir::Value product =
        MatmulOp::create(opBuilder, location(range), rows.value, right, false, transposeRight);
    Dims rowDims(lhs.dims.begin(), lhs.dims.end() - 1);
    return splitDim({product, {rows.dims[0], rhs.dims.back()}}, 0, rowDims, range);
  }
  mlir::Value left = untransposed(lhs.value);
  bool transposeLeft = left != nullptr;
  if (!left)
    left = lhs.value;
  return Tensor{
      MatmulOp::create(opBuilder, location(range), left, right, transposeLeft, transposeRight),
      dims};
}

//===----------------------------------------------------------------------===//
// Any values
//===----------------------------------------------------------------------===//

Value TensorBuilder::unary(ast::UnaryOp op, const Value &operand, Range range) {
  if (operand.isPoison())
    return {};
  const Tensor *tensor = operand.get<Tensor>();
  bool negates = op == ast::UnaryOp::logicalNot;
  if (tensor && negates && tensor->isBool())
    return Tensor{NotOp::create(opBuilder, location(range), tensor->value), tensor->dims};
  if (tensor && !negates && (tensor->isFloat() || tensor->isInt()))
    return Tensor{NegOp::create(opBuilder, location(range), tensor->value), tensor->dims};
  return staticUnary(op, operand, range, reporter);
}

Value TensorBuilder::binary(ast::BinaryOp op, const Value &lhs, const Value &rhs, Range range) {
  if (lhs.isPoison() || rhs.isPoison())
    return {};
  bool compared = op == ast::BinaryOp::eq || op == ast::BinaryOp::ne;
  bool whetherGiven = compared && (lhs.get<None>() || rhs.get<None>());
  if (whetherGiven || (lhs.isStatic() && rhs.isStatic()))
    return staticBinary(op, lhs, rhs, range, reporter);
  if (lhs.get<Ratio>() || rhs.get<Ratio>())
    return ratioBinary(op, lhs, rhs, range, reporter);
  return tensorBinary(op, lhs, rhs, range);
}

} // namespace weir::elab
