//===- Interpretable.td - Ops with reference semantics -----*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attached to the weir dialect's ops from outside (registerReferenceInterpreter), so that no compiler needs it to compile.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_REFERENCE_INTERPRETABLE_TD
#define WEIR_REFERENCE_INTERPRETABLE_TD

include "mlir/IR/OpBase.td"

def Interpretable : OpInterface<"Interpretable"> {
  let cppNamespace = "::weir";
  let description = [{
    What the op computes, from operands that are given. The interpreter is there for ops with regions or variables. Fails
    with a diagnostic.
  }];
  let methods = [
    InterfaceMethod<"", "::mlir::FailureOr<::weir::Tensors>", "evaluate",
      (ins "::mlir::ArrayRef<::weir::Tensor>":$operands, "::weir::Interpreter &":$interpreter)>,
    InterfaceMethod<[{
      The same, but with every choice between operands or their elements, the larger one or the side of zero, as other
      operands make it, which `before` gives by number: a function without kinks, whose derivative at these operands is
      what the op's description says of its gradient.
    }], "::mlir::FailureOr<::weir::Tensors>", "evaluateChosen",
      (ins "::mlir::ArrayRef<::weir::Tensor>":$operands, "::weir::Before":$before, "::weir::Interpreter &":$interpreter)>
  ];
}

#endif
