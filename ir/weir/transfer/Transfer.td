//===- Transfer.td - Values from stage to stage ------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a pipeline is made of (passes/stages). Stages are ranks along one axis of the module's mesh; a value of one that another reads
// is crossed in the program of all, sent by the one and received by the other in theirs.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TRANSFER_TD
#define WEIR_TRANSFER_TD

include "ir/weir/WeirBase.td"

def Weir_CrossOp : Weir_Op<"cross", [Pure, AllTypesMatch<["input", "result"]>, DeclareOpInterfaceMethods<Costed>,
                                  DeclareOpInterfaceMethods<Shardable>]> {
  let summary = "a value of one stage, on another";
  let description = [{
    The same value: only who has it changes. `to` -1 is all stages. It lies on the ranks of the one as on those of the other.
    C1: `from` is a stage, and another than `to`.  C2: its number is positive.
  }];
  let arguments = (ins Weir_Tensor:$input, I64Attr:$from, I64Attr:$to, I64Attr:$number);
  let results = (outs Weir_Tensor:$result);
  let assemblyFormat = "$input `from` $from `to` $to `number` $number attr-dict `:` type($result)";
  let hasVerifier = 1;
}

class Weir_TransferOp<string mnemonic> : Weir_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]> {
  let hasVerifier = 1;
}

def Weir_SendOp : Weir_TransferOp<"send"> {
  let summary = "gives a value to another rank";
  let description = [{
    The rank at `peer` along the axis, and where this one is along all others. It does not wait for who receives.
    C1: `peer` is no negative number.  C2: its number is positive.
  }];
  let arguments = (ins Weir_Tensor:$input, StrAttr:$axis, I64Attr:$peer, I64Attr:$number);
  let assemblyFormat = "$input `over` $axis `peer` $peer `number` $number attr-dict `:` type($input)";
}

def Weir_ReceiveOp : Weir_TransferOp<"receive"> {
  let summary = "what another rank sends under the same number, in the same microbatch";
  let description = [{
    C1: `peer` is no negative number.  C2: its number is positive.
  }];
  let arguments = (ins StrAttr:$axis, I64Attr:$peer, I64Attr:$number);
  let results = (outs Weir_Tensor:$result);
  let assemblyFormat = "`over` $axis `peer` $peer `number` $number attr-dict `:` type($result)";
}

def Weir_KeepOp : Weir_Op<"keep", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "keeps a value of a microbatch for another section of the same microbatch";
  let description = "Sections are microbatches ops that stand for parts of the same microbatches (weir.section). Only what is carried into a round is copied: the next is written over it.";
  let arguments = (ins Weir_Tensor:$input, I64Attr:$number);
  let assemblyFormat = "$input `number` $number attr-dict `:` type($input)";
}

def Weir_KeptOp : Weir_Op<"kept", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "what an earlier section has kept of the microbatch under that number";
  let description = "It may be read by several sections, and is never written.";
  let arguments = (ins I64Attr:$number);
  let results = (outs Weir_Tensor:$result);
  let assemblyFormat = "`number` $number attr-dict `:` type($result)";
}

#endif
