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

#ifndef WEIR_TOOLS_WEIR_COMMANDS_COMPILE_H
#define WEIR_TOOLS_WEIR_COMMANDS_COMPILE_H

#include "frontend/Warnings.h"
#include "strategy/Strategy.h"
#include "support/Error.h"
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace weir {

struct CompileOptions {
  std::string model;                       ///< the model file
  std::map<std::string, std::string> sets; ///< configs given on the command line
  Setting<std::string> target = Setting<std::string>::byDefault("cpu"); ///< for makeTarget
  Strategy strategy;                ///< as it was asked for: Strategy::carriedOut is compiled
  std::string chosenMesh;           ///< "auto" or "auto:N", until the mesh is chosen
  bool choseMesh = false;           ///< the mesh was "auto"
  std::vector<Mesh> otherMeshes;    ///< that the artifact is for besides the strategy's
  bool choosesMicrobatches = false; ///< as many as the memory is best kept with
  bool choosesOffload = false;      ///< as little as the memory wants
  bool memoryIsHere = false;        ///< the memory is what this machine has
  int64_t threads = 0;              ///< of a run, on a CPU; 0: the cores there are
  std::string offloadFolder;        ///< where offloaded tensors are put into a file; "": not known
  bool alsoRuns = false;            ///< this process runs what it compiles
  std::string plan;                 ///< a file of weir plan; "" for none
  std::string cluster;              ///< what --mesh auto chooses for; "": what is here
  std::string tuning;               ///< a file of weir tune; "" for none
  std::string dumpIr;               ///< a folder for the IR after every pass; "" for none
  std::string report;               ///< a file for CompileReport.h's facts; "" for none
  std::string stopAfter;            ///< a pass group of passes/Pipeline.cpp; "" for all
  bool gradients = false;           ///< the step gives its gradients too
  bool timePasses = false;          ///< says on standard error where the time went
  WarningOptions warnings;
  bool json = false;   ///< diagnostics as JSON lines on standard output
  bool colour = false; ///< of diagnostics on standard error
};

/// The strategy's mesh, and the others.
std::vector<Mesh> allMeshes(const CompileOptions &options);

/// Splits data-parallel axes into nodes of so many ranks, where these are blocks of a mesh.
void splitIntoNodes(CompileOptions &options, int64_t ranksOfNode);

/// What passes carry out, with the threads of each rank.
Strategy strategyFor(const CompileOptions &options);

/// Parses and checks. Prints the diagnostics.
Exit checkModel(const CompileOptions &options);

/// Compiles. Prints the diagnostics; where it returns ok, `output` holds the artifact, or with
/// `stopAfter` the IR's text.
Exit compileModel(const CompileOptions &options, std::vector<std::byte> &output);

} // namespace weir

#endif
