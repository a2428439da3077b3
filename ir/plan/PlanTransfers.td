//===- PlanTransfers.td - What one rank gives another -------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ends of transfers, as actions of a plan. They are apart from the others: few know of them.
//
//===----------------------------------------------------------------------===//

#ifndef PLAN_TRANSFERS_TD
#define PLAN_TRANSFERS_TD

include "ir/plan/PlanOps.td"

// The other end is the rank at `peer` along the axis, and where this one is along all others. What is sent under a number in a `round` (a
// microbatch) is received under the same, and who sends does not wait for it. `size` bytes are elements of that type.
class Plan_TransferOp<string mnemonic, string text> : Plan_ActionOp<mnemonic> {
  let summary = text;
  let description = [{
    C1: it has a size, of whole elements of a type of the weir dialect.  C2: peer, number and round are numbers of 32 bits, and the number
    is positive.
  }];
  let arguments = (ins Plan_Buffer:$buffer, I64Attr:$size, TypeAttr:$element, StrAttr:$axis, I64Attr:$peer, I64Attr:$number,
                       I64Attr:$round, Plan_Queue:$queue);
  let assemblyFormat = [{$buffer $size `of` $element `over` $axis `peer` $peer `number` $number `round` $round attr-dict
      `:` type($buffer)}];
  let hasVerifier = 1;
}
def Plan_SendOp : Plan_TransferOp<"send", "gives bytes to another rank">;
def Plan_ReceiveOp : Plan_TransferOp<"receive", "gets bytes that another rank sends">;

#endif
