//===- Variable.td - Variables -----------------------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_VARIABLE_TD
#define WEIR_VARIABLE_TD

include "ir/weir/WeirBase.td"

def Weir_Role : I32EnumAttr<"Role", "what a variable is", [
    I32EnumAttrCase<"parameter", 0>, I32EnumAttrCase<"state", 1>, I32EnumAttrCase<"optimizer", 2>,
    I32EnumAttrCase<"run", 3>]> {
  let cppNamespace = "::weir";
}

def Weir_VariableOp : Weir_Op<"variable", [Symbol]> {
  let summary = "a tensor that persists from step to step";
  let description = "Where it is the host's, it lies in the host's memory, and each use of it is of a copy (weir.reload).";
  let arguments = (ins SymbolNameAttr:$sym_name, Weir_Role:$role, TypeAttrOf<Weir_Tensor>:$type, UnitAttr:$host);
  let assemblyFormat = "$role $sym_name (`on` `host` $host^)? attr-dict `:` $type";
}

#endif
