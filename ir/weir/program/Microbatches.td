//===- Microbatches.td - Gradient accumulation -------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_MICROBATCHES_TD
#define WEIR_MICROBATCHES_TD

include "ir/weir/WeirBase.td"

def Weir_MicrobatchesOp : Weir_Op<"microbatches", [SingleBlock, AttrSizedOperandSegments, RecursiveMemoryEffects]> {
  let summary = "runs its body once per microbatch, summing some results and carrying others on";
  let description = [{
    The body gets the round (i32), a slice of each of `sliced` (1 / count of the leading dimension, in order) and the carried
    values. It yields first the values to sum over the rounds, then the next carried ones. The op's results are the sums
    and the last carried values. The body may read values from outside.
    C1: count is positive and divides the leading dimensions.  C2: block arguments and yielded types agree with operands
    and results.  C3: it does not stand inside other microbatches.
  }];
  let arguments = (ins I64Attr:$count, Variadic<Weir_Tensor>:$sliced, Variadic<Weir_Tensor>:$carried);
  let results = (outs Variadic<Weir_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{$count `sliced` `(` $sliced `)` `carried` `(` $carried `)` attr-dict
      `:` functional-type(operands, $results) $body}];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    mlir::Value round() { return getBody().front().getArgument(0); }
    unsigned numSums() { return getNumResults() - getCarried().size(); }
  }];
}

#endif
