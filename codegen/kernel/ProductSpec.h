//===- ProductSpec.h - A product as a library call ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CODEGEN_KERNEL_PRODUCTSPEC_H
#define WEIR_CODEGEN_KERNEL_PRODUCTSPEC_H

#include "codegen/Target.h"
#include "support/spec/Product.h"

namespace weir {

struct ProductCall {
  spec::Product spec;                     ///< but for its tiles
  llvm::SmallVector<mlir::Value> buffers; ///< but for those of scales
  /// Where the numbers are that scale it: a buffer of f32, and which element.
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> scales;
  mlir::Location loc;
};

/// The lines of the ops that a call computes, the product's or convolution's first.
mlir::Location locationsOf(KernelOp kernel);

/// What multiplies as a product kernel says. Fails with an error where its factors are not in
/// memory.
mlir::FailureOr<ProductCall> productCall(KernelOp kernel, const CallBuffers &operands);

} // namespace weir

#endif
