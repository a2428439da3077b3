//===- Yield.td - The end of a region ----------------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_YIELD_TD
#define WEIR_YIELD_TD

include "ir/weir/WeirBase.td"

def Weir_YieldOp : Weir_Op<"yield", [Terminator, Pure, ParentOneOf<["MicrobatchesOp", "KernelOp"]>]> {
  let summary = "the results of a region";
  let description = "C1: it ends the region of microbatches or of a kernel.";
  let arguments = (ins Variadic<Weir_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif
