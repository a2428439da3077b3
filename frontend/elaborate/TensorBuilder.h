//===- TensorBuilder.h - Emits ops on tensors -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits the ops of tensor expressions at the insertion point of a builder, and keeps the names of
// dimensions on the way. What does not fit is reported; poison is silent.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_ELABORATE_TENSORBUILDER_H
#define WEIR_FRONTEND_ELABORATE_TENSORBUILDER_H

#include "frontend/elaborate/Reporter.h"
#include "ir/weir/ElementTypes.h"

#include "mlir/IR/Builders.h"

namespace weir::elab {

class TensorBuilder {
public:
  TensorBuilder(mlir::OpBuilder &builder, Locations &locations, Reporter &reporter)
      : opBuilder(builder), locations(locations), reporter(reporter) {}

  //===--- Constants, types and shapes (TensorBuilder.cpp) ------------------------------------===//

  mlir::Type f32() { return opBuilder.getF32Type(); }
  mlir::Type i32() { return opBuilder.getI32Type(); }
  mlir::Type i1() { return opBuilder.getI1Type(); }
  mlir::Type element(Element element) { return typeOf(opBuilder.getContext(), element); }
  mlir::RankedTensorType type(const Dims &dims, mlir::Type element);
  Value constant(double value, mlir::Type element, const Dims &dims, Range range);
  /// An f32 of rank 0.
  mlir::Value scalar(double value, Range range);
  /// Makes a number an `element` scalar where it may be one: poison, as was reported, where it does
  /// not fit. The tensor, or null, silently, for anything else.
  const Tensor *asTensor(Value &value, mlir::Type element, Range range);
  /// The wider shape of the two, or a report and nothing.
  std::optional<Dims> broadcastShapes(const Tensor &lhs, const Tensor &rhs, const std::string &what,
                                      Range range);
  Tensor broadcast(const Tensor &tensor, const Dims &dims, Range range);
  Tensor cast(const Tensor &tensor, mlir::Type element, Range range);
  /// Both as tensors of one element type and shape, or a report and false. `what` says what for:
  /// "`+`".
  bool unify(const Value &lhs, const Value &rhs, const std::string &what, Range range, Tensor &left,
             Tensor &right);
  Tensor transpose(const Tensor &tensor, llvm::ArrayRef<int64_t> permutation, Range range);
  Tensor splitDim(const Tensor &tensor, int64_t dim, const Dims &into, Range range);
  Tensor mergeDims(const Tensor &tensor, int64_t first, int64_t count, Range range);
  Tensor slice(const Tensor &tensor, int64_t dim, int64_t begin, int64_t end, Range range);
  /// Rows of the first dimension, one per element of `indices`, an i32 tensor.
  Tensor gather(const Tensor &tensor, const Tensor &indices, Range range);
  Tensor reduce(const Tensor &tensor, Reduction kind, llvm::ArrayRef<int64_t> axes, Range range);

  //===--- Operators (Arithmetic.cpp) ---------------------------------------------------------===//

  /// Of any values: what is known when compiling stays so.
  Value unary(ast::UnaryOp op, const Value &operand, Range range);
  Value binary(ast::BinaryOp op, const Value &lhs, const Value &rhs, Range range);
  Value matmul(const Tensor &lhs, const Tensor &rhs, Range range);

private:
  Value tensorBinary(ast::BinaryOp op, const Value &lhs, const Value &rhs, Range range);
  Value logicalBinary(ast::BinaryOp op, const Value &lhs, const Value &rhs, Range range);
  std::optional<Value> compareTruths(ast::BinaryOp op, const Value &lhs, const Value &rhs,
                                     Range range);
  mlir::Location location(Range range) { return locations.at(range); }
  Diagnostic &error(Range range, std::string message) {
    return reporter.error(range, std::move(message));
  }

  mlir::OpBuilder &opBuilder;
  Locations &locations;
  Reporter &reporter;
};

/// The quotient of two i32 tensors of one shape, rounded down; 0 where the divisor is 0.
mlir::Value floorDivision(mlir::OpBuilder &builder, mlir::Location place, mlir::Value lhs,
                          mlir::Value rhs);

} // namespace weir::elab

#endif
