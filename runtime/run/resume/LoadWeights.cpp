//===- LoadWeights.cpp - Loads weights into a program ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/resume/LoadWeights.h"
#include "runtime/report/Say.h"
#include "runtime/run/Ports.h"
#include "support/Text.h"
#include "support/program/Entries.h"
#include <algorithm>
#include <filesystem>

namespace weir {

const std::string &checkpointFolder(const std::string &checkpoint, const char *forFile) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(checkpoint, ignored))
    throw Failure(Exit::usage, concat("--checkpoint ", checkpoint,
                                      ": is a file; --checkpoint takes the directory of a run or "
                                      "a checkpoint",
                                      forFile));
  if (!std::filesystem::is_directory(checkpoint, ignored))
    throw Failure(Exit::storage, concat("--checkpoint ", checkpoint,
                                        ": there is no such directory; train with --checkpoint ",
                                        checkpoint, " first"));
  return checkpoint;
}

void initialize(Program &program) {
  writeRunScalar(program, "seed", 1);
  program.run(requireEntry(program, "init", "to begin"));
}

/// On standard error.
static void list(const std::string &what, const std::vector<std::string> &tensors) {
  constexpr size_t most = 500;
  say(concat(what, ": ", tensors.size()));
  for (size_t i = 0; i < std::min(tensors.size(), most); ++i)
    say(concat("  ", tensors[i]));
  if (tensors.size() > most)
    say(concat("  and ", tensors.size() - most, " more"));
}

void checkWeights(const Weights &weights, const Program &program, bool partial, bool states) {
  const char *begun = "not in the file, initialized by the model";
  if (partial) {
    Weights::Overlap overlap = weights.overlap(program.variables());
    list(concat("loaded from ", weights.path()), overlap.taken);
    list(begun, overlap.kept);
    list("in the file, but not in the model", overlap.unused);
    return;
  }
  weights.requireAll(program.variables(), states);
  if (auto absent = weights.absent(program.variables()); !absent.empty())
    list(concat(weights.path(), ": ", begun), absent);
  if (auto buffers = weights.buffers(program.variables()); !buffers.empty())
    list(concat(weights.path(), ": buffers of another framework, which Weir ignores"), buffers);
}

void copyWeights(const Weights &weights, Program &program) {
  if (std::string rounded = weights.rounded(program.variables()); !rounded.empty())
    say(rounded);
  weights.load(program.variables());
  const artifact::Entry *states = program.entry(statesEntry);
  if (!states)
    return;
  program.run(*states);
  weights.load(program.variables()); // what they have of states counts
}

Weights loadWeights(Program &program, const std::string &place, bool partial) {
  Weights weights(place, say);
  checkWeights(weights, program, partial, /*states=*/true);
  uint64_t digest = program.plan().predict_digest();
  const Manifest *manifest = weights.manifest();
  if (manifest && digest != 0 && !manifest->prediction.empty() &&
      manifest->prediction != hexText(digest))
    say(concat("warning: ", weights.path(),
               ": was trained by a program whose predict differs from this artifact's; the results "
               "are meaningless unless this is intended"));
  initialize(program);
  copyWeights(weights, program);
  weights.loadRun(program.variables());
  return weights;
}

} // namespace weir
