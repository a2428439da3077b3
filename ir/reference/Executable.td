//===- Executable.td - Actions with reference semantics ----*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attached to the plan dialect's actions from outside (registerPlanInterpreter), as Interpretable is to the weir dialect's ops.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_REFERENCE_EXECUTABLE_TD
#define WEIR_REFERENCE_EXECUTABLE_TD

include "mlir/IR/OpBase.td"

def Executable : OpInterface<"Executable"> {
  let cppNamespace = "::weir";
  let description = [{
    What an action does to memory. It reads all its operands before it writes its results. Fails with a diagnostic.
  }];
  let methods = [InterfaceMethod<"", "::mlir::LogicalResult", "execute", (ins "::weir::PlanInterpreter &":$machine)>];
}

#endif
