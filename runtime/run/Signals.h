//===- Signals.h - Signals while training ---------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A signal that asks for the end sets a flag that the loop reads between steps: SIGTERM and SIGINT,
// SIGHUP of a terminal that is gone, and what schedulers send some time before the end: SIGUSR1 and
// SIGUSR2 (Slurm's --signal, SGE's and LSF's notices) and SIGXCPU. Of SIGTERM and SIGINT the second
// ends the process at once; the others are sent several times over, or before a SIGTERM, by nobody
// who is in a hurry. Signals that were ignored when the process began (nohup, a shell's background
// job) stay ignored.
//
// A reader who has gone (`| head`) is an error of the write, which ends no run: SIGPIPE is ignored
// from now to the end of the process, whose last words have to be written too.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_SIGNALS_H
#define WEIR_RUNTIME_RUN_SIGNALS_H

#include <csignal>
#include <iterator>
#include <string>

namespace weir {

/// Handles the signals as long as it lives. One at a time.
class Signals {
public:
  Signals();
  ~Signals();
  Signals(const Signals &) = delete;
  Signals &operator=(const Signals &) = delete;

  /// The signal that came, or 0.
  int received() const;
  /// "SIGTERM".
  static std::string name(int signal);
  /// Ends the process by the signal, as if it had not been handled.
  static void die(int signal);

private:
  static constexpr int handled[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU};
  struct sigaction previous[std::size(handled)];
};

} // namespace weir

#endif
