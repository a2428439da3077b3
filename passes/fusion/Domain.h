//===- Domain.h - The iteration domain of a kernel ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PASSES_FUSION_DOMAIN_H
#define WEIR_PASSES_FUSION_DOMAIN_H

#include "ir/weir/WeirDialect.h"

namespace weir {

/// The domain of an outlined kernel, from its body: rows and columns of a row kernel, or the
/// epilogue of a product; null for other shapes.
mlir::Attribute domainOf(KernelOp kernel);

} // namespace weir

#endif
