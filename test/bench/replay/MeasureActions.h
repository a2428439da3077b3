//===- MeasureActions.h - What a rank's actions take by themselves ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rank's program runs on one thread of this machine's processor while nothing else does: what it
// would get from others is there at once, with no sense. Steps of a plan for many devices are
// measured so on a machine that has not as many cores.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_BENCH_REPLAY_MEASUREACTIONS_H
#define WEIR_TEST_BENCH_REPLAY_MEASUREACTIONS_H

#include "artifact/Artifact_generated.h"
#include <vector>

namespace weir::replay {

/// Seconds of one run of each action of the entry `step`, at its number: the median over so many
/// steps, of loops' rounds the mean; of loops, collectives, transfers and orders 0.
std::vector<double> measureActions(const artifact::Program &program, int64_t rank, int steps);

} // namespace weir::replay

#endif
