//===- Elements.h - Building scalars and loops --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the implementations of Lowerable and Pointwise build with. Index arithmetic folds where it
// is trivial, so that loops over dimensions of size 1 and products with stride 1 leave nothing
// behind.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_INTERFACES_ELEMENTS_H
#define WEIR_IR_WEIR_INTERFACES_ELEMENTS_H

#include "ir/weir/Shapes.h"

namespace weir {

/// The type of a scalar of a tensor's elements: signless, ui8 as i8.
mlir::Type scalarType(mlir::Type element);

/// What a reduction starts from: 0, or the least or greatest number of the type.
double reductionIdentity(Reduction kind, mlir::Type type);

/// On the two constants, low word and high, that are the key of a random number: (key, 0 or 1). A
/// kernel may be made to take them from somewhere else.
constexpr llvm::StringLiteral randomKeyWordName = "weir.random_key_word";

struct Scalars {
  mlir::OpBuilder &builder;
  mlir::Location loc;

  Scalars(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  mlir::Value constant(mlir::Type type, double value);
  /// A float constant.
  mlir::Value f32(double value) { return constant(builder.getF32Type(), value); }
  mlir::Value index(int64_t value);

  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a, mlir::Value b);
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b);
  /// Whether a is the larger element, of scalars or vectors: NaN is larger than all numbers, so
  /// that where a maximum is NaN its place is that of the first one.
  mlir::Value larger(mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value onTrue, mlir::Value onFalse);

  mlir::Value addf(mlir::Value a, mlir::Value b);
  mlir::Value subf(mlir::Value a, mlir::Value b);
  mlir::Value mulf(mlir::Value a, mlir::Value b);
  mlir::Value divf(mlir::Value a, mlir::Value b);
  /// The f32 that a scalar of a tensor of `element` is: of a float of low precision, from its bits.
  mlir::Value widened(mlir::Value scalar, mlir::Type element);
  /// Of elements of the first two operands of an op.
  mlir::Value product(mlir::Operation *op, mlir::Value left, mlir::Value right);
  mlir::Value exp(mlir::Value a);
  mlir::Value log(mlir::Value a);

  /// On index values, folded.
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, int64_t b);
  mlir::Value div(mlir::Value a, int64_t b);
  mlir::Value rem(mlir::Value a, int64_t b);
  mlir::Value ceilDiv(mlir::Value a, int64_t b);
  mlir::Value max(mlir::Value a, mlir::Value b);
  mlir::Value min(mlir::Value a, mlir::Value b);
  /// What `read` makes of the index that an i32 is, or 0 where it is none of [0, size).
  mlir::Value readInside(mlir::Value integer, int64_t size,
                         llvm::function_ref<mlir::Value(mlir::Value index)> read);

  /// The row-major position of indices in a shape, and the indices of a position.
  mlir::Value linear(mlir::ValueRange indices, llvm::ArrayRef<int64_t> shape);
  llvm::SmallVector<mlir::Value> delinear(mlir::Value position, llvm::ArrayRef<int64_t> shape);

  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange indices,
                                                                 mlir::ValueRange carried)>;
  /// A nest of loops over [low, high) of every dimension, the last innermost, carrying values
  /// along.
  llvm::SmallVector<mlir::Value> loops(llvm::ArrayRef<std::pair<mlir::Value, mlir::Value>> bounds,
                                       mlir::ValueRange initial, Body body);
  /// The same from 0 to each size.
  llvm::SmallVector<mlir::Value> loops(llvm::ArrayRef<int64_t> sizes, mlir::ValueRange initial,
                                       Body body);

  using Term = llvm::function_ref<mlir::Value(mlir::ValueRange indices)>;
  /// The sum of a float term, in the order of the loops.
  mlir::Value sum(llvm::ArrayRef<std::pair<mlir::Value, mlir::Value>> bounds, Term term);
  mlir::Value sum(llvm::ArrayRef<int64_t> sizes, Term term);
};

} // namespace weir

#endif
