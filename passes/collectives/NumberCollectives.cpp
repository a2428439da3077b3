//===- NumberCollectives.cpp - The number of a collective on all ranks ----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranks' programs are made from one, and have been simplified alike, so that they have the same
// collectives in the same order here.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Collectives.h"
#include "passes/Passes.h"

namespace weir {
#define GEN_PASS_DEF_NUMBERCOLLECTIVES
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

struct NumberCollectives : weir::impl::NumberCollectivesBase<NumberCollectives> {
  void runOnOperation() override {
    Builder builder(&getContext());
    int64_t number = 0;
    getOperation().walk([&](Operation *op) {
      if (isCollective(op))
        op->setAttr(numberAttrName, builder.getI64IntegerAttr(++number));
    });
  }
};

} // namespace
