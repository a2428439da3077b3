//===- Binary.td - Elementwise ops of two operands ---------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_BINARY_TD
#define WEIR_BINARY_TD

include "ir/weir/elementwise/ElementwiseBase.td"

def Weir_AddOp : Weir_BinaryOp<"add", Weir_NumberTensor, "a + b", [Differentiated, Commutative, Simplified]> { let linear = "together"; }
def Weir_SubOp : Weir_BinaryOp<"sub", Weir_NumberTensor, "a - b", [Differentiated, Simplified]> {
  let linear = "together";
  let hasCanonicalizer = 1;
}
def Weir_MulOp : Weir_BinaryOp<"mul", Weir_NumberTensor, "a * b", [Differentiated, Commutative, Simplified]> { let linear = "any"; }
def Weir_DivOp : Weir_BinaryOp<"div", Weir_NumberTensor, "a / b; integers round towards zero, and dividing by 0 gives 0", [Differentiated, Simplified]> { let linear = ""; }
def Weir_RemOp : Weir_BinaryOp<"rem", Weir_IntTensor, "the remainder of a / b, with the sign of a; 0 where b is 0">;
def Weir_MaxOp : Weir_BinaryOp<"max", Weir_NumberTensor, "the larger; NaN if either is; a tie sends its gradient to a",
                               [Differentiated, Simplified]> { let rounding = "none"; }
def Weir_MinOp : Weir_BinaryOp<"min", Weir_NumberTensor, "the smaller; NaN if either is; a tie sends its gradient to a",
                               [Differentiated, Simplified]> { let rounding = "none"; }
def Weir_PowOp : Weir_BinaryOp<"pow", Weir_FloatTensor, "a ^ b", [Differentiated, Simplified]> {
  let elementary = 1;
  let hasCanonicalizer = 1;
}
def Weir_AndOp : Weir_BinaryOp<"and", Weir_BoolTensor, "both", [Commutative, Simplified]> { let rounding = "none"; }
def Weir_OrOp : Weir_BinaryOp<"or", Weir_BoolTensor, "either", [Commutative, Simplified]> { let rounding = "none"; }

#endif
