//===- InitialState.cpp - The initial state of a run ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/resume/InitialState.h"
#include "artifact/Reader.h"
#include "runtime/checkpoint/Tensors.h"
#include "runtime/collectives/Consensus.h"
#include "runtime/report/Say.h"
#include "runtime/run/Ports.h"
#include "runtime/run/resume/LoadWeights.h"
#include "support/Text.h"
#include "support/Utf8.h"
#include "support/precision/LossScale.h"
#include "support/program/Names.h"
#include <algorithm>

namespace weir {

InitialState::InitialState(const Program &program, const RunOptions &options,
                           CheckpointStore *store)
    : options(options) {
  if (store && (options.resume || options.replay))
    findCheckpoint(program, *store);
  openWeights(program);
}

int64_t InitialState::seed() const {
  return resumed ? resumed->manifest.seed : options.seed.value_or(RunOptions::defaultSeed);
}

Vocabularies InitialState::vocabularies() const {
  if (resumed)
    return resumed->manifest.vocabularies;
  if (weights && weights->manifest())
    return weights->manifest()->vocabularies;
  return {};
}

void InitialState::findCheckpoint(const Program &program, CheckpointStore &store) {
  resumed = options.replay ? store.loadNewest(say, options.replay - 1) : store.loadNewest(say);
  if (!resumed) {
    say(concat("no checkpoint in ", options.checkpoint, " yet: starting from step 0"));
    return;
  }
  const Manifest &found = resumed->manifest;
  Masters masters = found.master == nameOf(artifact::elementOf(program.plan().master()))
                        ? Masters::same
                        : Masters::either;
  std::vector<std::string> lines =
      differences(storedParameters(program.variables()), resumed->model.tensors(), {}, masters);
  // Another precision or scale of the loss is another way to train the same model: of that,
  // requireSameRun().
  std::vector<StoredTensor> state = storedState(program.variables()), scaling = storedLossScale();
  if (auto amax = resumed->state.tensors().find(amaxName); amax != resumed->state.tensors().end()) {
    scaling.push_back(amax->second);
    scaling.back().dtype = rowOf(Element::f32).safetensors; // of any shape
  }
  std::erase_if(state, [](const StoredTensor &tensor) { return tensor.name == amaxName; });
  std::erase_if(state, [&](const StoredTensor &tensor) {
    return std::any_of(scaling.begin(), scaling.end(),
                       [&](const StoredTensor &part) { return part.name == tensor.name; });
  });
  for (std::string &line : differences(state, resumed->state.tensors(), scaling, masters))
    lines.push_back(std::move(line));
  if (!lines.empty())
    throw Failure(Exit::model,
                  concat(resumed->path, ": is a checkpoint of another model (",
                         shownName(found.model), "); this model is ", program.plan().model()->str(),
                         ":\n  ", joinFew(lines, "\n  ")));
  if (options.seed && *options.seed != found.seed)
    throw Failure(Exit::usage, concat("--seed ", *options.seed, ": the run in ", options.checkpoint,
                                      " was started with --seed ", found.seed,
                                      "; leave the option out, or start another run"));
}

void InitialState::openWeights(const Program &program) {
  bool partial = !options.initPartial.empty();
  const std::string &path = partial ? options.initPartial : options.init;
  if (path.empty())
    return;
  if (resumed) {
    say(concat(partial ? "--init-partial " : "--init ", path,
               " is ignored: the weights come from the checkpoint"));
    return;
  }
  openOnAllRanks(program, partial ? "--init-partial" : "--init", path);
  checkWeights(*weights, program, partial, /*states=*/false);
}

/// Processes read a checkpoint together, so they first agree that it is one.
void InitialState::openOnAllRanks(const Program &program, const std::string &option,
                                  const std::string &path) {
  Group *group = options.device.group;
  auto compare = [&](const std::string &value) {
    if (group)
      collectives::requireSameGiven(*group, "the comparison of weights",
                                    {{option, value, concat(shownName(path), " (", value, ")")}});
  };
  compare(Weights::kindOf(path));
  weights.emplace(path, say, Ranks{group, &program.variables()});
  if (group)
    compare(weights->content());
}

void InitialState::sayWhereScalesBeginAnew(const Program &program) const {
  for (const TensorView &variable : program.variables()) {
    if (variable.name != amaxName)
      continue;
    const auto &stored = resumed->state.tensors();
    auto history = stored.find(amaxName);
    if (history == stored.end() || history->second.shape != variable.shape)
      say(concat(resumed->path,
                 ": has no amax history of this program's f8 tensors: their scales start again, "
                 "and the next 16 steps differ from those of an uninterrupted run"));
  }
}

/// Where a dynamic one is, it is what a step can make of it.
static void requireLossScale(const Program &program, const std::string &checkpoint) {
  std::optional<int32_t> scale = readRunScalar(program, "loss_scale"),
                         good = readRunScalar(program, "good_steps");
  if (scale && good &&
      !(lossScaleNamed(std::to_string(*scale)) && *good >= 0 && *good < LossScale::goodSteps))
    throw Failure(Exit::storage,
                  concat(checkpoint, ": the loss scale is ", *scale, " after ", *good,
                         " good steps; expected a power of two from 1 to ", LossScale::most,
                         ", and 0 to ", LossScale::goodSteps - 1, " steps"));
}

std::string InitialState::begin(Program &program, int64_t totalSteps) const {
  auto set = [&](const char *name, int64_t value) {
    writeRunScalar(program, name, static_cast<int32_t>(value));
  };
  set("seed", seed());
  set("step", 0);
  set("total_steps", totalSteps);
  const flatbuffers::String *scale = program.plan().loss_scale();
  auto startScale = [&] {
    if (!scale)
      return;
    set("loss_scale", lossScaleNamed(scale->string_view())->start);
    set("good_steps", 0);
  };
  startScale();
  if (resumed) {
    // What the checkpoint does not have, or of other tensors, begins as it does in a run.
    for (const TensorView &variable : program.variables())
      if (variable.name == amaxName)
        variable.write(0, std::vector<std::byte>(variable.size));
    sayWhereScalesBeginAnew(program);
    restore(program.variables(), resumed->model);
    restore(program.variables(), resumed->state);
    if (scale && resumed->manifest.lossScale != scale->string_view())
      startScale(); // it was allowed to change
    else
      requireLossScale(program, resumed->path);
    set("total_steps", totalSteps);
    if (const char *master = nameOf(artifact::elementOf(program.plan().master()));
        resumed->manifest.master != master)
      say(concat(resumed->path, ": parameters and optimizer state are ", resumed->manifest.master,
                 " in the checkpoint, and Weir converts them to ", master));
    say(concat(options.replay ? "replaying" : "resuming", " after step ", resumed->manifest.step,
               " from ", resumed->path));
  } else {
    program.run(requireEntry(program, "init", "to begin a run"));
    if (weights)
      copyWeights(*weights, program);
  }
  return resumed ? concat(" in ", resumed->path) : weights ? concat(" in ", weights->path()) : "";
}

} // namespace weir
