//===- Collective.td - What ranks tell each other ----------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Partitioning emits five collectives. weir-expand-collectives makes the two that add values up, all_reduce and reduce_scatter, of those
// that move rows: ranks sum in the order of ranks, so that all ways of carrying bytes give the same bits. The members are the ranks that
// differ along one axis of the module's mesh (weir.mesh) alone, in its order.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_COLLECTIVE_TD
#define WEIR_COLLECTIVE_TD

include "ir/weir/WeirBase.td"

class Weir_CollectiveOp<string mnemonic> : Weir_Op<mnemonic, [Pure]> {
  let results = (outs Weir_Tensor:$result);
  let hasVerifier = 1;
}

def Weir_AllReduceOp : Weir_CollectiveOp<"all_reduce"> {
  let summary = "the sum of all members' values, for each of them";
  let description = [{
    Members along the first axis are summed in their order, and these sums along the next. A float of low precision is summed in f32 and
    rounded once for each axis.
    C1: there is an axis, and none twice.  C2: the result is like the input.
    `fullest` is the number of elements on the rank that has most of the value; this rank's where it is not given. It decides alike on
    all ranks which sums share a bucket, and how each is carried out.
  }];
  let arguments = (ins Weir_Tensor:$input, StrArrayAttr:$axes, OptionalAttr<I64Attr>:$fullest);
  let assemblyFormat = "$input `over` $axes (`fullest` $fullest^)? attr-dict `:` type($input) `->` type($result)";
}

def Weir_ReduceScatterOp : Weir_CollectiveOp<"reduce_scatter"> {
  let summary = "the sum of all members' values, of which each member gets its rows";
  let description = [{
    Members are summed in their order; a float of low precision in f32, and rounded once.
    C1: the input has as many rows as `rows` says that all members get.  C2: the result has as many as one of them gets, and is like the
    input otherwise.
    `fullest` is there where the op may share a bucket: the number of elements of the input on the rank that has most.
  }];
  let arguments = (ins Weir_Tensor:$input, StrAttr:$axis, DenseI64ArrayAttr:$rows, OptionalAttr<I64Attr>:$fullest);
  let assemblyFormat = "$input `over` $axis `rows` $rows (`fullest` $fullest^)? attr-dict `:` type($input) `->` type($result)";
}

def Weir_AllGatherOp : Weir_CollectiveOp<"all_gather"> {
  let summary = "the rows of all members, one member's after the other's";
  let description = [{
    C1: `rows` says how many each member has, and the input has as many as one of them.  C2: the result has all of them, and is like the
    input otherwise.
    What is gathered `again` is not kept from where it was gathered before: it is another value, and has the same bits.
    `fullest` is there where the op may share a bucket: the number of elements of the result on the rank that has most.
  }];
  let arguments = (ins Weir_Tensor:$input, StrAttr:$axis, DenseI64ArrayAttr:$rows, UnitAttr:$again, OptionalAttr<I64Attr>:$fullest);
  let assemblyFormat = "$input `over` $axis `rows` $rows (`again` $again^)? (`fullest` $fullest^)? attr-dict `:` type($input) `->` type($result)";
}

def Weir_AllToAllOp : Weir_CollectiveOp<"all_to_all"> {
  let summary = "rows for each member, one member's after the other's, against those that they have for this one";
  let description = [{
    C1: the input has as many rows as `rows` says that it has for each member.  C2: every member has as many for this one as this
    one for itself: the result has these from each, and is like the input otherwise.
  }];
  let arguments = (ins Weir_Tensor:$input, StrAttr:$axis, DenseI64ArrayAttr:$rows);
  let assemblyFormat = "$input `over` $axis `rows` $rows attr-dict `:` type($input) `->` type($result)";
}

def Weir_CollectivePermuteOp : Weir_CollectiveOp<"collective_permute"> {
  let summary = "the value of the member before, in a ring of them";
  let description = [{
    Of the first member it is the last that is before. C1: `rows` says how many each member has: all as many as this one.  C2: the result is
    like the input.
    `again` is as for a gather.
  }];
  let arguments = (ins Weir_Tensor:$input, StrAttr:$axis, DenseI64ArrayAttr:$rows, UnitAttr:$again);
  let assemblyFormat = "$input `over` $axis `rows` $rows (`again` $again^)? attr-dict `:` type($input) `->` type($result)";
}

def Weir_PackOp : Weir_Op<"pack", [Pure]> {
  let summary = "small values side by side in one memory, for one collective";
  let description = [{
    A kernel that joined many would compare each element's place with all of theirs, and each bucket would have its own: these are
    copies, and no kernel has a part in them.
    C1: at least one input, all of one dimension, or of two with equally many rows, and of one element type.  C2: the result has the
    columns of all of them, one input's after the other's.
  }];
  let arguments = (ins Variadic<Weir_Tensor>:$inputs);
  let results = (outs Weir_Tensor:$result);
  let hasVerifier = 1;
  let assemblyFormat = "$inputs attr-dict `:` type($inputs) `->` type($result)";
}

def Weir_UnpackOp : Weir_Op<"unpack", [Pure]> {
  let summary = "what was packed, each a value of its own again";
  let description = [{
    C1: at least one result, and they could be packed.  C2: the input is what they would be together.
  }];
  let arguments = (ins Weir_Tensor:$input);
  let results = (outs Variadic<Weir_Tensor>:$parts);
  let hasVerifier = 1;
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($parts)";
}

#endif
