//===- ThreadPool.cpp - The one parallel loop -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/ThreadPool.h"
#include "runtime/base/Memory.h"
#include "runtime/base/Thread.h"
#include "runtime/cpu/OneDnn.h"
#include <algorithm>
#include <cassert>
#include <climits>
#include <linux/futex.h>
#include <new>
#include <optional>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>
#include <xmmintrin.h>

namespace weir::cpu {

// Flush-to-zero and denormals-are-zero in MXCSR.
static constexpr unsigned flushSubnormals = 0x8040;

// About 50 us: longer than the gaps within a step, shorter than a scheduler's slice.
static constexpr int spinsBeforeSleep = 1500;

/// A thread's first call of OpenMP takes its record, and a pool of 1 MiB for more. Both of the
/// libraries end the process where they are not given it, LLVM's by reporting that until the stack
/// is full.
static int firstTeamSize() {
  thread_local bool known = false;
  if (!known)
    requireMemory(2 << 20);
  known = true;
  return openMPTeamSize();
}

ComputeThread::ComputeThread() : controlStatus(_mm_getcsr()), teamSize(firstTeamSize()) {
  _mm_setcsr(controlStatus | flushSubnormals);
  setOpenMPTeamSize(1);
}

ComputeThread::~ComputeThread() {
  _mm_setcsr(controlStatus);
  setOpenMPTeamSize(teamSize);
}

static void sleepWhile(std::atomic<uint32_t> &word, uint32_t value) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

static void wakeAll(std::atomic<uint32_t> &word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

// A share word: the loop's number above, the next task below. Closed shares have no task below any
// end.
static constexpr uint64_t closed = 0xffffffff;
static uint64_t pack(uint32_t loop, uint64_t next) { return uint64_t(loop) << 32 | next; }

static int64_t shareBegin(int64_t tasks, int worker, int count) { return tasks * worker / count; }

ThreadPool::ThreadPool(int wanted)
    : count(wanted > 0 ? wanted : availableCores()),
      spins(count > availableCores() ? 1 : spinsBeforeSleep), shares(new Share[count]) {
  for (int i = 0; i < count; ++i)
    shares[i].next.store(pack(0, closed));
  threads.reserve(count);
  try {
    for (int worker = 1; worker < count; ++worker)
      threads.push_back(startThread([this, worker] { work(worker); }));
    awaitBegun(count - 1);
    if (starved)
      throw std::bad_alloc();
  } catch (...) {
    stop();
    throw;
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
  stopping = true;
  loop.fetch_add(1);
  wakeAll(loop);
  for (std::thread &thread : threads)
    thread.join();
}

void ThreadPool::run(int64_t newTasks, Call newCall, void *newContext) {
  assert(newTasks >= 0 && newTasks <= INT32_MAX && "task numbers are 31 bits");
  if (newTasks == 0)
    return;
  if (newTasks == 1 || count == 1)
    return newCall(newContext, 0, newTasks, 0);

  // Shares are closed while the loop's fields change: a claim by a thread that saw the old ones
  // fails.
  uint32_t number = loop.load(std::memory_order_relaxed) + 1;
  for (int i = 0; i < count; ++i)
    shares[i].next.store(pack(number, closed), std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  tasks.store(newTasks, std::memory_order_relaxed);
  call.store(newCall, std::memory_order_relaxed);
  context.store(newContext, std::memory_order_relaxed);
  done.store(0, std::memory_order_relaxed);
  for (int i = 0; i < count; ++i)
    shares[i].next.store(pack(number, shareBegin(newTasks, i, count)), std::memory_order_release);
  loop.store(number, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst) > 0)
    wakeAll(loop);

  takePart(number, 0);
  awaitOthers(newTasks);
  if (failed.exchange(false))
    std::rethrow_exception(std::exchange(failure, nullptr));
}

void ThreadPool::awaitOthers(uint32_t newTasks) {
  for (int spin = 0; spin < spins; ++spin) {
    if (done.load(std::memory_order_acquire) == newTasks)
      return;
    _mm_pause();
  }
  callerSleeps.store(true, std::memory_order_seq_cst);
  for (uint32_t seen; (seen = done.load(std::memory_order_seq_cst)) != newTasks;)
    sleepWhile(done, seen);
  callerSleeps.store(false, std::memory_order_relaxed);
}

void ThreadPool::awaitBegun(uint32_t workers) {
  for (uint32_t seen; (seen = begun) != workers;)
    begun.wait(seen);
}

void ThreadPool::work(int worker) {
  // One after the other, so that none takes the memory that another has found to be there.
  awaitBegun(worker - 1);
  std::optional<ComputeThread> state;
  try {
    state.emplace();
  } catch (const std::bad_alloc &) {
    starved = true;
  }
  begun.fetch_add(1);
  begun.notify_all();
  if (!state)
    return;
  for (uint32_t seen = 0;;) {
    uint32_t number = loop.load(std::memory_order_acquire);
    for (int spin = 0; number == seen && spin < spins; ++spin) {
      _mm_pause();
      number = loop.load(std::memory_order_acquire);
    }
    while (number == seen) {
      sleepers.fetch_add(1, std::memory_order_seq_cst);
      if (loop.load(std::memory_order_seq_cst) == seen)
        sleepWhile(loop, seen);
      sleepers.fetch_sub(1, std::memory_order_relaxed);
      number = loop.load(std::memory_order_acquire);
    }
    if (stopping)
      return;
    seen = number;
    takePart(number, worker);
  }
}

void ThreadPool::takePart(uint32_t number, int worker) {
  for (int i = 0; i < count; ++i) {
    int owner = worker + i < count ? worker + i : worker + i - count;
    while (claim(number, owner, worker))
      ;
  }
}

bool ThreadPool::claim(uint32_t number, int owner, int worker) {
  uint64_t word = shares[owner].next.load(std::memory_order_acquire);
  for (;;) {
    uint64_t lo = word & 0xffffffff;
    if (word >> 32 != number)
      return false;
    int64_t total = tasks.load(std::memory_order_relaxed);
    Call body = call.load(std::memory_order_relaxed);
    void *argument = context.load(std::memory_order_relaxed);
    uint64_t begin = shareBegin(total, owner, count), end = shareBegin(total, owner + 1, count);
    if (lo >= end)
      return false;
    // A quarter of the share at a time, and in the end single tasks: few calls, and something left
    // for a thread that helps.
    uint64_t some = std::min((end - begin) / 4, (end - lo) / 2);
    uint64_t hi = lo + std::max<uint64_t>(1, some);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (!shares[owner].next.compare_exchange_weak(word, pack(number, hi), std::memory_order_acq_rel,
                                                  std::memory_order_acquire))
      continue;
    try {
      body(argument, lo, hi, worker);
    } catch (...) {
      if (!failed.exchange(true))
        failure = std::current_exception();
    }
    uint32_t finished = done.fetch_add(hi - lo, std::memory_order_seq_cst) + (hi - lo);
    if (finished == total && callerSleeps.load(std::memory_order_seq_cst))
      wakeAll(done);
    return true;
  }
}

} // namespace weir::cpu
