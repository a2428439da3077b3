//===- StridedView.h - Layout ops as strides ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Transposes, slices, splits, merges and broadcasts of a tensor in memory are often just other
// strides over it: a product or an attention kernel then reads and writes through them, and nothing
// is copied.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_STRIDEDVIEW_H
#define WEIR_CODEGEN_STRIDEDVIEW_H

#include "ir/weir/WeirDialect.h"

#include <optional>

namespace weir {

/// Strides over `base`, which is row-major; its elements may be narrower than the value's.
struct StridedView : Strides {
  mlir::Value base;
};

/// Follows `value` through layout ops as far as strides express them, and through casts that widen.
/// At worst the base is `value` itself.
StridedView stridedView(mlir::Value value);

/// Where to store `result` so that `outer`, which is made of it by layout ops and casts that narrow
/// alone, is complete in its memory (`base` is `outer`). With a concat on the way, or a sum of pads
/// that do not overlap, the other parts complete it. None where strides do not express it, or
/// `outer` is not made of `result` in that way.
std::optional<StridedView> stridedDestination(mlir::Value outer, mlir::Value result);

} // namespace weir

#endif
