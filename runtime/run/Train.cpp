//===- Train.cpp - Running an artifact's training -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/Train.h"
#include "runtime/run/Training.h"

namespace weir {

Exit runTraining(std::vector<std::byte> artifact, const RunOptions &options) {
  Training training(std::move(artifact), options);
  return training.run();
}

} // namespace weir
