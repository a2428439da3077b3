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

/// The place of the weights: `checkpoint`, the value of --checkpoint. Throws Failure(Exit::usage)
/// for a file, with `forFile` as what to do about it, and Failure(Exit::storage) where there is
/// nothing.
const std::string &checkpointFolder(const std::string &checkpoint, const char *forFile = "");

/// Gives every variable its initial value.
void initialize(Program &program);

/// Sees that weights are the program's and tells on standard error of what of them is not taken:
/// all parameters unless `partial`, as --init-partial asks for it, and all states where `states`.
/// Throws Failure(Exit::model).
void checkWeights(const Weights &weights, const Program &program, bool partial, bool states);

/// Copies weights that were checked into the program, whose variables have their initial values.
/// States that begin as a parameter does and are not among them begin as it was loaded. Tells on
/// standard error of what is rounded.
void copyWeights(const Weights &weights, Program &program);

/// Opens `place` and copies its parameters, block states and scalars of the run into `program`;
/// what a file has not begins as in training. With `partial` only what the program has is taken.
/// Tells on standard error of checkpoints that are passed over and of a `predict` that computes
/// something else than the trained program's. Throws Failure.
Weights loadWeights(Program &program, const std::string &place, bool partial = false);

} // namespace weir

#endif
