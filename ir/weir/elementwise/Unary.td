//===- Unary.td - Elementwise ops of one operand -----------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_UNARY_TD
#define WEIR_UNARY_TD

include "ir/weir/elementwise/ElementwiseBase.td"

def Weir_NegOp : Weir_UnaryOp<"neg", Weir_NumberTensor, "-x", [Differentiated, Simplified]> { let rounding = "none"; let linear = "together"; }
def Weir_AbsOp : Weir_UnaryOp<"abs", Weir_NumberTensor, "|x|; the gradient at 0 is 0", [Differentiated]> { let rounding = "none"; }
def Weir_ExpOp : Weir_UnaryOp<"exp", Weir_FloatTensor, "e^x", [Differentiated]> { let elementary = 1; }
def Weir_Expm1Op : Weir_UnaryOp<"expm1", Weir_FloatTensor, "e^x - 1, with all digits of a small x", [Differentiated]> { let elementary = 1; }
def Weir_LogOp : Weir_UnaryOp<"log", Weir_FloatTensor, "natural logarithm", [Differentiated]> { let elementary = 1; }
def Weir_Log1pOp : Weir_UnaryOp<"log1p", Weir_FloatTensor, "log(1 + x), with all digits of a small x", [Differentiated]> { let elementary = 1; }
def Weir_SqrtOp : Weir_UnaryOp<"sqrt", Weir_FloatTensor, "square root", [Differentiated]>;
def Weir_RsqrtOp : Weir_UnaryOp<"rsqrt", Weir_FloatTensor, "1 / sqrt(x)", [Differentiated]>;
def Weir_TanhOp : Weir_UnaryOp<"tanh", Weir_FloatTensor, "hyperbolic tangent", [Differentiated]> { let elementary = 1; }
def Weir_SigmoidOp : Weir_UnaryOp<"sigmoid", Weir_FloatTensor, "1 / (1 + e^-x)", [Differentiated]> { let elementary = 1; }
def Weir_NormalCdfOp : Weir_UnaryOp<"normal_cdf", Weir_FloatTensor, "the standard normal distribution function, erfc(-x / sqrt(2)) / 2", [Differentiated]> { let elementary = 1; }
def Weir_SinOp : Weir_UnaryOp<"sin", Weir_FloatTensor, "sine", [Differentiated]> { let elementary = 1; }
def Weir_CosOp : Weir_UnaryOp<"cos", Weir_FloatTensor, "cosine", [Differentiated]> { let elementary = 1; }
def Weir_ErfOp : Weir_UnaryOp<"erf", Weir_FloatTensor, "error function", [Differentiated]> { let elementary = 1; }
def Weir_SignOp : Weir_FlatOp<"sign", "-1, 0 or 1; the gradient is 0">;
def Weir_FloorOp : Weir_FlatOp<"floor", "the next lower integer; the gradient is 0">;
def Weir_PowerOfTwoOp : Weir_FlatOp<"power_of_two", "the largest power of two that is at most |x|; the gradient is 0"> {
  let description = [{
    What is below 2^-126, the least normal f32, gives 0; what is not finite gives infinity. So what is multiplied with a result
    that is neither keeps its digits.
    C1: the operand and the result have one type.  C2: `compute` is f32, f16 or bf16, of an op on floats.
  }];
}
def Weir_StopGradientOp : Weir_FlatOp<"stop_gradient", "x; no gradient flows", [Simplified]> { let linear = "together"; }
def Weir_NotOp : Weir_UnaryOp<"not", Weir_BoolTensor, "logical negation", [Simplified]> { let rounding = "none"; }

#endif
