//===- Indexing.td - Rows by their numbers -----------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_INDEXING_TD
#define WEIR_INDEXING_TD

include "ir/weir/WeirBase.td"

def Weir_GatherOp : Weir_TensorOp<"gather", [Differentiated, Lowered, Localized, DeclareOpInterfaceMethods<InferTypeOpInterface>,
    DeclareOpInterfaceMethods<Picking>]> {
  let summary = "rows of a table: result[i.., r..] = table[indices[i..], r..]";
  let description = [{
    C1: the table has rows, the result's shape is the indices' followed by the table's without its first dimension, and
    the element types are equal.
    The row of an index outside the table is zero; indices that are an input or a part of one are checked before a step.
  }];
  let arguments = (ins Weir_Tensor:$table, Weir_IntTensor:$indices);
  let results = (outs Weir_Tensor:$result);
  let assemblyFormat = "$table `,` $indices attr-dict `:` type($table) `,` type($indices) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let factors = "table: v# *r, indices: *i -> result: *i *r";
  let flops = "";
  let rounding = "none";
  let fusion = "fused";
}

def Weir_SegmentSumOp : Weir_TensorOp<"segment_sum", [Differentiated, Lowered, Localized]> {
  let summary = "result[s, r..] = the sum of input[i.., r..] over all i.. with indices[i..] = s, in the order of i..";
  let description = "gather's transpose: an index outside picks no row.  C1: the input's shape is the indices' followed by the result's without its first.";
  let arguments = (ins Weir_FloatTensor:$input, Weir_IntTensor:$indices, OptionalAttr<Weir_WorkType>:$accumulate);
  let results = (outs Weir_FloatTensor:$result);
  let assemblyFormat = "$input `,` $indices attr-dict `:` type($input) `,` type($indices) `->` type($result)";
  let hasVerifier = 1;
  let factors = "input: *i *r, indices: *i -> result: s#~ *r";
  let flops = "1";
  let accumulates = "true";
  let highResults = [0];
  let rounding = "sum";
  let shape = "segment";
}

#endif
