//===- Selection.td - Comparisons and choices --------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SELECTION_TD
#define WEIR_SELECTION_TD

include "ir/weir/elementwise/ElementwiseBase.td"

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
  let description = [{
    Its gradient goes to the operand that was chosen. What leads to the other gets 0, whatever the derivatives there, as far as
    elementwise ops and those that move elements go; that ends at reductions and products.
    C1: onTrue, onFalse and the result have one type.  C2: the condition has their shape.
  }];
  let members = "::mlir::Value whereChosen(::mlir::OpBuilder &builder, unsigned operand);\n";
  let arguments = (ins Weir_BoolTensor:$condition, Weir_Tensor:$onTrue, Weir_Tensor:$onFalse);
  let results = (outs Weir_Tensor:$result);
  let assemblyFormat = "$condition `,` $onTrue `,` $onFalse attr-dict `:` type($condition) `,` type($result)";
}

#endif
