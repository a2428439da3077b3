//===- GradientFormula.h - Gradients written as formulas ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arithmetic on tensors that builds weir ops, so that a vjp reads like the formula in a book. All
// ops get the location of the op that is being differentiated, and elementwise ones its `compute`.
// Operands of one formula have one type; a number stands for the tensor that is that number
// everywhere.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_INTERFACES_GRADIENTFORMULA_H
#define WEIR_IR_WEIR_INTERFACES_GRADIENTFORMULA_H

#include "ir/weir/ElementTypes.h"
#include "ir/weir/WeirDialect.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/elementwise/Selection.h"
#include "ir/weir/elementwise/Unary.h"
#include "ir/weir/structure/Structure.h"

namespace weir {

/// A value in a formula.
class Term {
public:
  Term(mlir::OpBuilder &builder, mlir::Location location, mlir::TypeAttr compute, mlir::Value value)
      : builder(&builder), location(location), compute(compute), value(value) {}
  operator mlir::Value() const { return value; }

  Term operator-() const { return make<NegOp>(value); }
  friend Term operator+(Term a, Term b) { return a.make<AddOp>(a.value, b.value); }
  friend Term operator-(Term a, Term b) { return a.make<SubOp>(a.value, b.value); }
  friend Term operator*(Term a, Term b) { return a.make<MulOp>(a.value, b.value); }
  friend Term operator/(Term a, Term b) { return a.make<DivOp>(a.value, b.value); }
  friend Term operator-(double a, Term b) { return b.number(a) - b; }
  friend Term operator+(Term a, double b) { return a + a.number(b); }
  friend Term operator-(Term a, double b) { return a - a.number(b); }
  friend Term operator*(double a, Term b) { return b.number(a) * b; }
  friend Term operator/(Term a, double b) { return a / a.number(b); }
  friend Term exp(Term x) { return x.make<ExpOp>(x.value); }
  friend Term log(Term x) { return x.make<LogOp>(x.value); }
  friend Term sigmoid(Term x) { return x.make<SigmoidOp>(x.value); }
  friend Term sin(Term x) { return x.make<SinOp>(x.value); }
  friend Term cos(Term x) { return x.make<CosOp>(x.value); }
  friend Term sign(Term x) { return x.make<SignOp>(x.value); }
  friend Term pow(Term a, Term b) { return a.make<PowOp>(a.value, b.value); }

  /// A truth value per element, for select.
  friend Term compare(Predicate predicate, Term a, Term b) {
    return Term(*a.builder, a.location, a.compute,
                CompareOp::create(*a.builder, a.location, predicate, a.value, b.value));
  }
  friend Term select(Term condition, Term onTrue, Term onFalse) {
    return Term(*onTrue.builder, onTrue.location, onTrue.compute,
                SelectOp::create(*onTrue.builder, onTrue.location, condition.value, onTrue.value,
                                 onFalse.value));
  }

  /// The tensor of this one's type that is `number` everywhere.
  Term number(double number) const {
    mlir::Type element = tensorType(value).getElementType();
    return Term(*builder, location, compute,
                ConstantOp::create(*builder, location, value.getType(),
                                   builder->getFloatAttr(element, number)));
  }

private:
  template <class Op, class... Operands> Term make(Operands... operands) const {
    return Term(*builder, location, compute, Op::create(*builder, location, operands..., compute));
  }

  mlir::OpBuilder *builder;
  mlir::Location location;
  mlir::TypeAttr compute;
  mlir::Value value;
};

/// The values of one vjp as terms.
///
/// Cotangents of floats of low precision are f32: nothing is rounded that the model does not round.
class Formula {
public:
  Formula(mlir::OpBuilder &builder, mlir::Operation *op)
      : builder(builder), location(op->getLoc()),
        compute(op->getAttrOfType<mlir::TypeAttr>("compute")) {}
  Term operator()(mlir::Value value) const { return Term(builder, location, compute, value); }

  /// Any other op, by its own create() arguments after builder and location.
  template <class Op, class... Arguments> Term build(Arguments &&...arguments) const {
    return (*this)(Op::create(builder, location, std::forward<Arguments>(arguments)...));
  }

  mlir::OpBuilder &builder;
  const mlir::Location location;
  const mlir::TypeAttr compute;
};

/// What a product multiplies a cotangent as, beside a factor: where that is of low precision the
/// cotangent is rounded to its type, or to f8E5M2, since gradients want its range.
inline mlir::Value asFactor(Formula t, mlir::Value cotangent, mlir::Value factor) {
  mlir::Type element = tensorType(factor).getElementType();
  if (!isLow(element))
    return cotangent;
  if (element.getIntOrFloatBitWidth() == 8)
    element = mlir::Float8E5M2Type::get(element.getContext());
  return t.build<CastOp>(tensorType(cotangent).clone(element), cotangent);
}

/// Repeats a value along the axes that a reduction of a `shaped` tensor removed.
inline Term spread(Formula t, mlir::Value value, mlir::ShapedType shaped,
                   llvm::ArrayRef<int64_t> axes) {
  llvm::SmallVector<int64_t> kept;
  for (int64_t d = 0; d < shaped.getRank(); ++d)
    if (!llvm::is_contained(axes, d))
      kept.push_back(d);
  return t.build<BroadcastOp>(shaped, value, llvm::ArrayRef<int64_t>(kept));
}

/// Repeats a value per row along the last dimension of `like`.
inline Term spreadRow(Formula t, mlir::Value value, mlir::Value like) {
  return spread(t, value, tensorType(like), static_cast<int64_t>(shapeOf(like).size()) - 1);
}

/// A sum where either part may be missing.
inline mlir::Value plus(Formula t, mlir::Value a, mlir::Value b) {
  if (!a || !b)
    return a ? a : b;
  return t(a) + t(b);
}

} // namespace weir

#endif
