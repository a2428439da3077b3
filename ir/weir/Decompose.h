//===- Decompose.h - Composites as plain ops ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// normalize, softmax_cross_entropy, attend and their gradients in terms of reductions, elementwise
// ops and products: stable (the largest score is subtracted before exp), and the meaning that fused
// implementations are compared with.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_DECOMPOSE_H
#define WEIR_IR_WEIR_DECOMPOSE_H

#include "mlir/IR/PatternMatch.h"

namespace weir {

/// One pattern for each composite.
void populateDecomposePatterns(mlir::RewritePatternSet &patterns);

} // namespace weir

#endif
