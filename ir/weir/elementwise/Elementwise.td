//===- Elementwise.td - Elementwise ops --------------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_ELEMENTWISE_TD
#define WEIR_ELEMENTWISE_TD

include "ir/weir/WeirBase.td"

// The trait of an elementwise op with identities of its own, in Fold.cpp.
def Simplified : DeclareOpInterfaceMethods<Simplifiable, ["identity"]>;

class Weir_ElementwiseOp<string mnemonic, list<Trait> traits>
    : Weir_TensorOp<mnemonic, !listconcat(traits, [
        SameOperandsAndResultShape, DeclareOpInterfaceMethods<Pointwise>, Lowered])> {
  bit elementary = 0;
  let flops = "1";
  let fusion = "fused";
  let hasFolder = 1;
  let members = !if(elementary, "int64_t weight() { return ::weir::elementaryWeight; }\n", "");
  let definitions = [{
    ::mlir::OpFoldResult $cppClass::fold(FoldAdaptor adaptor) {
      return ::weir::foldPointwise(*this, adaptor.getOperands());
    }
    ::mlir::Value $cppClass::element(::mlir::OpBuilder &builder, unsigned result, ::mlir::ValueRange indices,
                                     ::weir::ElementOf operand) {
      return ::weir::elementwiseElement(*this, builder, indices, operand);
    }
    ::weir::ShardRule $cppClass::shardRule() { return ::weir::elementwiseShardRule(*this); }
  }];
}

class Weir_UnaryOp<string mnemonic, Type type, string text, list<Trait> traits = []>
    : Weir_ElementwiseOp<mnemonic, !listconcat(traits, [SameOperandsAndResultType, Weir_ComputesFloats])> {
  let summary = text;
  let description = "C1: the operand and the result have one type.  C2: `compute` is f32, f16 or bf16, of an op on floats.";
  let arguments = (ins type:$input, OptionalAttr<Weir_WorkType>:$compute);
  let builders = [OpBuilder<(ins "::mlir::Value":$input), [{ build($_builder, $_state, input, ::mlir::TypeAttr()); }]>];
  let results = (outs type:$result);
  let assemblyFormat = "$input attr-dict `:` type($result)";
}

// Exact, and no gradient flows through it.
class Weir_FlatOp<string mnemonic, string text, list<Trait> traits = []>
    : Weir_UnaryOp<mnemonic, Weir_FloatTensor, text, !listconcat([Differentiated], traits)> {
  let rounding = "none";
  let members = "bool passesGradient() { return false; }\n";
}

class Weir_BinaryOp<string mnemonic, Type type, string text, list<Trait> traits = []>
    : Weir_ElementwiseOp<mnemonic, !listconcat(traits, [SameOperandsAndResultType, Weir_ComputesFloats])> {
  let summary = text;
  let description = "C1: the operands and the result have one type.  C2: `compute` is f32, f16 or bf16, of an op on floats.";
  let arguments = (ins type:$lhs, type:$rhs, OptionalAttr<Weir_WorkType>:$compute);
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs),
      [{ build($_builder, $_state, lhs, rhs, ::mlir::TypeAttr()); }]>];
  let results = (outs type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

def Weir_NegOp : Weir_UnaryOp<"neg", Weir_NumberTensor, "-x", [Differentiated, Simplified]> { let rounding = "none"; let linear = "together"; }
def Weir_AbsOp : Weir_UnaryOp<"abs", Weir_NumberTensor, "|x|; the gradient at 0 is 0", [Differentiated]> { let rounding = "none"; }
def Weir_ExpOp : Weir_UnaryOp<"exp", Weir_FloatTensor, "e^x", [Differentiated]> { let elementary = 1; }
def Weir_LogOp : Weir_UnaryOp<"log", Weir_FloatTensor, "natural logarithm", [Differentiated]> { let elementary = 1; }
def Weir_SqrtOp : Weir_UnaryOp<"sqrt", Weir_FloatTensor, "square root", [Differentiated]>;
def Weir_RsqrtOp : Weir_UnaryOp<"rsqrt", Weir_FloatTensor, "1 / sqrt(x)", [Differentiated]>;
def Weir_TanhOp : Weir_UnaryOp<"tanh", Weir_FloatTensor, "hyperbolic tangent", [Differentiated]> { let elementary = 1; }
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

def Weir_AddOp : Weir_BinaryOp<"add", Weir_NumberTensor, "a + b", [Differentiated, Commutative, Simplified]> { let linear = "together"; }
def Weir_SubOp : Weir_BinaryOp<"sub", Weir_NumberTensor, "a - b", [Differentiated, Simplified]> { let linear = "together"; }
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

def Weir_Predicate : I32EnumAttr<"Predicate", "how compare compares", [
    I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"ne", 1>, I32EnumAttrCase<"lt", 2>, I32EnumAttrCase<"le", 3>,
    I32EnumAttrCase<"gt", 4>, I32EnumAttrCase<"ge", 5>]> {
  let cppNamespace = "::weir";
}

def Weir_CompareOp : Weir_ElementwiseOp<"compare", [SameTypeOperands, InferTypeOpAdaptor]> {
  let rounding = "none";
  let summary = "a comparison, as truth values; false where either is NaN, but for ne";
  let description = "C1: the operands have one type.  C2: the result has their shape.";
  let arguments = (ins Weir_Predicate:$predicate, Weir_NumberTensor:$lhs, Weir_NumberTensor:$rhs);
  let results = (outs Weir_BoolTensor:$result);
  let assemblyFormat = "$predicate $lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
}

def Weir_IsFiniteOp : Weir_ElementwiseOp<"is_finite", [InferTypeOpAdaptor]> {
  let rounding = "none";
  let summary = "neither infinite nor NaN";
  let description = "C1: the operand and the result have one shape.";
  let arguments = (ins Weir_FloatTensor:$input);
  let results = (outs Weir_BoolTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}

def Weir_SelectOp : Weir_ElementwiseOp<"select", [Differentiated, Simplified, AllTypesMatch<["onTrue", "onFalse", "result"]>]> {
  let rounding = "none";
  let summary = "onTrue where the condition holds, else onFalse";
  let description = "C1: onTrue, onFalse and the result have one type.  C2: the condition has their shape.";
  let arguments = (ins Weir_BoolTensor:$condition, Weir_Tensor:$onTrue, Weir_Tensor:$onFalse);
  let results = (outs Weir_Tensor:$result);
  let assemblyFormat = "$condition `,` $onTrue `,` $onFalse attr-dict `:` type($condition) `,` type($result)";
}

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
