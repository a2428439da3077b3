//===- Shapes.h - Result shapes of ops ----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is inferred and what verifiers expect. None checks its arguments but where it says so.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_SHAPES_H
#define WEIR_IR_WEIR_SHAPES_H

#include "ir/weir/WeirDialect.h"
#include "support/mesh/Layout.h"

namespace weir {

using Shape = llvm::SmallVector<int64_t>;

/// Whether a tensor of that shape has at most so many elements. A size of 0 counts as 1, so that
/// the product of any of the sizes fits too.
bool fits(llvm::ArrayRef<int64_t> shape, int64_t most = mostElements);

/// Whether the type is a tensor of static shape that fits.
bool isWhole(mlir::Type type);

/// What a type lacks to be one of the dialect's tensors ("a static shape"), or "".
std::string missingOfTensor(mlir::Type type);

/// The tensor type of `shape` with the element type of `like`.
mlir::RankedTensorType typeLike(mlir::Value like, llvm::ArrayRef<int64_t> shape);

/// The shape without the dimensions `axes`.
Shape withoutAxes(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axes);
/// The shape without its last dimension.
Shape withoutLast(llvm::ArrayRef<int64_t> shape);
/// The shape with `sizes` in place of `count` dimensions from `first` on.
Shape withReplaced(llvm::ArrayRef<int64_t> shape, int64_t first, int64_t count,
                   llvm::ArrayRef<int64_t> sizes);
Shape transposed(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> permutation);
/// [n, o, h', w']; h' or w' is not positive where the weight does not fit.
Shape convolutionShape(llvm::ArrayRef<int64_t> input, llvm::ArrayRef<int64_t> weight,
                       llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> padding);
/// As above, for windows of the last two dimensions.
Shape poolShape(llvm::ArrayRef<int64_t> input, llvm::ArrayRef<int64_t> window,
                llvm::ArrayRef<int64_t> strides);

/// Emits an error of `op` unless the value has `shape`; `what` names the value.
mlir::LogicalResult expectShape(mlir::Operation *op, llvm::StringRef what, mlir::Value value,
                                llvm::ArrayRef<int64_t> shape);
/// Emits an error of `op` unless its only result has the type that is inferred of the rest, which
/// has been verified.
mlir::LogicalResult expectInferred(mlir::Operation *op);
/// Emits an error of `op` unless the two have one element type.
mlir::LogicalResult expectSameElements(mlir::Operation *op, mlir::Value a, mlir::Value b);
/// A shape as in a tensor type: 2x3, or "scalar".
std::string printed(llvm::ArrayRef<int64_t> shape);

} // namespace weir

#endif
