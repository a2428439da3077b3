//===- Phase.td - Forward, backward, update ----------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PHASE_TD
#define WEIR_PHASE_TD

include "ir/weir/WeirBase.td"
include "mlir/IR/AttrTypeBase.td"

def Weir_StepPhase : I32EnumAttr<"StepPhase", "a phase of a training step", [
    I32EnumAttrCase<"forward", 0>,      // the loss, metrics, and the states that the model itself writes
    I32EnumAttrCase<"backward", 1>,     // gradients of parameters, and nothing that is computed from them
    I32EnumAttrCase<"update", 2>]> {    // clipping, the optimizer, and what only these read
  let cppNamespace = "::weir";
  let genSpecializedAttr = 0;
}

def Weir_Phase : AttrDef<Weir_Dialect, "Phase"> {
  let mnemonic = "phase";
  let summary = "a phase of a training step, `#weir.phase<backward>`";
  let parameters = (ins EnumParameter<Weir_StepPhase>:$value);
  let hasCustomAssemblyFormat = 1; // the errors of EnumAttr's name the C++ type
}

#endif
