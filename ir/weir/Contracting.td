//===- Contracting.td - Ops that add up products -----------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attached to the ops by the dialect (Contracting.cpp), where the rules of all of them stand side by side.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_CONTRACTING_TD
#define WEIR_CONTRACTING_TD

include "mlir/IR/OpBase.td"

def Contracting : OpInterface<"Contracting"> {
  let cppNamespace = "::weir";
  let description = [{
    An op whose work is products of its operands that are added up: those with Multiplies::wide or low in their CastRule. FLOPs are
    two for each multiplication with its addition, of one execution; what else the op computes (a softmax's exponentials) is in
    Costed alone. Decision 34.
  }];
  let methods = [
    InterfaceMethod<"What the op executes.", "double", "executedFlops", (ins)>,
    InterfaceMethod<[{
      Of these, what the model's mathematics takes: less than is executed where the op computes again what another one has computed.
    }], "double", "modelFlops", (ins)>];
}

#endif
