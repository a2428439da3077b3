//===- ThreadPool.h - The one parallel loop -------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels, product tiles and convolution tiles are all run by parallelFor. Tasks are independent
// and fixed by the plan, so neither the number of threads nor who takes which task changes a bit of
// the result.
//
// A thread starts on its own contiguous share, which is the same in every loop of that length (its
// part of the data stays in its cache), and then helps the others. The caller takes part and can do
// everything alone, so a loop never waits for a thread that the system has not scheduled, only for
// one that has begun a chunk. Idle threads spin for a bounded time, then sleep.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CPU_THREADPOOL_H
#define WEIR_RUNTIME_CPU_THREADPOOL_H

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <type_traits>
#include <vector>

namespace weir::cpu {

/// The cores this process may use: its affinity mask, bounded by its control group's quota. At
/// least 1. What launchers put into OMP_NUM_THREADS is not asked.
int availableCores();

/// Sets the thread's floating-point state to flush subnormal results and operands to zero, and its
/// OpenMP team to one thread (the library's primitives then run on the thread that calls them), and
/// puts both back at the end of its life. Every thread that computes holds one, so that bits do not
/// depend on the thread. Throws std::bad_alloc where there is no memory for a thread's first one.
class ComputeThread {
public:
  ComputeThread();
  ~ComputeThread();
  ComputeThread(const ComputeThread &) = delete;
  ComputeThread &operator=(const ComputeThread &) = delete;

private:
  unsigned controlStatus;
  int teamSize;
};

class ThreadPool {
public:
  /// Starts `threads` - 1 workers; 0: availableCores(). Throws Failure(Exit::device) where the
  /// system has not as many, std::bad_alloc where it has no memory for them.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  /// Workers, the caller (worker 0) included.
  int size() const { return count; }

  /// Calls `body(lo, hi, worker)` for ranges that together are [0, tasks), each task once, and
  /// returns when all are done. What a call of `body` throws is thrown here then, the first where
  /// several do. One caller at a time; `body` may not call parallelFor. tasks < 2^31.
  template <typename Body> void parallelFor(int64_t tasks, Body &&body) {
    auto call = [](void *context, int64_t lo, int64_t hi, int worker) {
      (*static_cast<std::remove_reference_t<Body> *>(context))(lo, hi, worker);
    };
    run(tasks, call, const_cast<void *>(static_cast<const void *>(&body)));
  }

private:
  using Call = void (*)(void *context, int64_t lo, int64_t hi, int worker);

  /// The next task of one worker's share, below the number of the loop it belongs to: a claim
  /// succeeds only for that loop.
  struct alignas(64) Share {
    std::atomic<uint64_t> next;
  };

  void stop();
  void run(int64_t tasks, Call call, void *context);
  void awaitBegun(uint32_t workers);
  void work(int worker);
  void takePart(uint32_t loop, int worker);
  bool claim(uint32_t loop, int owner, int worker);
  void awaitOthers(uint32_t tasks);

  const int count;
  int spins;
  std::unique_ptr<Share[]> shares;

  // The loop. Read before a claim and believed only if the claim succeeds.
  std::atomic<int64_t> tasks{0};
  std::atomic<Call> call{nullptr};
  std::atomic<void *> context{nullptr};

  alignas(64) std::atomic<uint32_t> loop{0}; // the number of the open loop; workers sleep on it
  std::atomic<uint32_t> sleepers{0};
  std::atomic<bool> stopping{false};
  alignas(64) std::atomic<uint32_t> done{0}; // finished tasks; the caller sleeps on it
  std::atomic<bool> callerSleeps{false};
  std::atomic<bool> failed{false};
  std::exception_ptr failure; // the caller reads it when all are done

  std::vector<std::thread> threads;
  std::atomic<uint32_t> begun{0};   // workers that are ready to compute, or cannot be
  std::atomic<bool> starved{false}; // one of them cannot
};

} // namespace weir::cpu

#endif
