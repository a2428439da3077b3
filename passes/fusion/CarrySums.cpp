//===- CarrySums.cpp - Sums over microbatches become carried values -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs before fusion, so that each addition fuses with the kernel that computes its summand:
//
//   %s = weir.microbatches .. { weir.yield %x }     ->    %s = weir.microbatches .. carried(zero) {
//                                                         ^(%sum) yield %sum + %x }
//
//===----------------------------------------------------------------------===//

#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Yield.h"
#include "ir/weir/structure/Structure.h"
#include "passes/Passes.h"

namespace weir {
#define GEN_PASS_DEF_CARRYSUMS
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

struct CarrySums : weir::impl::CarrySumsBase<CarrySums> {
  void runOnOperation() override {
    bool any = false;
    getOperation().walk([&](MicrobatchesOp op) {
      any |= op.numSums() > 0;
      carry(op);
    });
    if (!any)
      markAllAnalysesPreserved();
  }

  static void carry(MicrobatchesOp op) {
    unsigned sums = op.numSums();
    if (!sums)
      return;
    OpBuilder builder(op);
    Block &body = op.getBody().front();
    auto yield = cast<YieldOp>(body.getTerminator());
    SmallVector<Value> starts, next;
    for (unsigned i = 0; i < sums; ++i) {
      auto type = tensorType(op.getResult(i));
      TypedAttr zero = builder.getZeroAttr(type.getElementType());
      starts.push_back(ConstantOp::create(builder, op.getLoc(), type, zero));
    }
    unsigned firstCarried = 1 + op.getSliced().size();
    OpBuilder inside(yield);
    for (unsigned i = 0; i < sums; ++i) {
      Value sum = body.insertArgument(firstCarried + i, starts[i].getType(), op.getLoc());
      Value added = yield.getValues()[i];
      next.push_back(AddOp::create(inside, added.getLoc(), sum, added));
    }
    llvm::append_range(next, yield.getValues().drop_front(sums));
    yield.getValuesMutable().assign(next);
    llvm::append_range(starts, op.getCarried());
    op.getCarriedMutable().assign(starts);
  }
};

} // namespace
