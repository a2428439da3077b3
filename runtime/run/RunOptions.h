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

/// The run options of `weir run`, `weir train` and `weir-run`, as given.
struct RunOptions {
  std::vector<std::string> data;     ///< "input=path"
  std::vector<std::string> evalData; ///< "input=path"; or:
  double holdout = 0;                ///< the last fraction of the data; 0: none
  bool noShuffle = false;
  int64_t steps = 0, epochs = 0; ///< 0: the recipe's
  std::optional<int64_t> seed;   ///< 1 where not given
  std::string init;              ///< a safetensors file or checkpoint; "": the model's initialisers
  std::string initPartial;       ///< the same, of which the model takes what it has
  int64_t evalEvery = 0;         ///< steps; 0: only at the end
  std::string nan = "abort";     ///< or "skip", or "trace", which aborts and says why
  std::optional<int64_t> nanLimit; ///< skipped steps in a row that end a run of "skip"; 20 where
                                   ///< not given
  std::string checkpoint;          ///< a directory; "": weights are not kept
  int64_t every = 500;             ///< steps
  int keep = 3;
  bool asyncCheckpoint = false; ///< checkpoints are written while steps go on
  bool resume = false, extend = false;
  int64_t replay = 0;              ///< a step to run again from a checkpoint before it; 0: none
  std::vector<std::string> change; ///< what may differ from the run that is resumed (ResumeCheck.h)
  std::string metrics, tensorboard, trace;
  std::string gradients;                ///< a safetensors file for those of the last step; "": none
  std::string rendezvous;               ///< HOST:PORT of rank 0; "": as the launcher says
  bool trustNetwork = false;            ///< whoever reaches the ranks may join them
  int64_t collectiveTimeout = 300;      ///< seconds for a rank that is alive and late
  int64_t restarts = 0;                 ///< how often it is started again at most (Restarts.h)
  RestartState *restartState = nullptr; ///< where to say how far it is; null: nowhere
  int parent = 0;                       ///< the process that starts it again; 0: none
  DeviceOptions device;
  bool profile = false;
  std::string peakFlops; ///< as readPeak takes it (Utilization.h); "": none
  bool json = false;     ///< results as one JSON object

  std::vector<NamedPath> alsoRead, alsoWritten; ///< by the command itself
  std::vector<collectives::Given> alsoShared;   ///< the command's options that all ranks share

  /// Called with the loaded program before anything runs, where set. What it returns is kept for
  /// the whole run and let go before the program is.
  std::function<std::shared_ptr<void>(Program &)> attach;

  /// Makes what names an op within a kernel (runtime/nan_trace/OpFinder.h), where the compiler is
  /// there; called once a step is looked at.
  std::function<std::unique_ptr<OpFinder>(const Program &)> findOps;

  static constexpr int64_t defaultSeed = 1, defaultNanLimit = 20;
};

/// Adds the options to a command that has no options of these names yet (--json may be there).
void addRunOptions(CLI::App &app, RunOptions &options);

/// Throws Failure(Exit::usage) where a file that is written is one that is read, or
/// written twice (OverwriteCheck.h).
void checkOverwrites(const RunOptions &options);

/// What other commands have as well.
CLI::Option *addDataOption(CLI::App &app, std::vector<std::string> &data);
/// --threads, --device and --no-graph, in a group of that name; "": the command's own.
void addDeviceOptions(CLI::App &app, DeviceOptions &options, const std::string &group = "Device");

} // namespace weir

#endif
