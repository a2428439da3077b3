//===- Signals.h - SIGTERM and SIGINT while training ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first signal sets a flag that the loop reads between steps; the second ends the process at
// once. Signals that were ignored when the process began (nohup, a shell's background job) stay
// ignored.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_RUN_SIGNALS_H
#define WEIR_RUNTIME_RUN_SIGNALS_H

#include <csignal>

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
  /// "SIGTERM" or "SIGINT".
  static const char *name(int signal);
  /// Ends the process by the signal, as if it had not been handled.
  static void die(int signal);

private:
  struct sigaction previous[2], previousLimit;
};

} // namespace weir

#endif
