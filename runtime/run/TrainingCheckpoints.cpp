//===- TrainingCheckpoints.cpp - Checkpoints of a training run ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "artifact/Reader.h"
#include "runtime/collectives/Consensus.h"
#include "runtime/run/Training.h"
#include "support/Text.h"

namespace weir {

std::string Training::savedAsItStands() {
  // Where this is one of several processes, the others are elsewhere, unless all have agreed.
  if (!store || (group && !endsTogether) || done + started.size() == 0)
    return "";
  try {
    finishSteps();
    save(/*stepsFollow=*/false);
    awaitAll();
    return concat("; the run is saved after step ", done, " in ", store->pathOf(done));
  } catch (const Failure &failure) {
    return concat("; Weir could not save the run: ", failure.what());
  }
}

/// Who ends now would be a failure to those that are not as far. Who is not heard of any more here
/// has ended, and so has heard of all.
void Training::awaitAll() {
  try {
    if (group)
      collectives::mostOf(*group, "the end of the run", 0);
  } catch (const Failure &) {
  }
}

/// What is still being written was saved before the run failed. Several processes are elsewhere:
/// those that fail together have waited for it already.
std::string Training::savedBefore() {
  try {
    if (saver && !group)
      saver->wait();
    return "";
  } catch (const Failure &failure) {
    return concat("; Weir could not write the last checkpoint: ", failure.what());
  }
}

std::string Training::newestCheckpoint() const {
  return saver && saver->saved() >= 0
             ? concat(" The newest checkpoint is ", store->pathOf(saver->saved()), ".")
             : "";
}

Manifest Training::manifest() const {
  const artifact::Program &plan = program.plan();
  Manifest manifest;
  manifest.step = done;
  manifest.totalSteps = total;
  manifest.seed = seed;
  manifest.skipped = skips.skipped();
  manifest.skippedInARow = skips.inARow();
  manifest.model = plan.model()->str();
  manifest.target = artifact::deviceOf(plan).target()->str();
  if (plan.configs())
    for (const artifact::Config *config : *plan.configs())
      manifest.configs[config->name()->str()] = config->value()->str();
  manifest.overflowsInARow = skips.overflowsInARow();
  manifest.precision = nameOf(artifact::precisionOf(plan));
  manifest.master = nameOf(artifact::elementOf(plan.master()));
  if (plan.loss_scale())
    manifest.lossScale = plan.loss_scale()->str();
  if (plan.strategy())
    manifest.strategy = plan.strategy()->str();
  auto digest = [](uint64_t value) { return value ? hexText(value) : ""; };
  manifest.training = digest(plan.training_digest());
  manifest.prediction = digest(plan.predict_digest());
  manifest.holdout = options.holdout;
  manifest.shuffle = !options.noShuffle;
  manifest.data = data.facts();
  manifest.vocabularies = data.trainedOn().vocabularies();
  return manifest;
}

void Training::save(bool stepsFollow) {
  saver->wait();
  if (saver->saved() == done)
    return;
  requireSameReplicas(
      concat("step ", done),
      "The processor, memory or network of one of these ranks is faulty: Weir saves nothing." +
          newestCheckpoint());
  if (auto words = guard.broken(program.variables()))
    throw Failure(Exit::numeric,
                  concat("step ", done, ": ", *words,
                         ", but was finite when the run began; Weir does not save it.",
                         newestCheckpoint(),
                         " No step writes such values: if the machine's memory is sound, this is a "
                         "fault of Weir's own, please report it"));
  saver->save(manifest(), stepsFollow);
}

} // namespace weir
