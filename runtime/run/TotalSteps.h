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

/// The steps of the whole run: from --steps or --epochs, otherwise those of the resumed run,
/// otherwise the recipe's. `perEpoch` are the steps of an epoch; `resumed` is null for a new run.
/// Throws Failure(Exit::usage) if the number differs from that of the resumed run without --extend,
/// and Failure(Exit::model) if it exceeds an i32. Warns if the run is so short that its warm-up is
/// cut.
int64_t totalSteps(const artifact::Program &plan, const RunOptions &options, int64_t perEpoch,
                   const Manifest *resumed);

} // namespace weir

#endif
