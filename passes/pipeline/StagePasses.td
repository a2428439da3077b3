//===- StagePasses.td - The passes of pipelines ------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_STAGEPASSES_TD
#define WEIR_STAGEPASSES_TD

include "mlir/Pass/PassBase.td"

def Weir_MeshOption : Option<"mesh", "mesh", "std::string", "\"\"", "axes and their sizes, such as pp=2; nothing happens without pp">;
def Weir_ChunksOption : Option<"chunks", "chunks", "int64_t", "1", "stages of each rank">;

def AssignStages : Pass<"weir-assign-stages", "::mlir::ModuleOp"> {
  let summary = "says on which stage of a pipeline what the step computes forward is";
  let description = [{
    The forward computation, in the model's order, is cut where few bytes cross into parts that take as long as each other. Nothing changes
    but attributes: weir.stage of ops and variables. Ahead of autodiff: a gradient is where its op is.
  }];
  let options = [Weir_MeshOption, Weir_ChunksOption];
  let dependentDialects = ["::weir::WeirDialect"];
}

def CrossStages : Pass<"weir-cross-stages", "::mlir::ModuleOp"> {
  let summary = "says of everything on which stage it is, and what goes from stage to stage";
  let description = [{
    What has no stage yet is where most of what it reads is, and what reads no parameter is on all stages. Before: any op reads any value.
    After: an op reads values of its own stage, or of all; weir.cross stands between.
  }];
  let options = [Weir_MeshOption];
  let dependentDialects = ["::weir::WeirDialect"];
}

def SplitStages : Pass<"weir-split-stages", "::mlir::ModuleOp"> {
  let summary = "makes a program the one of one rank's stages";
  let description = [{
    Of the module's weir.rank. What is of other stages goes, weir.cross becomes weir.send and weir.receive, and microbatches that compute
    gradients become sections of them, in the order of a schedule.
  }];
  let options = [Weir_ChunksOption,
                 Option<"schedule", "schedule", "std::string", "\"1f1b\"", "gpipe, 1f1b, interleaved or zero-bubble">];
  let dependentDialects = ["::weir::WeirDialect"];
}

#endif
