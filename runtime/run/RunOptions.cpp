//===- RunOptions.cpp - Options of a training run -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/RunOptions.h"
#include "runtime/data/Readers.h"
#include "runtime/run/OptionRanges.h"
#include "runtime/run/Utilization.h"
#include "runtime/run/launch/Launcher.h"
#include "runtime/run/resume/ResumeCheck.h"
#include "support/NearestName.h"
#include "support/Text.h"
#include <algorithm>
#include <limits>

namespace weir {
namespace {

constexpr int64_t mostSteps = std::numeric_limits<int32_t>::max();
/// An earlier name of param-dtype that --change accepts.
constexpr std::string_view formerParamType = "master";

/// A path such as --data a=x is one value each time; a word after it is not another.
CLI::Option *addSources(CLI::App &app, const char *name, std::vector<std::string> &into,
                        const std::string &help) {
  return app.add_option(name, into, help)
      ->type_name("INPUT=[FORMAT:]PATH")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

} // namespace

CLI::Option *addDataOption(CLI::App &app, std::vector<std::string> &data) {
  return addSources(app, "--data", data, "Data file of an input; its format is detected, or given")
      ->group("Data");
}

void addDeviceOptions(CLI::App &app, DeviceOptions &options, const std::string &group) {
  app.add_option("--threads", options.threads,
                 "Number of CPU threads (default: all available cores)")
      ->type_name("N")
      ->transform(integerWithin(1, 4096))
      ->group(group);
  const std::string more = group + " (more)";
  app.add_option("--device", options.kind, "cpu, cuda, null or emulated (default: as compiled)")
      ->type_name("NAME")
      ->group(more);
  app.add_flag_callback(
         "--no-graph", [&options] { options.graph = false; },
         "Launch CUDA kernels one by one instead of as one CUDA Graph")
      ->group(more);
  app.add_option("--offload-dir", options.offloadFolder,
                 "Keep offloaded tensors in files here (default: in host memory)")
      ->type_name("DIR")
      ->group(more);
}

void checkOverwrites(const RunOptions &options) {
  std::vector<NamedPath> read = options.alsoRead, written = options.alsoWritten;
  for (const NamedPath &source : namedByData("--data", options.data))
    read.push_back(source);
  for (const NamedPath &source : namedByData("--eval-data", options.evalData))
    read.push_back(source);
  auto add = [](std::vector<NamedPath> &to, const char *option, const std::string &path) {
    if (!path.empty())
      to.push_back(namedByOption(option, path));
  };
  add(read, "--init", options.init);
  add(read, "--init-partial", options.initPartial);
  add(read, "--checkpoint", options.checkpoint);
  if (options.metrics != "-")
    add(written, "--metrics", options.metrics);
  else if (options.json)
    throw Failure(Exit::usage, "--json and --metrics -: both write to standard output; give "
                               "--metrics a file. Its last line has the results too");
  if (!options.tensorboard.empty())
    written.push_back(namedByOption("--tensorboard", options.tensorboard, true));
  add(written, "--trace", options.trace);
  add(written, "--gradients", options.gradients);
  checkOverwrites(written, read);
}

static void addDataOptions(CLI::App &app, RunOptions &options) {
  addDataOption(app, options.data);
  auto *evalData =
      addSources(app, "--eval-data", options.evalData, "Held-out data, given like --data")
          ->group("Data");
  auto *holdout = app.add_option("--holdout", options.holdout,
                                 "Hold out the last fraction of the data, such as 0.1")
                      ->group("Data")
                      ->type_name("FRACTION")
                      ->check(within(1e-9, 1 - 1e-9, "a fraction between 0 and 1, such as 0.1"));
  evalData->excludes(holdout);
  app.add_flag("--no-shuffle", options.noShuffle, "Read rows or windows in the order of the file")
      ->group("Data (more)");
}

static void addTrainingOptions(CLI::App &app, RunOptions &options) {
  auto *steps = app.add_option("--steps", options.steps, "Number of steps (default: the recipe's)")
                    ->group("Training")
                    ->type_name("N")
                    ->transform(integerWithin(1, mostSteps));
  app.add_option("--epochs", options.epochs, "Number of epochs (default: the recipe's)")
      ->group("Training")
      ->type_name("N")
      ->transform(integerWithin(1, mostSteps))
      ->excludes(steps);
  app.add_option("--seed", options.seed, "Seed of weights, data order and dropout (default: 1)")
      ->group("Training")
      ->type_name("N")
      ->transform(integerWithin(0, mostSteps));
  auto *init =
      app.add_option("--init", options.init, "Initialize from a safetensors file or a checkpoint")
          ->group("Training")
          ->type_name("FILE|DIR");
  app.add_option("--init-partial", options.initPartial,
                 "Like --init, but only with the tensors that both have")
      ->group("Training (more)")
      ->type_name("FILE|DIR")
      ->excludes(init);
  app.add_option("--eval-every", options.evalEvery, "Evaluate the held-out data every N steps")
      ->group("Training")
      ->type_name("N")
      ->transform(integerWithin(1, mostSteps));
  app.add_option("--nan", options.nan,
                 "On NaN or infinity: abort (default), skip the step, or trace the cause")
      ->group("Training")
      ->type_name("abort|skip|trace")
      ->check(CLI::Validator(
          [](std::string &text) {
            return text == "abort" || text == "skip" || text == "trace"
                       ? ""
                       : concat("expected abort, skip or trace, found '", text, "'");
          },
          ""));
  app.add_option("--nan-limit", options.nanLimit,
                 "With --nan skip, abort after N skipped steps in a row (default: 20)")
      ->group("Training (more)")
      ->type_name("N")
      ->transform(integerWithin(1, mostSteps));
  addDeviceOptions(app, options.device, "Training");
}

/// Behind the options of training, of which --replay excludes some.
static void addCheckpointOptions(CLI::App &app, RunOptions &options) {
  auto *checkpoint =
      app.add_option("--checkpoint", options.checkpoint, "Save checkpoints in this directory")
          ->group("Checkpoints")
          ->type_name("DIR");
  auto *every = app.add_option("--checkpoint-every", options.every,
                               "Save a checkpoint every N steps (default: 500)")
                    ->group("Checkpoints")
                    ->type_name("N")
                    ->transform(integerWithin(1, mostSteps))
                    ->needs(checkpoint);
  auto *keep = app.add_option("--keep-checkpoints", options.keep,
                              "Number of checkpoints to keep (default: 3)")
                   ->group("Checkpoints")
                   ->type_name("N")
                   ->transform(integerWithin(1, 1000000))
                   ->needs(checkpoint);
  auto *async = app.add_flag("--async-checkpoint", options.asyncCheckpoint,
                             "Save while training continues; needs memory for a copy")
                    ->group("Checkpoints (more)")
                    ->needs(checkpoint);
  auto *resume =
      app.add_flag("--resume", options.resume, "Resume from the newest checkpoint, if there is one")
          ->group("Checkpoints")
          ->needs(checkpoint);
  auto *extend =
      app.add_flag("--extend", options.extend, "With --resume, allow another number of steps")
          ->group("Checkpoints (more)")
          ->needs(resume);
  auto *replay =
      app.add_option("--replay", options.replay,
                     "Run this step again from the checkpoint before it, and report on it")
          ->group("Checkpoints (more)")
          ->type_name("STEP")
          ->transform(integerWithin(1, mostSteps))
          ->needs(checkpoint)
          ->excludes(resume, extend, every, keep, async);
  for (const char *name :
       {"--steps", "--epochs", "--init", "--init-partial", "--eval-every", "--nan", "--nan-limit"})
    replay->excludes(app.get_option(name));
  // Split here: CLI11 would pass over an empty name.
  app.add_option_function<std::vector<std::string>>(
         "--change",
         [&options](const std::vector<std::string> &lists) {
           options.change.clear();
           for (const std::string &list : lists)
             for (std::string &name : split(list, ','))
               options.change.push_back(name == formerParamType ? "param-dtype" : std::move(name));
         },
         "With --resume, allow these to differ, such as data,precision")
      ->group("Checkpoints (more)")
      ->type_name("WHAT,...")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->check(CLI::Validator(
          [](std::string &text) {
            const std::vector<std::string> &names = changeableFacts();
            for (const std::string &name : split(text, ','))
              if (std::find(names.begin(), names.end(), name) == names.end() &&
                  name != formerParamType)
                return concat("expected some of ", join(names), "; found '", name, "'",
                              didYouMean(name, names));
            return std::string();
          },
          ""));
}

/// Behind the options of checkpoints, which --restarts needs.
static void addProcessOptions(CLI::App &app, RunOptions &options) {
  app.add_option("--rendezvous", options.rendezvous,
                 "Address of rank 0 (default: as the launcher sets it)")
      ->group("Processes (more)")
      ->type_name("HOST:PORT")
      ->check(CLI::Validator([](std::string &text) { return checkRendezvous(text); }, ""));
  app.add_flag("--trust-network", options.trustNetwork,
               "Let any process that reaches rank 0 join without a job secret")
      ->group("Processes (more)");
  app.add_option("--collective-timeout", options.collectiveTimeout,
                 "Wait this long for other ranks (default: 300)")
      ->group("Processes (more)")
      ->type_name("SECONDS")
      ->transform(integerWithin(1, 1000000))
      ->each(
          [&options](const std::string &seconds) { options.device.patience = std::stol(seconds); });

  app.add_option("--restarts", options.restarts,
                 "Restart from the last checkpoint after a failure, up to N times")
      ->group("Processes")
      ->type_name("N")
      ->transform(integerWithin(0, 1000000))
      ->needs(app.get_option("--checkpoint"))
      ->excludes(app.get_option("--replay"));
}

static void addReportOptions(CLI::App &app, RunOptions &options) {
  app.add_option("--metrics", options.metrics,
                 "Write one JSON object per step; - is standard output")
      ->group("Reports")
      ->type_name("FILE.jsonl|-")
      ->each(warnsOfEnding("--metrics", ".jsonl"));
  app.add_option("--tensorboard", options.tensorboard, "Write TensorBoard event files")
      ->group("Reports")
      ->type_name("DIR")
      ->check(isNotStandardOutput());
  writesFile(app.add_option("--trace", options.trace,
                            "Write a timeline of some steps for chrome://tracing or Perfetto")
                 ->group("Reports"),
             ".json")
      ->check(isNotStandardOutput());
  app.add_flag("--profile", options.profile, "Print the time, FLOP/s and bytes/s of each kernel")
      ->group("Reports");
  app.add_option("--peak-flops", options.peakFlops,
                 "A device's peak FLOP/s, or measure; reports then have MFU and HFU")
      ->group("Reports (more)")
      ->type_name("N[K|M|G|T|P]|measure")
      ->check(CLI::Validator(
          [](std::string &text) {
            try {
              readPeak(text);
            } catch (const std::invalid_argument &error) {
              return std::string(error.what());
            }
            return std::string();
          },
          ""));
  writesFile(app.add_option("--gradients", options.gradients,
                            "Write the gradients of the last step, before clipping")
                 ->group("Reports (more)"),
             ".safetensors")
      ->check(isNotStandardOutput());
  if (!app.get_option_no_throw("--json"))
    app.add_flag("--json", options.json, "Print the results as one JSON object")->group("Reports");
}

void addRunOptions(CLI::App &app, RunOptions &options) {
  addDataOptions(app, options);
  addTrainingOptions(app, options);
  addCheckpointOptions(app, options);
  addProcessOptions(app, options);
  addReportOptions(app, options);
  app.add_flag("--poison", options.device.poison,
               "fill dead memory with NaN, to show that nothing reads it")
      ->group("");
}

} // namespace weir
