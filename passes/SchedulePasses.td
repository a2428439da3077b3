//===- SchedulePasses.td - The passes of passes/schedule ----*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SCHEDULE_PASSES_TD
#define SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def OrderCollectives : Pass<"weir-order-collectives", "::mlir::func::FuncOp"> {
  let summary = "puts collectives in the order in which what they read is made";
  let description = [{
    By how many ops each is behind, along the longest way, so gradients come as the backward computation makes them; what is made of variables
    alone comes where it is used. All other ops keep their order, but for who waits for what is behind it now.
  }];
}

def OverlapCollectives : Pass<"weir-overlap-collectives", "::mlir::ModuleOp"> {
  let summary = "begins collectives where what they read is made, and waits for them where what they give is used";
  let description = [{
    On a queue of its own for each axis of the mesh, the others between in an order in which they have the most time; collectives keep theirs,
    so that all ranks have the same. Runs before there are places; in a budget the arena is no larger than that allows, or than it would be
    otherwise. What is no faster by the clock of the target and the link stays as it is.
  }];
  let options = [
      Option<"target", "target", "std::string", "\"cpu:x86-64-v3\"", "what to compile for, as weir compile --target takes it">,
      Option<"budget", "budget", "int64_t", "0", "bytes that a run may take; 0: as many as it takes">,
      Option<"threads", "threads", "int64_t", "1", "that the budget is for, of a CPU">,
      Option<"link", "link", "std::string", "\"10GB/s,20us\"", "what joins ranks: bytes per second, and what a collective takes besides">];
  let dependentDialects = ["::weir::plan::PlanDialect"];
}

#endif
