//===- Index.h - Index arithmetic with known ranges -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Views are lowered to index arithmetic full of divisions and remainders, most of which cancel once
// the sizes of the loops are known. IndexSpace reads index values back as affine expressions over
// symbols (loop variables and whatever else is not affine), simplifies them within the symbols'
// ranges, and writes them out again.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_KERNEL_INDEX_H
#define WEIR_CODEGEN_KERNEL_INDEX_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace weir {

/// Inclusive bounds.
struct IndexRange {
  int64_t low, high;
};

class IndexSpace {
public:
  explicit IndexSpace(mlir::MLIRContext *context) : context(context) {}

  /// States that 0 <= value < size. The variables of loops with constant bounds need no such
  /// statement.
  mlir::AffineExpr declare(mlir::Value value, int64_t size);

  /// Lets a symbol that `declare` made stand for another value of the same range.
  void rebind(mlir::AffineExpr symbol, mlir::Value value);

  /// The factor of a symbol in an expression that is linear in it, and none for any other
  /// expression.
  static std::optional<int64_t> strideIn(mlir::AffineExpr expr, mlir::AffineExpr symbol);

  /// The expression of an index value, simplified.
  mlir::AffineExpr exprOf(mlir::Value index);

  mlir::AffineExpr simplify(mlir::AffineExpr expr);

  /// The row-major position of indices in a shape.
  mlir::AffineExpr linearize(llvm::ArrayRef<mlir::AffineExpr> indices,
                             llvm::ArrayRef<int64_t> shape);
  /// Its inverse.
  llvm::SmallVector<mlir::AffineExpr> delinearize(mlir::AffineExpr position,
                                                  llvm::ArrayRef<int64_t> shape);

  /// Whether all of an expression is defined outside of a region.
  bool isOutside(mlir::AffineExpr expr, mlir::Region &region);

  mlir::Value materialize(mlir::OpBuilder &builder, mlir::Location loc, mlir::AffineExpr expr);

  mlir::AffineExpr constant(int64_t value) { return mlir::getAffineConstantExpr(value, context); }

private:
  struct Symbol {
    mlir::Value value;
    std::optional<IndexRange> range;
  };

  mlir::AffineExpr symbolOf(mlir::Value value, std::optional<IndexRange> range);
  mlir::AffineExpr read(mlir::Value index);
  mlir::AffineExpr divide(mlir::AffineExpr expr, int64_t divisor, bool remainder);
  std::optional<IndexRange> rangeOf(mlir::AffineExpr expr);

  mlir::MLIRContext *context;
  llvm::SmallVector<Symbol> symbols;
  llvm::DenseMap<mlir::Value, mlir::AffineExpr> known;
};

} // namespace weir

#endif
