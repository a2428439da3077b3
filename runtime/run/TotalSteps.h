//===- TotalSteps.h - The number of steps of a run ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_TOTALSTEPS_H
#define WEIR_RUNTIME_RUN_TOTALSTEPS_H

#include "runtime/core/Program.h"
#include "runtime/run/RunOptions.h"

namespace weir {

struct Manifest;

/// The steps of the whole run: as --steps or --epochs ask, otherwise those of the run that is
/// resumed, otherwise the recipe's. `perEpoch` are the steps of an epoch, `resumed` is null for a
/// run that begins. Throws Failure(Exit::usage) where another number is asked for than the run was
/// begun for, without --extend, and Failure(Exit::model) where there are more than an i32 counts.
/// Warns where the run is so short that its warm-up is cut.
int64_t totalSteps(const artifact::Program &plan, const RunOptions &options, int64_t perEpoch,
                   const Manifest *resumed);

} // namespace weir

#endif
