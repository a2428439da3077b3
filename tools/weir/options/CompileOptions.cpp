//===- CompileOptions.cpp - What is said of a compilation -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/options/CompileOptions.h"
#include "support/Error.h"
#include "support/NearestName.h"
#include "support/Text.h"
#include "tools/common/CommandLine.h"
#include "tools/weir/options/StrategyOptions.h"

namespace weir {

void addModelOptions(CLI::App &app, CompileOptions &options, ModelWords &words) {
  app.add_option("model", options.model, "The model file")->required()->type_name("MODEL");
  app.add_option("--set", words.sets, "Override a config of the model")
      ->group("Model")
      ->type_name("NAME=VALUE")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  app.add_option("-W", words.warnings,
                 "Silence a warning by its name, or turn warnings into errors")
      ->group("Model (more)")
      ->type_name("no-NAME|error")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

namespace {

/// The words after -W: "error", or "no-" and a warning's name.
void readWarnings(const std::vector<std::string> &words, WarningOptions &options) {
  for (const std::string &word : words) {
    std::optional<Warning> warning;
    if (word.starts_with("no-"))
      warning = warningNamed(word.substr(3));
    if (warning) {
      options.silenced.insert(*warning);
    } else if (word == "error") {
      options.areErrors = true;
    } else {
      std::vector<std::string> known = {"-Werror"};
      for (const std::string &name : warningNames())
        known.push_back("-Wno-" + name);
      throw Failure(Exit::usage,
                    concat("unknown option '-W", word, "'", didYouMean("-W" + word, known)));
    }
  }
}

} // namespace

void readModelOptions(const ModelWords &words, CompileOptions &options) {
  const std::vector<std::string> &sets = words.sets;
  readWarnings(words.warnings, options.warnings);
  for (const std::string &set : sets) {
    size_t equals = set.find('=');
    if (equals == 0 || equals == std::string::npos)
      throw Failure(Exit::usage, "--set " + set + ": expected NAME=VALUE");
    if (!options.sets.emplace(set.substr(0, equals), set.substr(equals + 1)).second)
      throw Failure(Exit::usage,
                    "--set " + set + ": the config is set twice; remove one of the values");
  }
  options.colour = colouredErrors();
}

void addTargetOptions(CLI::App &app, CompileOptions &options) {
  app.add_option_function<std::string>(
         "--target", [&options](const std::string &text) { options.target = text; },
         "CPU level or GPU architecture, such as cpu:x86-64-v3 or cuda:sm_90")
      ->group("Target and precision")
      ->type_name("TARGET");
  addStrategyOptions(app, options, [](const strategy::Field &) { return true; });
  app.add_option("--plan", options.plan, "Read the strategy from a file that weir plan wrote")
      ->group("Parallelism")
      ->type_name("FILE.toml");
  app.add_option("--cluster", options.cluster, "Devices that --mesh auto chooses for")
      ->group("Parallelism (more)")
      ->type_name("FILE.toml");
  app.add_option("--tuning", options.tuning, "Use the kernel schedules that weir tune measured")
      ->group("Target and precision (more)")
      ->type_name("FILE");
  app.add_option("--dump-ir", options.dumpIr, "Write the IR after every pass into this directory")
      ->group("Output (more)")
      ->type_name("DIR");
}

void checkTargetOptions(const CompileOptions &options) {
  const Strategy &strategy = options.strategy;
  if (!options.cluster.empty() && !options.choseMesh)
    throw Failure(Exit::usage, "--cluster needs --mesh auto, which chooses a mesh for it: add "
                               "--mesh auto, or use weir plan");
  if (!options.stopAfter.empty())
    requireOneMesh(options, "--stop-after");
  if (!options.dumpIr.empty())
    requireOneMesh(options, "--dump-ir");
  checkStrategy(options);
  if (options.memoryIsHere && !options.target->starts_with("cpu"))
    throw Failure(Exit::usage, "--memory here is this machine's memory, not that of --target " +
                                   *options.target + ": give a size");
  bool offloads = options.choosesOffload || strategy.offload->any();
  if (options.memoryIsHere && offloads && options.offloadFolder.empty())
    throw Failure(Exit::usage,
                  concat("--memory here with --offload: offloaded tensors take this machine's "
                         "memory too, unless they are in files: ",
                         options.alsoRuns ? "add --offload-dir DIR"
                                          : "give a size, and run with --offload-dir DIR"));
}

} // namespace weir
