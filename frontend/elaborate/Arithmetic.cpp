//===- Arithmetic.cpp - Operators on tensors --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Elaborator.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/elementwise/Selection.h"
#include "ir/weir/elementwise/Unary.h"
#include "ir/weir/product/Product.h"
#include "ir/weir/reduction/Reduction.h"
#include "ir/weir/structure/Structure.h"

#include <cmath>

namespace weir::elab {

mlir::RankedTensorType Elaborator::type(const Dims &dims, mlir::Type element) {
  return mlir::RankedTensorType::get(sizes(dims), element);
}

Value Elaborator::constant(double value, mlir::Type element, const Dims &dims, Range range) {
  mlir::TypedAttr attribute;
  if (element.isF32()) {
    if (!fitsFloat(value)) {
      error(range, "the number " + describe(value) + " does not fit into an f32");
      return {};
    }
    // As the C compiler rounds: to the nearest float.
    attribute = opBuilder.getF32FloatAttr(static_cast<float>(value));
  } else if (element.isInteger(1)) {
    attribute = opBuilder.getBoolAttr(value != 0);
  } else {
    if (value < INT32_MIN || value > INT32_MAX) {
      // The largest int is 2^63 as a double, which is none.
      int64_t number = value >= 0x1p63 ? INT64_MAX : int64_t(value);
      error(range, "the int " + std::to_string(number) + " does not fit into an i32");
      return {};
    }
    attribute = opBuilder.getI32IntegerAttr(int32_t(value));
  }
  return Tensor{ConstantOp::create(opBuilder, location(range), type(dims, element), attribute),
                dims};
}

const Tensor *Elaborator::asTensor(Value &value, mlir::Type element, Range range) {
  if (value.isNumber() && (element.isF32() || value.get<int64_t>()))
    value = constant(value.number(), element, {}, range);
  return value.get<Tensor>();
}

std::optional<Dims> Elaborator::broadcastShapes(const Tensor &lhs, const Tensor &rhs,
                                                const std::string &what, Range range) {
  size_t rank = std::max(lhs.dims.size(), rhs.dims.size());
  Dims result(rank);
  for (size_t i = 1; i <= rank; ++i) {
    const Dim *a = i <= lhs.dims.size() ? &lhs.dims[lhs.dims.size() - i] : nullptr;
    const Dim *b = i <= rhs.dims.size() ? &rhs.dims[rhs.dims.size() - i] : nullptr;
    if (!a || !b) {
      result[rank - i] = a ? *a : *b;
    } else if (a->size == b->size) {
      result[rank - i] = a->name.empty() ? *b : *a;
    } else if (a->size == 1 || b->size == 1) {
      result[rank - i] = a->size == 1 ? *b : *a;
    } else {
      std::string place = i == 1 ? "last dimension"
                                 : std::to_string(i) +
                                       (i == 2   ? "nd"
                                        : i == 3 ? "rd"
                                                 : "th") +
                                       " dimension from the end";
      Diagnostic &report =
          error(range, "the shapes of " + what + " do not fit: " + describe(lhs) + " and " +
                           describe(rhs) + "; the " + place + " is " + std::to_string(a->size) +
                           " and " + std::to_string(b->size));
      for (const Dim *dim : {a, b})
        if (dim->bound.valid() && !dim->name.empty())
          report.note(dim->bound, "`" + dim->name + "` is " + std::to_string(dim->size) +
                                      (dim->boundBy.empty() ? "" : ", bound by " + dim->boundBy));
      return std::nullopt;
    }
  }
  return result;
}

Tensor Elaborator::broadcast(const Tensor &tensor, const Dims &dims, Range range) {
  if (sameSizes(tensor.dims, dims))
    return {tensor.value, dims};
  llvm::SmallVector<int64_t> dimensions;
  size_t offset = dims.size() - tensor.dims.size();
  for (size_t i = 0; i < tensor.dims.size(); ++i)
    dimensions.push_back(offset + i);
  return {BroadcastOp::create(opBuilder, location(range), type(dims, tensor.element()),
                              tensor.value, dimensions),
          dims};
}

Tensor Elaborator::cast(const Tensor &tensor, mlir::Type element, Range range) {
  if (tensor.element() == element)
    return tensor;
  bool byF32 = tensor.isLow() || (isLow(element) && !tensor.isFloat());
  if (byF32 && !element.isF32())
    return cast(cast(tensor, f32(), range), element, range);
  return {CastOp::create(opBuilder, location(range), type(tensor.dims, element), tensor.value),
          tensor.dims};
}

bool Elaborator::unify(const Value &lhs, const Value &rhs, const std::string &what, Range range,
                       Tensor &left, Tensor &right) {
  const Tensor *a = lhs.get<Tensor>(), *b = rhs.get<Tensor>();
  for (const Value *value : {&lhs, &rhs}) {
    if (value->get<Tensor>() || value->isNumber())
      continue;
    if (!value->isPoison())
      error(range, what + " wants numbers or tensors, not " + value->describe());
    return false;
  }
  assert((a || b) && "two numbers are not for unify");
  for (const Tensor *tensor : {a, b}) {
    if (!tensor || tensor->isFloat() || tensor->isInt())
      continue;
    error(range, what + " wants numbers, not " + describe(*tensor))
        .help("`f32(x)` and `i32(x)` convert");
    return false;
  }
  if (a && b) {
    if (a->element() != b->element()) {
      error(range,
            what + " wants equal element types, not " + describe(*a) + " and " + describe(*b))
          .help("`f32(x)` and `i32(x)` convert");
      return false;
    }
    auto dims = broadcastShapes(*a, *b, what, range);
    if (!dims)
      return false;
    left = broadcast(*a, *dims, range);
    right = broadcast(*b, *dims, range);
    return true;
  }
  const Tensor &tensor = a ? *a : *b;
  const Value &number = a ? rhs : lhs;
  if (tensor.isInt() && !number.get<int64_t>()) {
    error(range,
          what + " wants equal element types, not " + lhs.describe() + " and " + rhs.describe())
        .help("`f32(x)` converts");
    return false;
  }
  Value splat = constant(number.number(), tensor.element(), tensor.dims, range);
  if (!splat.get<Tensor>())
    return false;
  left = a ? *a : *splat.get<Tensor>();
  right = b ? *b : *splat.get<Tensor>();
  return true;
}

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
std::optional<Value> Elaborator::compareTruths(ast::BinaryOp op, const Value &lhs, const Value &rhs,
                                               Range range) {
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

Value Elaborator::tensorBinary(ast::BinaryOp op, const Value &lhs, const Value &rhs, Range range) {
  using ast::BinaryOp;
  std::string what = std::string("`") + spelling(op) + "`";
  const Tensor *a = lhs.get<Tensor>(), *b = rhs.get<Tensor>();
  if (op == BinaryOp::matmul) {
    if (a && b)
      return matmul(*a, *b, range);
    error(range, "`@` wants two tensors, not " + lhs.describe() + " and " + rhs.describe());
    return {};
  }
  if (op == BinaryOp::logicalAnd || op == BinaryOp::logicalOr) {
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
// Layout
//===----------------------------------------------------------------------===//

Tensor Elaborator::transpose(const Tensor &tensor, llvm::ArrayRef<int64_t> permutation,
                             Range range) {
  Dims dims;
  for (int64_t from : permutation)
    dims.push_back(tensor.dims[from]);
  return {TransposeOp::create(opBuilder, location(range), tensor.value, permutation), dims};
}

Tensor Elaborator::splitDim(const Tensor &tensor, int64_t dim, const Dims &into, Range range) {
  Dims dims(tensor.dims.begin(), tensor.dims.begin() + dim);
  dims.insert(dims.end(), into.begin(), into.end());
  dims.insert(dims.end(), tensor.dims.begin() + dim + 1, tensor.dims.end());
  return {SplitDimOp::create(opBuilder, location(range), tensor.value, dim, sizes(into)), dims};
}

Tensor Elaborator::mergeDims(const Tensor &tensor, int64_t first, int64_t count, Range range) {
  Dim merged = unnamed(1);
  for (int64_t i = first; i < first + count; ++i)
    merged = count == 1 || merged.size == 1 ? (tensor.dims[i].size == 1 ? merged : tensor.dims[i])
                                            : unnamed(merged.size * tensor.dims[i].size);
  Dims dims(tensor.dims.begin(), tensor.dims.begin() + first);
  dims.push_back(merged);
  dims.insert(dims.end(), tensor.dims.begin() + first + count, tensor.dims.end());
  return {MergeDimsOp::create(opBuilder, location(range), tensor.value, first, count), dims};
}

Tensor Elaborator::slice(const Tensor &tensor, int64_t dim, int64_t begin, int64_t end,
                         Range range) {
  if (begin == 0 && end == tensor.dims[dim].size)
    return tensor;
  Dims dims = tensor.dims;
  dims[dim] = unnamed(end - begin);
  llvm::SmallVector<int64_t> offsets(dims.size(), 0), strides(dims.size(), 1);
  offsets[dim] = begin;
  return {SliceOp::create(opBuilder, location(range), type(dims, tensor.element()), tensor.value,
                          offsets, strides),
          dims};
}

Tensor Elaborator::reduce(const Tensor &tensor, Reduction kind, llvm::ArrayRef<int64_t> axes,
                          Range range) {
  if (axes.empty())
    return tensor;
  Dims dims;
  for (int64_t i = 0; i < tensor.rank(); ++i)
    if (!llvm::is_contained(axes, i))
      dims.push_back(tensor.dims[i]);
  return {ReduceOp::create(opBuilder, location(range), tensor.value, kind, axes), dims};
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

Value Elaborator::matmul(const Tensor &lhs, const Tensor &rhs, Range range) {
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

} // namespace weir::elab
