//===- NumberCollectives.cpp - Numbers collectives alike on all ranks -----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All ranks' programs come from one program, and the passes before this one simplify them alike. So
// they have the same collectives in the same order here.
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
