//===- Restarts.cpp - Restarts a run after a failure ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/launch/Restarts.h"
#include "runtime/checkpoint/CheckpointStore.h"
#include "runtime/report/Say.h"
#include "runtime/run/Signals.h"
#include "runtime/run/launch/Launcher.h"
#include "runtime/run/launch/RestartState.h"
#include "support/Text.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weir {
namespace {

/// How a child has ended.
struct End {
  int status = 0; ///< where it is not by a signal
  int signal = 0;

  std::string words() const {
    return signal ? concat("the process was terminated by ", Signals::name(signal),
                           signal == SIGKILL ? ": killed, or out of memory" : "")
                  : concat("the process exited with status ", status);
  }
};

/// Signals stay blocked in this thread: they are taken one by one, and passed on.
class Watch {
public:
  Watch() {
    awaited = Signals::all();
    for (int signal = 1; signal < NSIG; ++signal) {
      struct sigaction action;
      if (sigismember(&awaited, signal) == 1 && sigaction(signal, nullptr, &action) == 0 &&
          action.sa_handler == SIG_IGN)
        sigdelset(&awaited, signal);
    }
    sigaddset(&awaited, SIGCHLD);
    std::signal(SIGCHLD, SIG_DFL); // ignored, it leaves nothing to wait for
    sigprocmask(SIG_BLOCK, &awaited, &before);
  }

  /// In the child.
  void restore() const { sigprocmask(SIG_SETMASK, &before, nullptr); }

  End await(pid_t child) {
    while (true) {
      int status = 0;
      if (waitpid(child, &status, WNOHANG) == child)
        return WIFSIGNALED(status) ? End{0, WTERMSIG(status)} : End{WEXITSTATUS(status), 0};
      siginfo_t info;
      int signal = sigwaitinfo(&awaited, &info);
      if (signal <= 0 || signal == SIGCHLD)
        continue;
      isAsked = true;
      kill(child, signal);
    }
  }

  /// Whether the end was asked for.
  bool isAskedToEnd() const { return isAsked; }

private:
  sigset_t awaited, before;
  bool isAsked = false;
};

/// In memory that children share with this process.
RestartState &makeRestartState() {
  void *memory = mmap(nullptr, sizeof(RestartState), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw Failure(Exit::device,
                  concat("--restarts: cannot allocate memory: ", std::strerror(errno)));
  return *new (memory) RestartState;
}

/// Whether another try may come to something else.
bool mayMend(const End &end, const RestartState &restartState) {
  if (end.signal)
    return !Signals::isOne(end.signal);
  switch (Exit(end.status)) {
  case Exit::peer:
    return !restartState.isNotMet;
  case Exit::internal:
  case Exit::device: // it has fitted, and the device has worked
    return restartState.steps > 0;
  default:
    return false;
  }
}

} // namespace

std::string lastCheckpoint(const RunOptions &options) {
  if (!options.restartState || options.checkpoint.empty())
    return "";
  if (int64_t step = options.restartState->saved; step >= 0)
    return concat("; the last complete checkpoint is ",
                  CheckpointStore::pathOf(options.checkpoint, step));
  return options.restartState->saved == -1 ? "; there is no complete checkpoint yet" : "";
}

Exit withRestarts(const RunOptions &options, const std::function<Exit(const RunOptions &)> &body) {
  if (options.restarts == 0 || options.parent)
    return body(options);
  RunOptions own = options;
  RestartState &restartState = makeRestartState();
  own.restartState = &restartState;
  own.parent = getpid();
  std::optional<Launch> launch = findLaunch(options.rendezvous);
  const std::string who = launch ? concat("rank ", launch->rank, ": ") : "the run: ";
  Watch watch;
  while (true) {
    std::cout.flush();
    std::fflush(nullptr);
    pid_t child = fork();
    if (child < 0)
      throw Failure(Exit::device,
                    concat("--restarts: cannot start a process: ", std::strerror(errno)));
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != own.parent)
        _exit(static_cast<int>(Exit::peer));
      watch.restore();
      return body(own);
    }
    End end = watch.await(child);
    if (watch.isAskedToEnd() && Signals::isOne(end.signal) && restartState.starts > 1 &&
        restartState.steps == 0)
      throw Failure(Exit::peer,
                    concat(who, Signals::name(end.signal),
                           " arrived before all ranks had joined again", lastCheckpoint(own)));
    if (Signals::isOne(end.signal))
      Signals::die(end.signal);
    if (watch.isAskedToEnd() || !mayMend(end, restartState)) {
      if (end.signal)
        throw Failure(Exit::peer, concat(who, end.words(), lastCheckpoint(own)));
      return Exit(end.status);
    }
    if (restartState.starts > options.restarts)
      throw Failure(Exit(end.signal ? int(Exit::peer) : end.status),
                    concat(who, "started ", restartState.starts, " times (--restarts ",
                           options.restarts, ") without finishing; the last time, ", end.words(),
                           lastCheckpoint(own)));
    sayAlways(concat(who, end.words(), "; restarting, attempt ", restartState.starts, " of ",
                     options.restarts, lastCheckpoint(own)));
    ++restartState.starts;
    restartState.steps = 0;
    restartState.isNotMet = false;
    own.resume |= restartState.saved != RestartState::notBegun; // its folder was taken for this run
  }
}

} // namespace weir
