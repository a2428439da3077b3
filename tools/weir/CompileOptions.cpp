//===- CompileOptions.cpp - What is said of a compilation -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/CompileOptions.h"
#include "codegen/targets/Targets.h"
#include "runtime/base/Error.h"
#include "runtime/base/LossScale.h"
#include "runtime/base/Masters.h"
#include "runtime/base/Precision.h"
#include "runtime/base/Text.h"
#include "tools/common/CommandLine.h"
#include "tools/weir/MeshOptions.h"
#include "tools/weir/SizeOption.h"
#include <charconv>

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

/// The words of --offload. Where optimizers and parameters are both there, the latter say it.
void readOffload(const std::vector<std::string> &words, CompileOptions &options) {
  auto has = [&](const char *word) { return std::ranges::find(words, word) != words.end(); };
  for (const std::string &word : words)
    if (std::ranges::count(words, word) > 1)
      throw CLI::ValidationError("--offload", word + " stands there twice: expected it once");
  options.choosesOffload = has("auto");
  if (options.choosesOffload && words.size() > 1)
    throw CLI::ValidationError("--offload",
                               "auto stands for whatever has to lie there: expected it alone");
  options.offloadsActivations = has("activations");
  options.offload = has("parameters") ? "parameters" : has("optimizer") ? "optimizer" : "";
}

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
      throw Failure(Exit::usage, "--set " + set + ": another value was given before it");
  }
  options.colour = colouredErrors();
}

void addPrecisionOptions(CLI::App &app, CompileOptions &options) {
  app.add_option("--precision", options.precision, "Mixed precision: " + precisionOptions())
      ->group("Target and precision")
      ->type_name("TYPE")
      ->capture_default_str()
      ->each([&options](const std::string &) { options.saysPrecision = true; });
  app.add_option("--master", options.master,
                 "Type of parameters and optimizer state: " + masterOptions())
      ->group("Target and precision")
      ->type_name("TYPE")
      ->capture_default_str();
  app.add_option("--loss-scale", options.lossScale,
                 "Scale the loss: none, dynamic[:N] or N (default with f16: dynamic)")
      ->group("Target and precision (more)")
      ->type_name("SCALE");
}

void addTargetOptions(CLI::App &app, CompileOptions &options) {
  app.add_option("--target", options.target,
                 "CPU level or GPU architecture, such as cpu:x86-64-v3 or cuda:sm_90")
      ->group("Target and precision")
      ->type_name("TARGET")
      ->each([&options](const std::string &) { options.saysTarget = true; });
  addPrecisionOptions(app, options);
  app.add_option("--memory", options.memory, "Memory budget, met by activation checkpointing")
      ->group("Memory")
      ->type_name("SIZE|here")
      ->transform(CLI::Validator(
          [&options](std::string &text) {
            try {
              text = sizeInBytes(text, options.memoryIsHere);
            } catch (const CLI::ValidationError &error) {
              return std::string(error.what());
            }
            return std::string();
          },
          ""));
  app.add_option_function<std::string>(
         "--microbatches",
         [&options](const std::string &text) {
           options.choosesMicrobatches = text == "auto";
           auto [end, error] =
               std::from_chars(text.data(), text.data() + text.size(), options.microbatches);
           bool isNumber = error == std::errc() && end == text.data() + text.size();
           if (!options.choosesMicrobatches && (!isNumber || options.microbatches < 1))
             throw CLI::ValidationError(
                 text + " is no number of microbatches: expected 1 or more, or auto");
         },
         "Split each batch into N microbatches (gradient accumulation)")
      ->group("Memory")
      ->type_name("N|auto");
  app.add_option_function<std::vector<std::string>>(
         "--offload",
         [&options](const std::vector<std::string> &all) { readOffload(all, options); },
         "Offload to host memory: activations, optimizer, parameters or auto")
      ->group("Memory")
      ->type_name("WHAT[,WHAT]")
      ->delimiter(',')
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"activations", "optimizer", "parameters", "auto"}));
  app.add_option("--recompute", options.recompute,
                 "Activation checkpointing: recompute these blocks, such as h.*.mlp")
      ->group("Memory")
      ->type_name("PATH")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  addMeshOptions(app, options);
  app.add_option("--plan", options.plan,
                 "Read the mesh and its options from a file that weir plan wrote")
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
  if (!options.cluster.empty() && !options.choseMesh)
    throw Failure(Exit::usage, "--cluster is what --mesh auto chooses for: give both, or see "
                               "weir plan");
  checkMeshOptions(options);
  if (options.choosesMicrobatches && !options.memory)
    throw Failure(Exit::usage, "--microbatches auto needs a --memory to fit into");
  if (options.memoryIsHere && !options.target.starts_with("cpu"))
    throw Failure(Exit::usage, "--memory here is this machine's memory, not that of " +
                                   options.target + ": give a size");
  bool offloads = options.choosesOffload || options.offloadsActivations || !options.offload.empty();
  if (options.memoryIsHere && offloads && options.offloadFolder.empty())
    throw Failure(Exit::usage,
                  concat("--memory here with --offload: what is offloaded lies in this machine's "
                         "memory, too, unless it is a file: give ",
                         options.alsoRuns ? "--offload-dir DIR"
                                          : "a size, and run it with --offload-dir DIR"));
  if (options.choosesOffload && !options.memory)
    throw Failure(Exit::usage, "--offload auto needs a --memory to fit into");
  if (options.offloadsActivations && !options.memory)
    throw Failure(Exit::usage, "--offload activations needs a --memory to fit into: what there is "
                               "room for is kept");
}

} // namespace weir
