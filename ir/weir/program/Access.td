//===- Access.td - Reading and writing variables -----------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_ACCESS_TD
#define WEIR_ACCESS_TD

include "ir/weir/WeirBase.td"

def Weir_ReadOp : Weir_Op<"read", [DeclareOpInterfaceMethods<SymbolUserOpInterface>, Pure]> {
  let summary = "a variable's value when the entry began";
  let description = "C1: the variable exists and has the result's type.";
  let arguments = (ins FlatSymbolRefAttr:$variable);
  let results = (outs Weir_Tensor:$result);
  let assemblyFormat = "$variable attr-dict `:` type($result)";
}

def Weir_WriteOp : Weir_Op<"write", [DeclareOpInterfaceMethods<SymbolUserOpInterface>,
                                      MemoryEffects<[MemWrite]>]> {
  let summary = "a variable's value after the entry";
  let description = [{
    Where there is a condition that does not hold, the variable stays as it was.
    C1: the variable exists and has the value's type.  C2: one write of a variable in an entry.
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable, Weir_Tensor:$value, Optional<Weir_BoolScalar>:$condition);
  let assemblyFormat = "$variable `,` $value (`if` $condition^)? attr-dict `:` type($value)";
  let builders = [OpBuilder<(ins "::llvm::StringRef":$variable, "::mlir::Value":$value),
      [{ build($_builder, $_state, variable, value, ::mlir::Value()); }]>];
}

#endif
