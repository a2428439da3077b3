//===- Saver.cpp - Saves checkpoints, also in the background --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/resume/Saver.h"
#include "runtime/base/MachineMemory.h"
#include "runtime/base/Thread.h"
#include "runtime/checkpoint/Tensors.h"
#include "runtime/collectives/Consensus.h"
#include "runtime/run/launch/RestartState.h"
#include "support/Text.h"

namespace weir {

Saver::Saver(CheckpointStore &store, const Program &program, const RunOptions &options)
    : store(store), program(program), group(options.device.group),
      restartState(options.restartState) {
  if (restartState && restartState->saved < newest)
    restartState->saved = newest;
  if (!options.asyncCheckpoint)
    return;
  // A process that uses more than there is would be ended at the first save, without a word.
  uint64_t copies =
      Snapshot::bytesOf(program.variables()) * (group ? uint64_t(group->neighbours()) : 1);
  uint64_t run = program.facts().hostMemory, there = machineMemory();
  if (there && run + copies > there)
    throw Failure(
        Exit::device,
        concat("--async-checkpoint: not enough memory for a copy of the tensors to save: ", copies,
               " bytes are needed in addition to the ", run, " of the run, but this machine has ",
               there,
               "; leave the option out: steps then wait for each save, which needs no copy"));
  snapshot.emplace(program.variables());
}

Saver::~Saver() {
  if (pending)
    pending->stop();
  if (writer.joinable())
    writer.join();
}

void Saver::found(int64_t step) {
  newest = step;
  if (restartState)
    restartState->saved = step;
}

void Saver::save(const Manifest &manifest, bool stepsFollow) {
  wait();
  if (newest == manifest.step)
    return;
  bool isBehind = stepsFollow && snapshot;
  const std::vector<TensorView> &variables = program.variables();
  std::unique_ptr<Saving> begun =
      isBehind ? store.begin(manifest, snapshot->parameters(), snapshot->state())
               : store.begin(manifest, storedParameters(variables), storedState(variables));
  if (!begun) { // a whole one is there
    found(manifest.step);
    return;
  }
  if (isBehind) {
    snapshot->take();
    writer = startThread([saving = begun.get()] { saving->write(); });
    pending = std::move(begun);
    return;
  }
  begun->write();
  pending = std::move(begun);
  wait();
}

void Saver::poll() {
  if (!pending)
    return;
  int64_t isLate = !pending->isWritten();
  if (group)
    isLate = collectives::mostOf(*group, "the check for a pending checkpoint", isLate);
  if (!isLate)
    wait();
}

void Saver::wait() {
  if (writer.joinable())
    writer.join();
  if (!pending)
    return;
  // Where it cannot be finished, it is nothing that is waited for.
  std::unique_ptr<Saving> written = std::move(pending);
  store.finish(*written);
  found(written->step());
}

} // namespace weir
