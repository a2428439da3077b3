//===- Cast.td - Elementwise ops that round ----------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CAST_TD
#define WEIR_CAST_TD

include "ir/weir/elementwise/ElementwiseBase.td"

def Weir_CastOp : Weir_ElementwiseOp<"cast", [Differentiated, Simplified]> {
  let rounding = "none";
  let linear = "";
  let fusion = "";
  let members = [{
    /// From a float of low precision: exact, and what is in memory is half as large, or less.
    bool widens();
    /// To a float of low precision.
    bool narrows();
  }];
  let summary = "another element type; to integers by truncation, at most their bounds, NaN to the lowest; from truth values 0 or 1";
  let description = [{
    To a float of low precision it rounds once, to nearest, ties to even; what is too large for one becomes infinite, or NaN in
    f8E4M3FN, which has no infinity.
    C1: the operand and the result have one shape.  C2: beside a float of low precision the other element type is f32 or the
    same.
  }];
  let arguments = (ins Weir_Tensor:$input);
  let results = (outs Weir_Tensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

def Weir_RoundAtRandomOp : Weir_ElementwiseOp<"round_at_random", [SameOperandsAndResultType]> {
  let rounding = "none";
  let summary = "one of the two bf16 beside x, drawn so that x is their mean; as an f32";
  let description = [{
    Of the bits of x as an f32, the lower sixteen are dropped after floor(draw * 65536) was added to them: with a draw that is
    uniform in [0, 1) the mean is x (Croci et al., "Stochastic rounding: implementation, error analysis and applications", 2022; in
    training Zamirai et al., "Revisiting BFloat16 Training", 2021). What is a bf16 stays as it is, and so do infinities
    and NaN. Beyond the largest bf16 there is no other: what is finite becomes that. A draw below 0 or NaN is 0, one from 1 on the last
    below it. A weir.cast of the result to bf16 is exact.
    C1: the operands and the result have one type.
  }];
  let arguments = (ins Weir_FloatTensor:$input, Weir_FloatTensor:$draw);
  let results = (outs Weir_FloatTensor:$result);
  let assemblyFormat = "$input `by` $draw attr-dict `:` type($result)";
}

#endif
