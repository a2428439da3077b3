//===- Train.h - Runs an artifact's training ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A whole training run: data, initialization or resumption, steps, evaluations, checkpoints and
// reports. `weir run`, `weir train` and `weir-run` call this function.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_TRAIN_H
#define WEIR_RUNTIME_RUN_TRAIN_H

#include "runtime/run/RunOptions.h"
#include "support/Error.h"
#include <cstddef>

namespace weir {

/// Trains. Prints results on standard output, and everything else on standard error. Returns ok, or
/// requeue after a checkpoint on SIGTERM or SIGINT. On such a signal without a checkpoint
/// directory, finishes the step and the reports, and ends the process by that signal: there is
/// nothing to resume from, so status 75 ("start me again") would be wrong. Throws Failure.
Exit runTraining(std::vector<std::byte> artifact, const RunOptions &options);

} // namespace weir

#endif
