//===- main.cpp - Runs an artifact with the runtime alone -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/Evaluate.h"
#include "runtime/run/Train.h"
#include "tools/common/CommandLine.h"
#include "tools/common/Files.h"

#include <string_view>
#include <vector>

namespace weir {
namespace {

constexpr const char *training =
    R"(Train the model of an artifact.

An artifact is machine code: run only what you trust. `weir-run eval` and `weir-run predict` run a trained
model; each has its own --help.

Examples:
  weir-run gpt.weirx --data window=shakespeare.txt --holdout 0.1
  weir-run gpt.weirx --data window=shakespeare.txt --checkpoint runs/gpt --resume --metrics m.jsonl
  weir-run eval gpt.weirx --checkpoint runs/gpt --data window=other.txt
  weir-run predict mlp.weirx --checkpoint runs/mlp --data images=images.npy -o logits.npy)";

constexpr const char *evaluation =
    R"(Compute the loss and metrics of a trained model on some data.

Examples:
  weir-run eval gpt.weirx --checkpoint runs/gpt --data window=other.txt)";

constexpr const char *prediction =
    R"(Write the predictions of a trained model for each row of some data.

Examples:
  weir-run predict mlp.weirx --checkpoint runs/mlp --data images=images.npy -o logits.npy)";

/// One command: its options, and what it does with an artifact.
template <typename Options>
Exit run(const char *name, const char *about, void (*add)(CLI::App &, Options &),
         Exit (*execute)(std::vector<std::byte>, const Options &), int argc,
         const char *const *argv) {
  CLI::App app(about, name);
  addVersionOption(app, "weir-run");
  app.footer("Documentation: docs/reference/running.md");
  std::string artifact;
  app.add_option("artifact", artifact,
                 "An artifact of weir compile; it is machine code: run only what you trust")
      ->type_name("ARTIFACT")
      ->required();
  Options options;
  add(app, options);
  if (auto status = parseCommandLine(app, argc, argv))
    return *status;
  options.alsoRead = {namedByOption("ARTIFACT", artifact)};
  return execute(readUndamagedArtifact(artifact), options);
}

Exit runCommand(int count, char **given) {
  std::vector<const char *> words = expandHelp(count, given);
  const char *const *argv = words.data();
  int argc = static_cast<int>(words.size());
  std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "eval")
    return run("weir-run eval", evaluation, addEvaluateOptions, runEvaluation, argc - 1, argv + 1);
  if (first == "predict")
    return run("weir-run predict", prediction, addPredictOptions, runPrediction, argc - 1,
               argv + 1);
  return run("weir-run", training, addRunOptions, runTraining, argc, argv);
}

} // namespace
} // namespace weir

int main(int argc, char **argv) {
  return weir::guarded([&] { return weir::runCommand(argc, argv); });
}
