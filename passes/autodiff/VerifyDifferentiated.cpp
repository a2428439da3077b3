//===- VerifyDifferentiated.cpp - Checks that no gradient op is left ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs after autodiff, because fusion and code generation do not support weir.gradient.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/program/Gradient.h"
#include "passes/Passes.h"

namespace weir {
#define GEN_PASS_DEF_VERIFYDIFFERENTIATED
#include "passes/Passes.h.inc"

namespace {
struct VerifyDifferentiated : impl::VerifyDifferentiatedBase<VerifyDifferentiated> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    getOperation().walk([&](GradientOp gradient) {
      gradient.emitOpError("is left after autodiff");
      signalPassFailure();
    });
  }
};
} // namespace
} // namespace weir
