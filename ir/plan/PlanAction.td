//===- PlanAction.td - What every action answers ------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PLAN_ACTION_TD
#define PLAN_ACTION_TD

include "mlir/IR/OpBase.td"

def Plan_Action : OpInterface<"Action"> {
  let cppNamespace = "::weir::plan";
  let description = [{
    An op that is carried out, in order, on a queue. Who places, verifies, writes, executes or describes plans asks this and
    knows no kinds. All operands that are buffers are its operands as an action, in order; `symbols` finds kernels.
    C1: a buffer operand is what plan.alloc, plan.use or plan.part gives, a part steps by loops that are around its user.
    C2: its queue is a number of 32 bits.
  }];
  let methods = [
    InterfaceMethod<"What it touches of each buffer operand, in order.",
        "::llvm::SmallVector<::weir::spec::Footprint>", "footprints", (ins "::mlir::SymbolTableCollection &":$symbols)>,
    InterfaceMethod<"Its work; of a loop, that of one round's bookkeeping alone.",
        "::weir::spec::Cost", "cost", (ins "::mlir::SymbolTableCollection &":$symbols)>,
    InterfaceMethod<"In words: \"launch of kernel_3, row\".",
        "std::string", "describe", (ins "::mlir::SymbolTableCollection &":$symbols)>,
    InterfaceMethod<"", "::weir::plan::Engine", "engine">,
    InterfaceMethod<"The queue it is carried out on.", "uint64_t", "getQueue">,
  ];
  let verify = [{ return ::weir::plan::verifyAction($_op); }];
}

#endif
