//===- ThreadPoolTest.cpp -------------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/ThreadPool.h"
#include <chrono>
#include <cstdlib>
#include <gtest/gtest.h>
#include <new>
#include <thread>

using namespace weir;

TEST(ThreadPool, EveryTaskOnce) {
  for (int threads : {1, 2, 3, 8}) {
    cpu::ThreadPool pool(threads);
    ASSERT_EQ(pool.size(), threads);
    for (int64_t tasks : {0, 1, 2, 3, 7, 8, 64, 1000}) {
      std::vector<std::atomic<int>> times(tasks);
      std::atomic<bool> inside = true;
      for (int round = 0; round < 50; ++round)
        pool.parallelFor(tasks, [&](int64_t lo, int64_t hi, int worker) {
          inside = inside && lo < hi && worker >= 0 && worker < threads;
          for (int64_t i = lo; i < hi; ++i)
            ++times[i];
        });
      EXPECT_TRUE(inside);
      for (std::atomic<int> &time : times)
        ASSERT_EQ(time, 50);
    }
  }
}

TEST(ThreadPool, AsManyTasksAsAnArtifactMayHave) {
  constexpr int64_t most = (int64_t(1) << 31) - 1;
  for (int threads : {1, 3}) {
    cpu::ThreadPool pool(threads);
    std::atomic<int64_t> done = 0;
    pool.parallelFor(most, [&](int64_t lo, int64_t hi, int) { done += hi - lo; });
    EXPECT_EQ(done, most);
  }
}

TEST(ThreadPool, ManyShortLoops) {
  cpu::ThreadPool pool(4);
  std::vector<int64_t> sums(4 * 16);
  int64_t expected = 0;
  for (int64_t loop = 0; loop < 20000; ++loop) {
    int64_t tasks = loop % 7 + 1;
    expected += tasks * loop;
    pool.parallelFor(tasks, [&](int64_t lo, int64_t hi, int worker) {
      sums[worker * 16] += (hi - lo) * loop; // a stale loop's `loop` would show
    });
  }
  int64_t sum = 0;
  for (int64_t part : sums)
    sum += part;
  EXPECT_EQ(sum, expected);
}

TEST(ThreadPool, WakesSleepers) {
  cpu::ThreadPool pool(2);
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1)); // longer than any spin
    std::atomic<int> done = 0;
    pool.parallelFor(100, [&](int64_t lo, int64_t hi, int) { done += hi - lo; });
    EXPECT_EQ(done, 100);
  }
}

TEST(ThreadPool, WhatATaskThrowsReachesTheCaller) {
  for (int threads : {1, 4}) {
    cpu::ThreadPool pool(threads);
    for (int round = 0; round < 100; ++round) {
      std::atomic<int> done = 0;
      auto body = [&](int64_t lo, int64_t hi, int) {
        for (int64_t i = lo; i < hi; ++i, ++done)
          if (i == 63)
            throw std::bad_alloc();
      };
      EXPECT_THROW(pool.parallelFor(64, body), std::bad_alloc);
      EXPECT_EQ(done, 63);
      pool.parallelFor(63, body); // and the pool is as before
      EXPECT_EQ(done, 126);
    }
  }
}

TEST(ThreadPool, IgnoresLaunchers) {
  setenv("OMP_NUM_THREADS", "1", 1);
  EXPECT_GE(cpu::availableCores(), 1);
  EXPECT_EQ(cpu::ThreadPool(0).size(), cpu::availableCores());
}

TEST(ThreadPool, FlushesSubnormalsOnEveryThread) {
  cpu::ThreadPool pool(4);
  cpu::ComputeThread state;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 100; ++i)
    pool.parallelFor(16, [&](int64_t, int64_t, int) {
      volatile float tiny = 1e-30f;
      if (tiny * tiny != 0 || tiny * 1e-10f != 0)
        ++wrong;
    });
  EXPECT_EQ(wrong, 0);
}

TEST(ComputeThread, RestoresTheCaller) {
  {
    cpu::ComputeThread state;
    volatile float tiny = 1e-30f;
    EXPECT_EQ(tiny * 1e-10f, 0);
  }
  volatile float tiny = 1e-30f;
  EXPECT_NE(tiny * 1e-10f, 0);
}
