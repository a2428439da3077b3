//===- Rows.td - Composites of rows ------------------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_ROWS_TD
#define WEIR_ROWS_TD

include "ir/weir/WeirBase.td"

def Weir_NormalizeOp : Weir_TensorOp<"normalize", [Differentiated, Lowered, AllTypesMatch<["input", "normalized"]>,
    AllTypesMatch<["mean", "rstd"]>]> {
  let summary = "(x - mean) * rstd along the last dimension, rstd = 1 / sqrt(variance + eps)";
  let description = [{
    C1: normalized has the input's type, mean and rstd lack its last dimension, which is not empty.
    C2: eps is not negative.
  }];
  let arguments = (ins Weir_FloatTensor:$input, F64Attr:$eps, OptionalAttr<Weir_WorkType>:$accumulate);
  let results = (outs Weir_FloatTensor:$normalized, Weir_FloatTensor:$mean, Weir_FloatTensor:$rstd);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($mean)";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "double":$eps)>];
}

def Weir_NormalizeGradOp : Weir_TensorOp<"normalize_grad", [Lowered, AllTypesMatch<["input", "cotangent", "result"]>,
    AllTypesMatch<["mean", "rstd"]>]> {
  let summary = "the cotangent of normalize's input";
  let description = [{
    With y the normalized input and g its cotangent: rstd * (g - average(g) - y * average(g * y)).
    C1: the input, the cotangent and the result have one type; mean and rstd lack its last dimension.
  }];
  let arguments = (ins Weir_FloatTensor:$input, Weir_FloatTensor:$mean, Weir_FloatTensor:$rstd,
                       Weir_FloatTensor:$cotangent, OptionalAttr<Weir_WorkType>:$accumulate);
  let results = (outs Weir_FloatTensor:$result);
  let assemblyFormat = [{$input `,` $mean `,` $rstd `,` $cotangent attr-dict
      `:` type($input) `,` type($mean)}];
  let hasVerifier = 1;
}

def Weir_SoftmaxCrossEntropyOp : Weir_TensorOp<"softmax_cross_entropy", [Differentiated, Lowered,
    AllTypesMatch<["loss", "log_sum_exp"]>]> {
  let summary = "log(sum(exp(logits))) - logits[label] along the last dimension";
  let description = [{
    C1: labels, loss and log_sum_exp have the logits' shape without its last dimension. Labels lie in [0, classes); those
    that are an input or a part of one are checked before a step, and one outside picks no class: its loss is log_sum_exp.
  }];
  let arguments = (ins Weir_FloatTensor:$logits, Weir_IntTensor:$labels, OptionalAttr<Weir_WorkType>:$accumulate);
  let results = (outs Weir_FloatTensor:$loss, Weir_FloatTensor:$log_sum_exp);
  let assemblyFormat = "$logits `,` $labels attr-dict `:` type($logits) `,` type($labels) `->` type($loss)";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$logits, "::mlir::Value":$labels)>];
}

def Weir_SoftmaxCrossEntropyGradOp : Weir_TensorOp<"softmax_cross_entropy_grad", [Lowered,
    AllTypesMatch<["logits", "result"]>, AllTypesMatch<["log_sum_exp", "cotangent"]>]> {
  let summary = "the cotangent of the logits: (exp(logits - log_sum_exp) - (index = label)) * cotangent";
  let description = "C1: the result has the logits' type, the others its shape without the last dimension.";
  let arguments = (ins Weir_FloatTensor:$logits, Weir_IntTensor:$labels, Weir_FloatTensor:$log_sum_exp,
                       Weir_FloatTensor:$cotangent);
  let results = (outs Weir_FloatTensor:$result);
  let assemblyFormat = [{$logits `,` $labels `,` $log_sum_exp `,` $cotangent attr-dict
      `:` type($logits) `,` type($labels) `,` type($cotangent)}];
  let hasVerifier = 1;
}

#endif
