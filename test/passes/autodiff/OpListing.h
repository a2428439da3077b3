//===- OpListing.h - What every op owes -----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every op of the weir dialect has the interfaces Costed, Castable, Shardable, Lowerable,
// Differentiable and Interpretable, or is listed here with the reason why not; and whatever is
// Differentiable has cases of its own in GradientCases.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_PASSES_AUTODIFF_OPLISTING_H
#define WEIR_TEST_PASSES_AUTODIFF_OPLISTING_H

#include "mlir/IR/MLIRContext.h"
#include "test/passes/autodiff/GradientCases.h"

namespace weir::test {

/// What the registered ops of a dialect owe, in words; empty if nothing. `cases` are the gradient
/// cases there are.
std::vector<std::string> listingFaults(mlir::MLIRContext &context, const std::string &dialect,
                                       const std::vector<OpCase> &cases);

} // namespace weir::test

#endif
