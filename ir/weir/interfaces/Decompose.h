//===- Decompose.h - Composites as plain ops ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every Decomposable op in terms of reductions, elementwise ops and products.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_INTERFACES_DECOMPOSE_H
#define WEIR_IR_WEIR_INTERFACES_DECOMPOSE_H

#include "mlir/IR/PatternMatch.h"

namespace weir {

/// The pattern that takes a composite apart.
void populateDecomposePatterns(mlir::RewritePatternSet &patterns);

} // namespace weir

#endif
