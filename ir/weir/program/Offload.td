//===- Offload.td - Copies to and from host memory ---------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_OFFLOAD_TD
#define WEIR_OFFLOAD_TD

include "ir/weir/WeirBase.td"

def Weir_ReloadOp : Weir_Op<"reload", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "copies an offloaded value back to device memory";
  let description = "It copies where it stands: the result of a weir.offload, or a variable ahead of every write of it.";
  let arguments = (ins Weir_Tensor:$value);
  let results = (outs Weir_Tensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
}

def Weir_OffloadOp : Weir_Op<"offload", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "copies a value to host memory";
  let description = "It copies where it stands. Behind fusion only weir.reload reads the result (weir-verify-fused).";
  let arguments = (ins Weir_Tensor:$value);
  let results = (outs Weir_Tensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
}

#endif
