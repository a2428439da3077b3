//===- RunOptions.h - Options of a training run ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_RUNOPTIONS_H
#define WEIR_RUNTIME_RUN_RUNOPTIONS_H

#include "runtime/collectives/Consensus.h"
#include "runtime/core/Device.h"
#include "runtime/run/resume/OverwriteCheck.h"
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace weir {

class OpFinder;
class Program;
struct RestartState;

/// The options of `weir run`, `weir train` and `weir-run`, as given.
struct RunOptions {
  std::vector<std::string> data;     ///< "input=path"
  std::vector<std::string> evalData; ///< "input=path"; or:
  double holdout = 0;                ///< the last fraction of the data; 0: none
  bool noShuffle = false;
  int64_t steps = 0, epochs = 0; ///< 0: the recipe's
  std::optional<int64_t> seed;   ///< 1 if not given
  std::string init;          ///< a safetensors file or checkpoint; "": the model's initial values
  std::string initPartial;   ///< the same, loading only the tensors that both have
  int64_t evalEvery = 0;     ///< steps; 0: only at the end
  std::string nan = "abort"; ///< or "skip", or "trace", which aborts and names the cause
  std::optional<int64_t>
      nanLimit;           ///< skipped steps in a row that end a run with "skip"; default 20
  std::string checkpoint; ///< a directory; "": save no checkpoints
  int64_t every = 500;    ///< steps
  int keep = 3;
  bool asyncCheckpoint = false; ///< write checkpoints while steps continue
  bool resume = false, extend = false;
  int64_t replay = 0;              ///< run this step again from a checkpoint before it; 0: none
  std::vector<std::string> change; ///< allowed differences from the resumed run (ResumeCheck.h)
  std::string metrics, tensorboard, trace;
  std::string gradients;     ///< a safetensors file for the gradients of the last step; "": none
  std::string rendezvous;    ///< HOST:PORT of rank 0; "": from the launcher
  bool trustNetwork = false; ///< any process that reaches the ranks may join
  int64_t collectiveTimeout = 300;      ///< seconds to wait for a rank that is alive but late
  int64_t restarts = 0;                 ///< at most so many restarts (Restarts.h)
  RestartState *restartState = nullptr; ///< records the progress; null: nowhere
  int parent = 0;                       ///< the process that restarts this one; 0: none
  DeviceOptions device;
  bool profile = false;
  std::string peakFlops; ///< as readPeak reads it (Utilization.h); "": none
  bool json = false;     ///< results as one JSON object

  std::vector<NamedPath> alsoRead, alsoWritten; ///< files of the command itself
  std::vector<collectives::Given> alsoShared;   ///< options of the command that all ranks share

  /// Called, if set, with the loaded program before anything runs. Its result is kept during the
  /// run, and destroyed before the program.
  std::function<std::shared_ptr<void>(Program &)> attach;

  /// Creates the finder of ops within a kernel (runtime/nan_trace/OpFinder.h), if the compiler is
  /// present; called when a step is examined.
  std::function<std::unique_ptr<OpFinder>(const Program &)> findOps;

  static constexpr int64_t defaultSeed = 1, defaultNanLimit = 20;
};

/// Adds the options to a command that has no options of these names yet, except --json.
void addRunOptions(CLI::App &app, RunOptions &options);

/// Throws Failure(Exit::usage) if the run would overwrite a file that it reads, or write a file
/// twice (OverwriteCheck.h).
void checkOverwrites(const RunOptions &options);

/// Also for other commands.
CLI::Option *addDataOption(CLI::App &app, std::vector<std::string> &data);
/// --threads, --device and --no-graph, in a group of that name; "": the command's own.
void addDeviceOptions(CLI::App &app, DeviceOptions &options, const std::string &group = "Device");

} // namespace weir

#endif
