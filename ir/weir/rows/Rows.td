//===- Rows.td - Composites of rows ------------------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_ROWS_TD
#define WEIR_ROWS_TD

include "ir/weir/WeirBase.td"

// A composite of rows, the last dimension: every value has the leading dimensions, and those of full rank the row too.
class Weir_RowsOp<string mnemonic, list<Trait> traits = []>
    : Weir_TensorOp<mnemonic, !listconcat(traits, [Lowered, Decomposed])> {
  let rounding = "composite";
  let fusion = "fused";
  let split = "::weir::ReductionSplit{::weir::tensorType((*this)->getOperand(0)).getRank() - 1, true}";
  let hasVerifier = 1;
  code verifiedByFactors = [{
    ::llvm::LogicalResult $cppClass::verify() { return ::weir::verifyRows(*this, factors()); }
  }];
  let definitions = verifiedByFactors;
}

def Weir_NormalizeOp : Weir_RowsOp<"normalize", [Differentiated, DeclareOpInterfaceMethods<InferTypeOpInterface>, AllTypesMatch<["input", "normalized"]>,
    AllTypesMatch<["mean", "rstd"]>]> {
  let summary = "(x - mean) * rstd along the last dimension, rstd = 1 / sqrt(variance + eps)";
  let description = [{
    C1: normalized has the input's type, mean and rstd lack its last dimension, which is not empty.
    C2: eps is not negative.
  }];
  let arguments = (ins Weir_FloatTensor:$input, F64Attr:$eps, OptionalAttr<Weir_WorkType>:$accumulate);
  let results = (outs Weir_FloatTensor:$normalized, Weir_FloatTensor:$mean, Weir_FloatTensor:$rstd);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($mean)";
  let builders = [OpBuilder<(ins "::mlir::Value":$input, "double":$eps),
      [{ build($_builder, $_state, input, $_builder.getF64FloatAttr(eps), ::mlir::TypeAttr()); }]>];
  let factors = "input: *r c! -> normalized: *r c, mean: *r, rstd: *r";
  let flops = "6";
  let accumulates = "true";
  let highResults = [1, 2];
  let definitions = inferredByFactors;
}

def Weir_NormalizeGradOp : Weir_RowsOp<"normalize_grad", [AllTypesMatch<["input", "cotangent", "result"]>,
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
  let factors = "input: *r c!, mean: *r, rstd: *r, cotangent: *r c -> result: *r c";
  let flops = "9";
  let accumulates = "true";
  let highOperands = [1, 2, 3]; // statistics; and the cotangent, which nothing keeps
}

def Weir_LogSoftmaxOp : Weir_RowsOp<"log_softmax", [Differentiated, SameOperandsAndResultType]> {
  let summary = "x - log(sum(exp(x))) along the last dimension";
  let description = "C1: the input and the result have one type, with a last dimension that is not empty.";
  let arguments = (ins Weir_FloatTensor:$input, OptionalAttr<Weir_WorkType>:$accumulate);
  let results = (outs Weir_FloatTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let builders = [OpBuilder<(ins "::mlir::Value":$input), [{ build($_builder, $_state, input, ::mlir::TypeAttr()); }]>];
  let factors = "input: *r c! -> result: *r c";
  let flops = "4";
  let accumulates = "true";
  let rounding = "logOfSum";
}

def Weir_SoftmaxCrossEntropyOp : Weir_RowsOp<"softmax_cross_entropy", [Differentiated, Localized, DeclareOpInterfaceMethods<Combining>, DeclareOpInterfaceMethods<InferTypeOpInterface>,
    DeclareOpInterfaceMethods<Picking>, AllTypesMatch<["loss", "log_sum_exp"]>]> {
  let summary = "log(sum(exp(logits))) - logits[label] along the last dimension";
  let description = [{
    C1: labels, loss and log_sum_exp have the logits' shape without its last dimension. Labels lie in [0, classes); those
    that are an input or a part of one are checked before a step, and one outside picks no class: its loss is log_sum_exp.
  }];
  let arguments = (ins Weir_FloatTensor:$logits, Weir_IntTensor:$labels, OptionalAttr<Weir_WorkType>:$accumulate);
  let results = (outs Weir_FloatTensor:$loss, Weir_FloatTensor:$log_sum_exp);
  let assemblyFormat = "$logits `,` $labels attr-dict `:` type($logits) `,` type($labels) `->` type($loss)";
  let builders = [OpBuilder<(ins "::mlir::Value":$logits, "::mlir::Value":$labels),
      [{ build($_builder, $_state, logits, labels, ::mlir::TypeAttr()); }]>];
  let factors = "logits: *r c&#, labels: *r -> loss: *r, log_sum_exp: *r";
  let flops = "4";
  let accumulates = "true";
  let highResults = [0, 1];
  let rounding = "logOfSum";
  let definitions = verifiedByFactors # inferredByFactors;
}

def Weir_SoftmaxCrossEntropyGradOp : Weir_RowsOp<"softmax_cross_entropy_grad", [Localized, AllTypesMatch<["logits", "result"]>, AllTypesMatch<["log_sum_exp", "cotangent"]>]> {
  let summary = "the cotangent of the logits: (exp(logits - log_sum_exp) - (index = label)) * cotangent";
  let description = "C1: the result has the logits' type, the others its shape without the last dimension.";
  let arguments = (ins Weir_FloatTensor:$logits, Weir_IntTensor:$labels, Weir_FloatTensor:$log_sum_exp,
                       Weir_FloatTensor:$cotangent);
  let results = (outs Weir_FloatTensor:$result);
  let assemblyFormat = [{$logits `,` $labels `,` $log_sum_exp `,` $cotangent attr-dict
      `:` type($logits) `,` type($labels) `,` type($cotangent)}];
  let factors = "logits: *r c#, labels: *r, log_sum_exp: *r, cotangent: *r -> result: *r c";
  let flops = "4";
  let highOperands = [2, 3];
}

#endif
