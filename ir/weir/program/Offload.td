//===- Offload.td - Copies to and from host memory ---------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_OFFLOAD_TD
#define WEIR_OFFLOAD_TD

include "ir/weir/WeirBase.td"

def Weir_FetchOp : Weir_Op<"fetch", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "a copy in the device's memory of a value in the host's";
  let description = "It is made where it stands, of a weir.put, or of a variable ahead of every write of it.";
  let arguments = (ins Weir_Tensor:$value);
  let results = (outs Weir_Tensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
}

def Weir_PutOp : Weir_Op<"put", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "a copy in the host's memory of a value in the device's";
  let description = "It is made where it stands. Behind fusion only weir.fetch reads it (weir-verify-fused).";
  let arguments = (ins Weir_Tensor:$value);
  let results = (outs Weir_Tensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
}

#endif
