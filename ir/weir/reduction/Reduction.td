//===- Reduction.td - Reductions ---------------------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_REDUCTION_TD
#define WEIR_REDUCTION_TD

include "ir/weir/WeirBase.td"

def Weir_Reduction : I32EnumAttr<"Reduction", "how reduce combines", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"max", 1>, I32EnumAttrCase<"min", 2>]> {
  let cppNamespace = "::weir";
}

def Weir_ReduceOp : Weir_TensorOp<"reduce", [Differentiated, Lowered, InferTypeOpAdaptor]> {
  let summary = "combines the elements along axes, which the result no longer has";
  let description = [{
    C1: axes are dimensions of the input, strictly increasing.  C2: the result has the others, in order, and the input's
    element type.  C3: `accumulate` is f32, f16 or bf16, of a sum of floats. The gradient of a maximum or minimum goes to the
    first element that attains it. Compiled code adds at most 128 floats in sequence, then as many of such sums, and so on.
  }];
  let arguments = (ins Weir_NumberTensor:$input, Weir_Reduction:$kind, DenseI64ArrayAttr:$axes,
                       OptionalAttr<Weir_WorkType>:$accumulate);
  let results = (outs Weir_NumberTensor:$result);
  let assemblyFormat = "$kind $input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "Reduction":$kind, "::mlir::ArrayRef<int64_t>":$axes),
      [{ build($_builder, $_state, input, kind, axes, ::mlir::TypeAttr()); }]>];
  let flops = "1";
  let linear = "";
  let accumulates = "";
  let rounding = "";
  let fusion = "";
  let split = "";
}

def Weir_ArgMaxOp : Weir_TensorOp<"argmax", [Lowered, InferTypeOpAdaptor]> {
  let summary = "the index of the largest element along an axis, the first of equals; of the first NaN where one is";
  let description = "C1: axis is a dimension of the input.  C2: the result has the others.";
  let arguments = (ins Weir_NumberTensor:$input, I64Attr:$axis);
  let results = (outs Weir_IntTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let flops = "1";
  let rounding = "none";
}

#endif
