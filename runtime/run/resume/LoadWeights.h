//===- LoadWeights.h - Loads weights into a program -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Training with --init, evaluation, prediction and generation begin alike: they open the weights,
// check that they belong to the program, and copy them.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_RESUME_LOADWEIGHTS_H
#define WEIR_RUNTIME_RUN_RESUME_LOADWEIGHTS_H

#include "runtime/checkpoint/Weights.h"
#include "runtime/core/Program.h"

namespace weir {

/// The folder of the weights: `checkpoint`, the value of --checkpoint. Throws Failure(Exit::usage)
/// for a file, with the advice `forFile`, and Failure(Exit::storage) if it does not exist.
const std::string &checkpointFolder(const std::string &checkpoint, const char *forFile = "");

/// Gives every variable its initial value.
void initialize(Program &program);

/// Checks that weights belong to the program, and lists on standard error those that it does not
/// load: requires all parameters unless `partial`, as with --init-partial, and all states if
/// `states`. Throws Failure(Exit::model).
void checkWeights(const Weights &weights, const Program &program, bool partial, bool states);

/// Copies checked weights into the program, whose variables have their initial values. A state that
/// is initialized from a parameter, and not among the weights, starts from the loaded parameter.
/// Reports rounding on standard error.
void copyWeights(const Weights &weights, Program &program);

/// Opens `place`, and copies its parameters, block states and scalars of the run into `program`;
/// tensors missing from the file have their initial values. With `partial`, loads only the tensors
/// that both have. Reports on standard error which checkpoints it skips, and a `predict` that
/// differs from the trained program's. Throws Failure.
Weights loadWeights(Program &program, const std::string &place, bool partial = false);

} // namespace weir

#endif
