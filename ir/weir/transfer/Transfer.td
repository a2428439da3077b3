//===- Transfer.td - Values from stage to stage ------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Transfers between the stages of a pipeline (passes/stages). Stages are ranks along one axis of the module's mesh. Where a stage reads
// a value of another, the program of all ranks has a stage_transfer; in the ranks' own programs, one sends and the other receives.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TRANSFER_TD
#define WEIR_TRANSFER_TD

include "ir/weir/WeirBase.td"

def Weir_StageTransferOp : Weir_Op<"stage_transfer", [Pure, AllTypesMatch<["input", "result"]>, DeclareOpInterfaceMethods<Costed>,
                                  DeclareOpInterfaceMethods<Shardable>]> {
  let summary = "transfers a value from one pipeline stage to another";
  let description = [{
    The value stays the same, and moves to other ranks. `to` -1 is all stages. It has the same sharding on both stages.
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

def Weir_SaveOp : Weir_Op<"save", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "saves a value of a microbatch for another section of the same microbatch";
  let description = "Sections are microbatches ops that stand for parts of the same microbatches (weir.section). Only a carried value is copied: the next round writes over it.";
  let arguments = (ins Weir_Tensor:$input, I64Attr:$number);
  let assemblyFormat = "$input `number` $number attr-dict `:` type($input)";
}

def Weir_SavedOp : Weir_Op<"saved", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "a value that an earlier section has saved for this microbatch under that number";
  let description = "Several sections may read it; none writes it.";
  let arguments = (ins I64Attr:$number);
  let results = (outs Weir_Tensor:$result);
  let assemblyFormat = "`number` $number attr-dict `:` type($result)";
}

#endif
