//===- Train.cpp - Runs an artifact's training ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/Train.h"
#include "artifact/Alternatives.h"
#include "artifact/Header.h"
#include "artifact/Reader.h"
#include "runtime/collectives/Consensus.h"
#include "runtime/run/Training.h"
#include "runtime/run/launch/Distributed.h"
#include "runtime/run/launch/Launcher.h"
#include "runtime/run/launch/Restarts.h"

namespace weir {

Exit runTraining(std::vector<std::byte> artifact, const RunOptions &options) {
  if (options.restarts && !options.parent)
    return withRestarts(
        options, [&](const RunOptions &own) { return runTraining(std::move(artifact), own); });
  if (!options.device.group && findLaunch(options.rendezvous)) {
    std::vector<Mesh> meshes = artifact::meshesOf(artifact::verify(artifact));
    return runDistributed(options, meshes, [&](const RunOptions &own) {
      return runTraining(std::move(artifact), own);
    });
  }
  if (Group *group = options.device.group)
    collectives::requireSame(*group, "the comparison of artifacts", "artifact",
                             artifact::payloadHash(artifact));
  if (options.nanLimit && options.nan != "skip")
    throw Failure(Exit::usage, "--nan-limit: limits how many steps in a row --nan skip skips; add "
                               "--nan skip, or leave the option out");
  if (!options.change.empty() && !options.resume && !options.replay)
    throw Failure(Exit::usage, "--change requires --resume or --replay");
  checkOverwrites(options);
  // Before anything that takes long: a signal while loading counts after the first step.
  Signals signals(options.parent);
  Training training(std::move(artifact), options);
  return options.replay ? training.replay(signals) : training.run(signals);
}

} // namespace weir
