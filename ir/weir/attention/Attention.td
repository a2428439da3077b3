//===- Attention.td - Attention ----------------------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_ATTENTION_TD
#define WEIR_ATTENTION_TD

include "ir/weir/WeirBase.td"

// Its sharding rule depends on `causal`, so it is not a field here but shardRule() in Attention.cpp.
def Weir_AttentionOp : Weir_TensorOp<"attention", [Differentiated, Decomposed, InferTypeOpAdaptor, AllTypesMatch<["query", "result"]>, AllTypesMatch<["key", "value"]>]> {
  let summary = "softmax(scale * q k^T) v, for every batch and head";
  let description = [{
    q is [b, h, t, d], k and v are [b, h, s, d]. With causal, query i sees keys up to i + s - t.
    C1: four dimensions each, which agree as said; causal needs s >= t.  C2: result has q's type, log_sum_exp is [b, h, t].
  }];
  let arguments = (ins Weir_FloatTensor:$query, Weir_FloatTensor:$key, Weir_FloatTensor:$value, F64Attr:$scale,
                       UnitAttr:$causal, OptionalAttr<Weir_WorkType>:$accumulate);
  let results = (outs Weir_FloatTensor:$result, Weir_FloatTensor:$log_sum_exp);
  let assemblyFormat = [{$query `,` $key `,` $value attr-dict
      `:` type($query) `,` type($key) `->` type($log_sum_exp)}];
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$query, "::mlir::Value":$key, "::mlir::Value":$value, "double":$scale,
                                 "bool":$causal),
      [{ build($_builder, $_state, query, key, value, $_builder.getF64FloatAttr(scale),
               causal ? $_builder.getUnitAttr() : ::mlir::UnitAttr(), ::mlir::TypeAttr()); }]>];
  let flops = "";
  let accumulates = "true";
  let multiplies = "wide";
  let highResults = [1];
  let rounding = "composite";
  let shape = "attention";
}

def Weir_AttentionGradOp : Weir_TensorOp<"attention_grad", [Decomposed, AllTypesMatch<["query", "output", "cotangent", "query_grad"]>,
    AllTypesMatch<["key", "value", "key_grad", "value_grad"]>]> {
  let summary = "the cotangents of attention's query, key and value";
  let description = "C1: the operands are attention's operands, its results and the cotangent of the first; the results their types.";
  let arguments = (ins Weir_FloatTensor:$query, Weir_FloatTensor:$key, Weir_FloatTensor:$value, Weir_FloatTensor:$output,
                       Weir_FloatTensor:$log_sum_exp, Weir_FloatTensor:$cotangent, F64Attr:$scale, UnitAttr:$causal,
                       OptionalAttr<Weir_WorkType>:$accumulate);
  let results = (outs Weir_FloatTensor:$query_grad, Weir_FloatTensor:$key_grad, Weir_FloatTensor:$value_grad);
  let assemblyFormat = [{$query `,` $key `,` $value `,` $output `,` $log_sum_exp `,` $cotangent attr-dict
      `:` type($query) `,` type($key) `,` type($log_sum_exp)}];
  let hasVerifier = 1;
  let flops = "";
  let accumulates = "true";
  let multiplies = "wide";
  let highOperands = [4];
  let highResults = [0, 1, 2]; // put together, they are rounded as the operands of products
  let rounding = "composite";
  let shape = "attention";
  // The queries' contributions meet in the cotangents of keys and values.
  let factors = "query: b h t! d!, key: b h s! d, value: b h s d, output: b h t d, log_sum_exp: b h t, cotangent: b h t d -> "
                "query_grad: b h t d, key_grad: b h s d, value_grad: b h s d";
}

#endif
