//===- Signals.h - Signals during training --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A signal that asks the run to stop sets a flag, which the loop reads between steps. These are
// SIGTERM and SIGINT, SIGHUP of a closed terminal, and the signals that schedulers send some time
// before the end: SIGUSR1 and SIGUSR2 (Slurm's --signal, SGE's and LSF's notices) and SIGXCPU. A
// second SIGTERM or SIGINT ends the process at once. The others do not, because schedulers may send
// them several times, or before a SIGTERM. Signals that were ignored when the process began (nohup,
// a shell's background job) stay ignored.
//
// If another process stands between the sender and this one (Restarts.h), a signal that a terminal
// sends to both arrives twice. So signals that the parent passes on are counted separately.
//
// A thread that does nothing else receives the signals. An interrupt in the middle of a library's
// AMX tile products may corrupt their memory afterwards (oneDNN 2.6 of Debian 12, on a machine with
// AMX: one run in a hundred that got SIGTERM).
//
// If a reader has closed its pipe (`| head`), the write fails, which does not end the run. So the
// process ignores SIGPIPE from now on until its end, because its last messages have to be written,
// too.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_SIGNALS_H
#define WEIR_RUNTIME_RUN_SIGNALS_H

#include <condition_variable>
#include <csignal>
#include <iterator>
#include <mutex>
#include <string>
#include <sys/types.h>
#include <thread>

namespace weir {

/// Handles the signals during its lifetime and, if that ends by an exception, until the end of the
/// process: a failed run ends with its own status, with any signal after that. A signal
/// that was received and may be sent again, other than SIGTERM and SIGINT, also stays handled until
/// then. Only threads that exist before it handle signals, and none that start later. There may be
/// one at a time. Throws as startThread does.
class Signals {
public:
  /// `passedOnBy`: the process that passes its signals on; 0: none.
  explicit Signals(pid_t passedOnBy = 0);
  ~Signals();
  Signals(const Signals &) = delete;
  Signals &operator=(const Signals &) = delete;

  /// The signal that was received, or 0.
  int received() const;
  /// All handled signals.
  static sigset_t all();
  static bool isOne(int signal);
  /// "SIGTERM".
  static std::string name(int signal);
  /// Ends the process by the signal, as without a handler.
  static void die(int signal);

private:
  static constexpr int handled[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU};
  struct sigaction previous[std::size(handled)];
  sigset_t mask; ///< of the constructing thread, before
  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
  std::thread waiter;
};

} // namespace weir

#endif
