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
  std::string sizeWords, rankWords; ///< "OMPI_COMM_WORLD_SIZE=4"; what was believed
  int64_t rank = 0, size = 1;
  std::string host;      ///< of rank 0; "": nobody says
  std::string hostWords; ///< "MASTER_ADDR=10.0.0.1"
  uint16_t port = 0;     ///< the first that the run may take
  /// How many of them the launcher says are on this machine; 0: it does not, or --rendezvous says
  /// where rank 0 is.
  int64_t beside = 0;
  std::string job; ///< the same for all processes of the run, and short
};

/// By what is set in the environment, which `get` knows as getenv does, and by `rendezvous`, the
/// value of --rendezvous, "" without it; nothing for a process that is alone. Throws
/// Failure(Exit::usage) for values that are none, or do not go together.
std::optional<Launch> findLaunch(const std::string &rendezvous,
                                 const std::function<const char *(const char *)> &get);

/// By this process's environment.
std::optional<Launch> findLaunch(const std::string &rendezvous);

/// Whether a launcher says that it has started one process, and no more. Throws as findLaunch().
bool isLaunchedAlone(const std::function<const char *(const char *)> &get);
bool isLaunchedAlone();

/// What --rendezvous takes: HOST:PORT. Returns what is wrong with the text, or "".
std::string checkRendezvous(const std::string &text);

/// Throws Failure(Exit::usage), naming the variable: each process of the launch would train the
/// whole model alone.
[[noreturn]] void refuseLaunch(const Launch &launch);

} // namespace weir

#endif
