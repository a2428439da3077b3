//===- Launcher.h - Reads the variables of launchers ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launcher sets environment variables in each process: the number of processes, the rank of this
// one, and the address of rank 0.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_LAUNCH_LAUNCHER_H
#define WEIR_RUNTIME_RUN_LAUNCH_LAUNCHER_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace weir {

/// One process of several.
struct Launch {
  std::string launcher;             ///< "Open MPI", for messages
  std::string sizeWords, rankWords; ///< "OMPI_COMM_WORLD_SIZE=4", for messages
  int64_t rank = 0, size = 1;
  std::string host;      ///< of rank 0; "": unknown
  std::string hostWords; ///< "MASTER_ADDR=10.0.0.1"
  uint16_t port = 0;     ///< the first port that the run may use
  /// The number of them on this machine, from the launcher; 0: unknown, or --rendezvous states the
  /// address of rank 0.
  int64_t beside = 0;
  std::string job; ///< the same for all processes of the run; short
};

/// Reads environment variables through `get`, which is as getenv, and `rendezvous`, the value of
/// --rendezvous, or "". Returns nothing for a process that is alone. Throws Failure(Exit::usage)
/// for invalid or contradictory values.
std::optional<Launch> findLaunch(const std::string &rendezvous,
                                 const std::function<const char *(const char *)> &get);

/// The same for this process's environment.
std::optional<Launch> findLaunch(const std::string &rendezvous);

/// Whether a launcher states that it has started exactly one process. Throws as findLaunch().
bool isLaunchedAlone(const std::function<const char *(const char *)> &get);
bool isLaunchedAlone();

/// Checks the value of --rendezvous, HOST:PORT. Returns what is wrong with the text, or "".
std::string checkRendezvous(const std::string &text);

/// Throws Failure(Exit::usage), naming the variable, because each process of the launch would train
/// the whole model alone.
[[noreturn]] void refuseLaunch(const Launch &launch);

} // namespace weir

#endif
