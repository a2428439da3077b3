//===- RowBuilder.h - What composites are made of -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_KERNEL_ROWBUILDER_H
#define WEIR_IR_WEIR_KERNEL_ROWBUILDER_H

#include "ir/weir/Shapes.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Selection.h"
#include "ir/weir/elementwise/Unary.h"
#include "ir/weir/product/Product.h"
#include "ir/weir/reduction/Reduction.h"
#include "ir/weir/structure/Structure.h"

namespace weir {

/// Builds elementwise ops and reductions of rows (the last dimension) in place of a composite; sums
/// are kept in its type of them.
struct RowBuilder {
  RowBuilder(mlir::OpBuilder &builder, mlir::Operation *op)
      : builder(builder), loc(op->getLoc()),
        accumulate(op->getAttrOfType<mlir::TypeAttr>("accumulate")) {}

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::TypeAttr accumulate;

  mlir::Value constant(mlir::Value like, double value) {
    return ConstantOp::create(builder, loc, tensorType(like), value);
  }
  mlir::Value add(mlir::Value a, mlir::Value b) { return AddOp::create(builder, loc, a, b); }
  mlir::Value sub(mlir::Value a, mlir::Value b) { return SubOp::create(builder, loc, a, b); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return MulOp::create(builder, loc, a, b); }
  mlir::Value div(mlir::Value a, mlir::Value b) { return DivOp::create(builder, loc, a, b); }
  mlir::Value exp(mlir::Value a) { return ExpOp::create(builder, loc, a); }
  mlir::Value log(mlir::Value a) { return LogOp::create(builder, loc, a); }
  mlir::Value rsqrt(mlir::Value a) { return RsqrtOp::create(builder, loc, a); }
  mlir::Value scaled(mlir::Value a, double factor) {
    return factor == 1 ? a : mul(a, constant(a, factor));
  }

  /// One value for each row, repeated along the rows of `like`, with the value's own element type.
  mlir::Value spread(mlir::Value value, mlir::Value like) {
    auto dimensions = llvm::to_vector(llvm::seq<int64_t>(0, shapeOf(value).size()));
    return BroadcastOp::create(builder, loc, typeLike(value, shapeOf(like)), value, dimensions);
  }
  mlir::Value reduce(mlir::Value a, Reduction kind) {
    auto reduced = ReduceOp::create(builder, loc, a, kind, int64_t(shapeOf(a).size()) - 1);
    if (kind == Reduction::sum)
      reduced.setAccumulateAttr(accumulate);
    return reduced;
  }
  mlir::Value sum(mlir::Value a) { return reduce(a, Reduction::sum); }
  mlir::Value average(mlir::Value a) {
    mlir::Value total = sum(a);
    return div(total, constant(total, double(shapeOf(a).back())));
  }
  mlir::Value iota(mlir::Value like, int64_t dimension) {
    return IotaOp::create(
        builder, loc, mlir::RankedTensorType::get(shapeOf(like), builder.getI32Type()), dimension);
  }
  mlir::Value select(mlir::Value condition, mlir::Value onTrue, mlir::Value onFalse) {
    return SelectOp::create(builder, loc, condition, onTrue, onFalse);
  }
  mlir::Value matmul(mlir::Value a, mlir::Value b, bool transposeLhs, bool transposeRhs) {
    auto product = MatmulOp::create(builder, loc, a, b, transposeLhs, transposeRhs);
    product.setAccumulateAttr(accumulate);
    return product;
  }

  /// Whether an element's column is its row's label.
  mlir::Value isLabel(mlir::Value like, mlir::Value labels) {
    return CompareOp::create(builder, loc, Predicate::eq, iota(like, shapeOf(like).size() - 1),
                             spread(labels, like));
  }
  /// scale * q k^T, and minus infinity where query i may not see key j: j > i + s - t.
  mlir::Value scores(mlir::Value query, mlir::Value key, double scale, bool causal) {
    mlir::Value all = scaled(matmul(query, key, false, true), scale);
    if (!causal)
      return all;
    mlir::Value last = iota(all, 2),
                offset = constant(last, double(shapeOf(key)[2] - shapeOf(query)[2]));
    mlir::Value seen =
        CompareOp::create(builder, loc, Predicate::le, iota(all, 3), add(last, offset));
    return select(seen, all, constant(all, -std::numeric_limits<double>::infinity()));
  }
};

} // namespace weir

#endif
