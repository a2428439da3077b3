//===- Decompose.cpp - Composites as plain ops ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/interfaces/Decompose.h"

#include "ir/weir/WeirDialect.h"

using namespace mlir;

namespace weir {
namespace {

struct Decompose : OpInterfaceRewritePattern<Decomposable> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(Decomposable op, PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, op.decompose(rewriter));
    return success();
  }
};

} // namespace

void populateDecomposePatterns(RewritePatternSet &patterns) {
  patterns.add<Decompose>(patterns.getContext());
}

} // namespace weir
