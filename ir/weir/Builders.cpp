//===- Builders.cpp - Builders that infer result types ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arguments that break an op's constraints are our own faults: asserts, where inference would read
// out of bounds.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Shapes.h"

using namespace mlir;

namespace weir {

void ConstantOp::build(OpBuilder &builder, OperationState &state, RankedTensorType type,
                       double value) {
  Type element = type.getElementType();
  TypedAttr scalar = isa<FloatType>(element)
                         ? TypedAttr(builder.getFloatAttr(element, value))
                         : TypedAttr(builder.getIntegerAttr(element, int64_t(value)));
  build(builder, state, type, scalar);
}

void CompareOp::build(OpBuilder &builder, OperationState &state, Predicate predicate, Value lhs,
                      Value rhs) {
  build(builder, state, RankedTensorType::get(shapeOf(lhs), builder.getI1Type()), predicate, lhs,
        rhs);
}

void TransposeOp::build(OpBuilder &builder, OperationState &state, Value input,
                        ArrayRef<int64_t> permutation) {
  build(builder, state, typeLike(input, transposed(shapeOf(input), permutation)), input,
        permutation);
}

void SplitDimOp::build(OpBuilder &builder, OperationState &state, Value input, int64_t dimension,
                       ArrayRef<int64_t> sizes) {
  build(builder, state, typeLike(input, withReplaced(shapeOf(input), dimension, 1, sizes)), input,
        dimension, sizes);
}

void MergeDimsOp::build(OpBuilder &builder, OperationState &state, Value input, int64_t first,
                        int64_t count) {
  int64_t size = llvm::product_of(shapeOf(input).slice(first, count));
  build(builder, state, typeLike(input, withReplaced(shapeOf(input), first, count, size)), input,
        first, count);
}

void ConcatOp::build(OpBuilder &builder, OperationState &state, ValueRange inputs,
                     int64_t dimension) {
  Shape shape(shapeOf(inputs.front()));
  for (Value input : inputs.drop_front())
    shape[dimension] += shapeOf(input)[dimension];
  build(builder, state, typeLike(inputs.front(), shape), inputs, dimension);
}

void GatherOp::build(OpBuilder &builder, OperationState &state, Value table, Value indices) {
  Shape shape(shapeOf(indices));
  auto row = shapeOf(table).drop_front();
  shape.append(row.begin(), row.end());
  build(builder, state, typeLike(table, shape), table, indices);
}

void ReduceOp::build(OpBuilder &builder, OperationState &state, Value input, Reduction kind,
                     ArrayRef<int64_t> axes) {
  build(builder, state, typeLike(input, withoutAxes(shapeOf(input), axes)), input, kind, axes,
        TypeAttr());
}

void ArgMaxOp::build(OpBuilder &builder, OperationState &state, Value input, int64_t axis) {
  build(builder, state,
        RankedTensorType::get(withoutAxes(shapeOf(input), axis), builder.getI32Type()), input,
        axis);
}

void MatmulOp::build(OpBuilder &builder, OperationState &state, Value lhs, Value rhs,
                     bool transposeLhs, bool transposeRhs) {
  build(builder, state,
        typeLike(lhs, matmulShape(shapeOf(lhs), shapeOf(rhs), transposeLhs, transposeRhs)), lhs,
        rhs, transposeLhs, transposeRhs, TypeAttr());
}

void ConvolutionOp::build(OpBuilder &builder, OperationState &state, Value input, Value weight,
                          ArrayRef<int64_t> strides, ArrayRef<int64_t> padding) {
  build(builder, state,
        typeLike(input, convolutionShape(shapeOf(input), shapeOf(weight), strides, padding)), input,
        weight, strides, padding, TypeAttr());
}

void MaxPoolOp::build(OpBuilder &builder, OperationState &state, Value input,
                      ArrayRef<int64_t> window, ArrayRef<int64_t> strides) {
  build(builder, state, typeLike(input, poolShape(shapeOf(input), window, strides)), input, window,
        strides);
}

void NormalizeOp::build(OpBuilder &builder, OperationState &state, Value input, double eps) {
  Type statistic = typeLike(input, withoutLast(shapeOf(input)));
  build(builder, state, {input.getType(), statistic, statistic}, input,
        builder.getF64FloatAttr(eps), TypeAttr());
}

void SoftmaxCrossEntropyOp::build(OpBuilder &builder, OperationState &state, Value logits,
                                  Value labels) {
  Type loss = typeLike(logits, withoutLast(shapeOf(logits)));
  build(builder, state, loss, loss, logits, labels, TypeAttr());
}

void AttendOp::build(OpBuilder &builder, OperationState &state, Value query, Value key, Value value,
                     double scale, bool causal) {
  build(builder, state, query.getType(), typeLike(query, withoutLast(shapeOf(query))), query, key,
        value, builder.getF64FloatAttr(scale), causal ? builder.getUnitAttr() : UnitAttr(),
        TypeAttr());
}

void GradientOp::build(OpBuilder &builder, OperationState &state, Value loss, ValueRange sources) {
  build(builder, state, TypeRange(sources), loss, sources);
}

} // namespace weir
