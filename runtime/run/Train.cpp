//===- Train.cpp - Running an artifact's training -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/Train.h"
#include "runtime/run/Launcher.h"
#include "runtime/run/Training.h"

namespace weir {

Exit runTraining(std::vector<std::byte> artifact, const RunOptions &options) {
  requireOneProcess();
  // Before anything that takes long: a signal while loading counts after the first step.
  Signals signals;
  Training training(std::move(artifact), options);
  return training.run(signals);
}

} // namespace weir
