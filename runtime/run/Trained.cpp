//===- Trained.cpp - A program with the weights of a run in it ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/Trained.h"
#include "runtime/base/Text.h"
#include "runtime/report/Say.h"
#include "runtime/run/Ports.h"
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

Weights loadTrained(Program &program, const std::string &place) {
  Weights weights(place, say);
  weights.requireAll(program.variables(), /*states=*/true);
  uint64_t digest = program.plan().predict_digest();
  const Manifest *manifest = weights.manifest();
  if (manifest && digest != 0 && !manifest->prediction.empty() &&
      manifest->prediction != hexText(digest))
    say(concat("warning: ", weights.path(),
               ": was trained by a program whose predict computes something else than this "
               "artifact's; the results will be worth little unless that is intended"));
  if (std::string rounded = weights.rounded(program.variables()); !rounded.empty())
    say(rounded);
  writeRunScalar(program, "seed", 1);
  program.run(requireEntry(program, "init", "to begin"));
  weights.load(program.variables());
  weights.loadRun(program.variables());
  return weights;
}

} // namespace weir
