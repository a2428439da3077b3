//===- Signals.cpp - Signals during training ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/Signals.h"
#include "runtime/base/Thread.h"
#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>

namespace weir {
namespace {

std::atomic<int> flag = 0, urgent = 0, urgentPassedOn = 0;
std::atomic<pid_t> passer = 0;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<pid_t>::is_always_lock_free,
              "else no handler may use it");

/// Of these the second ends the process at once.
bool isUrgent(int signal) { return signal == SIGTERM || signal == SIGINT; }

void handle(int signal, siginfo_t *info, void *) {
  flag = signal;
  if (!isUrgent(signal))
    return;
  bool isPassedOn = info->si_code == SI_USER && passer && info->si_pid == passer;
  std::atomic<int> &first = isPassedOn ? urgentPassedOn : urgent;
  if (first)
    Signals::die(signal);
  first = signal;
}

} // namespace

Signals::Signals(pid_t passedOnBy) {
  flag = 0;
  urgent = urgentPassedOn = 0;
  passer = passedOnBy;
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignore, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_RESTART | SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  const sigset_t set = all();
  for (size_t i = 0; i < std::size(handled); ++i) {
    sigaction(handled[i], nullptr, &previous[i]);
    if (previous[i].sa_handler != SIG_IGN)
      sigaction(handled[i], &action, nullptr);
  }
  waiter = startThread([this, set] {
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return over; });
  });
  pthread_sigmask(SIG_BLOCK, &set, &mask);
}

Signals::~Signals() {
  {
    std::lock_guard lock(mutex);
    over = true;
  }
  changed.notify_one();
  waiter.join();
  // A terminal and its shell may both say so, the second when all is saved: the run's status is
  // that of the first.
  int last = isUrgent(flag) ? 0 : flag.load();
  for (size_t i = 0; i < std::size(handled) && !std::uncaught_exceptions(); ++i)
    if (handled[i] != last)
      sigaction(handled[i], &previous[i], nullptr);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
}

int Signals::received() const { return flag; }

sigset_t Signals::all() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : handled)
    sigaddset(&set, signal);
  return set;
}

bool Signals::isOne(int signal) { return std::ranges::count(handled, signal) > 0; }

std::string Signals::name(int signal) { return std::string("SIG") + sigabbrev_np(signal); }

void Signals::die(int signal) {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  // Within the handler of this very signal it is blocked until the handler returns.
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  raise(signal);
}

} // namespace weir
