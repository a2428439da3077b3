//===- SharedOptions.h - Options that all ranks of a run share ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Processes with different options would train on mixed data, or wait for each other in different
// places. So they compare their options before anything else. Every option of a run is either
// compared or a rank's own: the tables in SharedOptions.cpp say which.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_LAUNCH_SHAREDOPTIONS_H
#define WEIR_RUNTIME_RUN_LAUNCH_SHAREDOPTIONS_H

#include "runtime/collectives/Consensus.h"
#include "runtime/run/RunOptions.h"

namespace weir {

/// The values of the options that all ranks of a run share, including defaults. For --steps,
/// --epochs and --device, the values as given, because their defaults come from the artifact: the
/// same value, given to one rank only, is a difference. For files and directories, only whether
/// they are given, and for which inputs: their contents are compared when they are opened.
std::vector<collectives::Given> sharedOptions(const RunOptions &options);

/// The names of the options that may differ between ranks.
std::span<const char *const> ownOptions();

} // namespace weir

#endif
