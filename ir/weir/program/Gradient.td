//===- Gradient.td - Gradients before autodiff -------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_GRADIENT_TD
#define WEIR_GRADIENT_TD

include "ir/weir/WeirBase.td"

def Weir_GradientOp : Weir_Op<"gradient", [Pure, InferTypeOpAdaptor]> {
  let summary = "the gradients of a scalar with respect to values it was computed from";
  let description = [{
    The autodiff pass replaces it by the backward computation. A value that the loss does not depend on has gradient zero.
    Through microbatches it is that of a weir.loss, and flows neither through counts nor through what rounds carry on.
    C1: one result of equal type per source.
  }];
  let arguments = (ins Weir_FloatScalar:$loss, Variadic<Weir_FloatTensor>:$sources);
  let results = (outs Variadic<Weir_FloatTensor>:$gradients);
  let assemblyFormat = "$loss `wrt` `(` $sources `)` attr-dict `:` functional-type(operands, $gradients)";
  let hasVerifier = 1;
}

#endif
