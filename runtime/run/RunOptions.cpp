//===- RunOptions.cpp - What a training run is asked to do ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/RunOptions.h"
#include "runtime/base/Text.h"
#include "runtime/data/Readers.h"
#include "runtime/run/Launcher.h"
#include "runtime/run/SameRun.h"
#include "runtime/run/Utilization.h"
#include "runtime/run/Within.h"
#include <algorithm>
#include <limits>

namespace weir {
namespace {

constexpr int64_t mostSteps = std::numeric_limits<int32_t>::max();

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
  return addSources(app, "--data", data,
                    concat("values of a model's input, once for each: idx, .npy, text or .bin "
                           "tokens, told by content and name, or in the format that stands before "
                           "the path, such as tokens=u32:t.bin: one of ",
                           join(formatNames())));
}

void addDeviceOptions(CLI::App &app, DeviceOptions &options, const std::string &group) {
  CLI::Option *made[] = {
      app.add_option("--threads", options.threads,
                     "CPU threads (default: the cores this process may use)")
          ->type_name("N")
          ->transform(integerWithin(1, 4096)),
      app.add_option("--device", options.kind,
                     "where it runs: cpu, cuda, null (without arithmetic) or emulated (a GPU's "
                     "program on the CPU, slow and checked) (default: what it was compiled for)")
          ->type_name("NAME"),
      app.add_flag_callback(
          "--no-graph", [&options] { options.graph = false; },
          "on a GPU, launch kernels one by one instead of a step as one graph"),
      app.add_option("--offload-dir", options.offloadFolder,
                     "where what was compiled to lie with the host is a file, which nothing is "
                     "left of (default: in memory)")
          ->type_name("DIR")};
  for (CLI::Option *option : made)
    if (!group.empty())
      option->group(group);
}

void keepSources(const RunOptions &options) {
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
  keepSources(written, read);
}

void addRunOptions(CLI::App &app, RunOptions &options) {
  const char *data = "Data", *training = "Training", *keeping = "Checkpoints", *reports = "Reports",
             *processes = "Processes";

  addDataOption(app, options.data)->group(data);
  auto *evalData =
      addSources(app, "--eval-data", options.evalData, "held-out data, as --data")->group(data);
  auto *holdout = app.add_option("--holdout", options.holdout,
                                 "hold out this last fraction of the data, such as 0.1")
                      ->type_name("FRACTION")
                      ->check(within(1e-9, 1 - 1e-9, "a fraction between 0 and 1, such as 0.1"))
                      ->group(data);
  evalData->excludes(holdout);
  app.add_flag("--no-shuffle", options.noShuffle, "read rows, or windows, in the order of the file")
      ->group(data);

  auto *steps =
      app.add_option("--steps", options.steps, "how many steps to train, instead of the recipe's")
          ->type_name("N")
          ->transform(integerWithin(1, mostSteps))
          ->group(training);
  auto *epochs = app.add_option("--epochs", options.epochs,
                                "how many times to go over the data, instead of the recipe's")
                     ->type_name("N")
                     ->transform(integerWithin(1, mostSteps))
                     ->excludes(steps)
                     ->group(training);
  app.add_option("--seed", options.seed, "of the weights, the data's order and dropout (default 1)")
      ->type_name("N")
      ->transform(integerWithin(0, mostSteps))
      ->group(training);
  auto *init = app.add_option("--init", options.init,
                              "begin with the weights in this safetensors file or checkpoint")
                   ->type_name("FILE|DIR")
                   ->group(training);
  auto *partial =
      app.add_option(
             "--init-partial", options.initPartial,
             "begin with those of its weights that the model has; lists what is taken and what "
             "is not")
          ->type_name("FILE|DIR")
          ->excludes(init)
          ->group(training);
  auto *evalEvery = app.add_option("--eval-every", options.evalEvery,
                                   "also evaluate the held-out data every N steps")
                        ->type_name("N")
                        ->transform(integerWithin(1, mostSteps))
                        ->group(training);
  auto *nan =
      app.add_option(
             "--nan", options.nan,
             "when a loss, gradient or update is not finite: abort (default), skip the step, or "
             "trace: abort, and say which op made the first such value, of what")
          ->type_name("abort|skip|trace")
          ->check(CLI::Validator(
              [](std::string &text) {
                return text == "abort" || text == "skip" || text == "trace"
                           ? ""
                           : concat("expected abort, skip or trace, found '", text, "'");
              },
              ""))
          ->group(training);
  auto *nanLimit =
      app.add_option("--nan-limit", options.nanLimit,
                     "with --nan skip: how many skipped steps in a row end the run (default 20)")
          ->type_name("N")
          ->transform(integerWithin(1, mostSteps))
          ->group(training);
  addDeviceOptions(app, options.device, training);

  auto *checkpoint =
      app.add_option("--checkpoint", options.checkpoint, "keep weights and state in this directory")
          ->type_name("DIR")
          ->group(keeping);
  auto *every =
      app.add_option("--every", options.every,
                     "steps between checkpoints (default 500); there is one at the end anyway")
          ->type_name("N")
          ->transform(integerWithin(1, mostSteps))
          ->needs(checkpoint)
          ->group(keeping);
  auto *keep = app.add_option("--keep", options.keep,
                              "how many of the newest checkpoints to keep (default 3)")
                   ->type_name("N")
                   ->transform(integerWithin(1, 1000000))
                   ->needs(checkpoint)
                   ->group(keeping);
  auto *async =
      app.add_flag("--async-checkpoint", options.asyncCheckpoint,
                   "write checkpoints while the next steps run; takes memory for a copy of the "
                   "weights and the optimizer's state")
          ->needs(checkpoint)
          ->group(keeping);
  auto *resume =
      app.add_flag("--resume", options.resume,
                   "go on from the newest whole checkpoint, or start where there is none")
          ->needs(checkpoint)
          ->group(keeping);
  auto *extend =
      app.add_flag("--extend", options.extend,
                   "with --resume: allow another number of steps than the run began with")
          ->needs(resume)
          ->group(keeping);
  app.add_option("--replay", options.replay,
                 "run this step again, after those that lead to it from the last checkpoint before "
                 "it; write nothing, and say what it comes to and, as --nan trace, why it is not "
                 "finite")
      ->type_name("STEP")
      ->transform(integerWithin(1, mostSteps))
      ->needs(checkpoint)
      ->excludes(resume, extend, every, keep, async, steps, epochs, init, partial, evalEvery, nan,
                 nanLimit)
      ->group(keeping);
  // Split here: CLI11 would pass over an empty name.
  app.add_option_function<std::vector<std::string>>(
         "--change",
         [&options](const std::vector<std::string> &lists) {
           options.change.clear();
           for (const std::string &list : lists)
             for (std::string &name : split(list, ','))
               options.change.push_back(std::move(name));
         },
         concat(
             "with --resume or --replay: allow what differs from how the run was begun; some of ",
             join(changeableFacts()), ", with commas between them"))
      ->type_name("WHAT,...")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)
      ->check(CLI::Validator(
          [](std::string &text) {
            const std::vector<std::string> &names = changeableFacts();
            for (const std::string &name : split(text, ','))
              if (std::find(names.begin(), names.end(), name) == names.end())
                return concat("expected some of ", join(names), "; found '", name, "'",
                              didYouMean(name, names));
            return std::string();
          },
          ""))
      ->group(keeping);

  app.add_option("--rendezvous", options.rendezvous,
                 "where rank 0 of several processes is found, where their launcher does not say it")
      ->type_name("HOST:PORT")
      ->check(CLI::Validator([](std::string &text) { return checkRendezvous(text); }, ""))
      ->group(processes);
  app.add_flag("--trust-network", options.trustNetwork,
               "whoever reaches rank 0 over the network may join the run, without "
               "WEIR_JOB_SECRET_FILE; on all ranks or none")
      ->group(processes);
  app.add_option("--collective-timeout", options.collectiveTimeout,
                 "seconds that ranks wait for one that is alive and late (default 300)")
      ->type_name("SECONDS")
      ->transform(integerWithin(1, 1000000))
      ->each(
          [&options](const std::string &seconds) { options.device.patience = std::stol(seconds); })
      ->group(processes);

  app.add_option("--restarts", options.restarts,
                 "go on from the last checkpoint, up to N times, where this process is killed, a "
                 "rank of several is lost, or a device fails")
      ->type_name("N")
      ->transform(integerWithin(0, 1000000))
      ->needs(checkpoint)
      ->excludes("--replay")
      ->group(processes);

  app.add_option("--metrics", options.metrics,
                 "write one JSON object per step, such as --metrics m.jsonl; - writes them to "
                 "standard output, and the results to standard error")
      ->type_name("FILE.jsonl|-")
      ->each(warnsOfEnding("--metrics", ".jsonl"))
      ->group(reports);
  app.add_option("--tensorboard", options.tensorboard, "write TensorBoard's event files")
      ->type_name("DIR")
      ->check(isNotStandardOutput())
      ->group(reports);
  writesFile(
      app.add_option("--trace", options.trace,
                     "write where the time of some steps went, for chrome://tracing or Perfetto"),
      ".json")
      ->check(isNotStandardOutput())
      ->group(reports);
  app.add_flag("--profile", options.profile,
               "say at the end what the time of a step went to: each kernel and library call with "
               "its time, GFLOP/s, GB/s and lines of the model")
      ->group(reports);
  app.add_option("--peak-flops", options.peakFlops,
                 "FLOPs per second that one device (a GPU, or the CPU of this process) reaches at "
                 "most, or measure, on a CPU: reports give mfu and hfu, the parts of what all "
                 "devices reach that the model's products and all that are executed come to")
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
          ""))
      ->group(reports);
  writesFile(
      app.add_option("--gradients", options.gradients,
                     "write the gradients of the last step, before clipping; `weir run` needs an "
                     "artifact that was compiled with --gradients"),
      ".safetensors")
      ->check(isNotStandardOutput())
      ->group(reports);
  if (!app.get_option_no_throw("--json"))
    app.add_flag("--json", options.json, "results on standard output as one JSON object")
        ->group(reports);
  app.add_flag("--poison", options.device.poison,
               "fill dead memory with NaN, to show that nothing reads it")
      ->group("");
}

} // namespace weir
