//===- Compile.h - From a model file to an artifact's bytes ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiler behind a plain interface: no type of MLIR's, so that the driver is built with
// exceptions and without its headers.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_WEIR_COMPILE_H
#define WEIR_TOOLS_WEIR_COMPILE_H

#include "frontend/Warnings.h"
#include "runtime/base/Error.h"
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace weir {

struct CompileOptions {
  std::string model;                              ///< the model file
  std::map<std::string, std::string> sets;        ///< configs given on the command line
  std::string target = "cpu";                     ///< for makeTarget
  std::string precision = "f32";                  ///< for precisionNamed
  bool saysTarget = false, saysPrecision = false; ///< they were given
  std::string master = "f32";                     ///< for masterNamed
  std::string lossScale;                          ///< as lossScaleNamed takes it; "": what is usual
  int64_t microbatches = 0;                       ///< that a step is cut into; 0: the recipe's
  bool choosesMicrobatches = false;               ///< as many as `memory` is best kept with
  int64_t memory = 0;                             ///< bytes a run may take; 0: as many as it does
  bool memoryIsHere = false;                      ///< `memory` is what this machine has
  int64_t threads = 0;                            ///< of that run, on a CPU; 0: the cores there are
  std::string offload;                            ///< Offloaded::variables
  bool offloadsActivations = false;               ///< Offloaded::activations
  bool choosesOffload = false;                    ///< as little as `memory` wants
  std::string offloadFolder;                      ///< where that is put into a file; "": not known
  bool alsoRuns = false;                          ///< this process runs what it compiles
  std::string mesh;                               ///< "dp=2"; "": one device
  std::vector<std::string> otherMeshes;           ///< that the artifact is for as well
  int64_t zero = 0;                               ///< PipelineOptions::zero
  bool saysZero = false;                          ///< it was given
  std::vector<std::string> recompute;             ///< patterns of blocks (ir/weir/Blocks.h)
  std::string plan;                               ///< a file of weir plan; "" for none
  bool choseMesh = false;                         ///< the mesh was "auto"
  std::string cluster;               ///< what --mesh auto chooses for; "": what is here
  bool sequenceParallel = true;      ///< PipelineOptions::sequenceParallel
  bool saysSequenceParallel = false; ///< it was given
  bool lowSums = false;              ///< PipelineOptions::lowSums
  bool lowGradients = false;         ///< PipelineOptions::lowGradients
  std::string contextParallel;       ///< PipelineOptions::contextParallel
  bool overlap = true;               ///< PipelineOptions::overlap
  std::string link;                  ///< as Link::parse takes it; "": an assumed one
  std::string rates;                 ///< as MeshRates::parse takes them
  std::string schedule;              ///< of a pipeline; "": the usual one
  bool deterministic = false;        ///< the same bits, whatever the mesh
  std::string tuning;                ///< a file of weir tune; "" for none
  std::string dumpIr;                ///< a folder for the IR after every pass; "" for none
  std::string report;                ///< a file for CompileReport.h's facts; "" for none
  std::string stopAfter;             ///< a phase of passes/Pipeline.cpp; "" for all
  bool gradients = false;            ///< the step gives its gradients too
  bool timePasses = false;           ///< says on standard error where the time went
  WarningOptions warnings;
  bool json = false;   ///< diagnostics as JSON lines on standard output
  bool colour = false; ///< of diagnostics on standard error
};

/// The one, and the others.
std::vector<std::string> allMeshes(const CompileOptions &options);

/// What a program is cut over.
struct RankOptions {
  std::string mesh;  ///< PipelineOptions::mesh
  int64_t zero;      ///< PipelineOptions::zero
  std::string hosts; ///< the processes that may have its ranks; "": one each
};

/// Of `mesh` and how it is cut. What is deterministic is cut in the same way for every mesh, whose
/// processes have as many ranks each as it takes.
RankOptions ranksOf(const CompileOptions &options);

/// Parses and checks. Prints the diagnostics.
Exit checkModel(const CompileOptions &options);

/// Compiles. Prints the diagnostics; where it returns ok, `output` holds the artifact, or with
/// `stopAfter` the IR's text.
Exit compileModel(const CompileOptions &options, std::vector<std::byte> &output);

} // namespace weir

#endif
