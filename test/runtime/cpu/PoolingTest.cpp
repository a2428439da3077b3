//===- PoolingTest.cpp ----------------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/Pooling.h"
#include "runtime/cpu/Isa.h"
#include "runtime/cpu/ThreadPool.h"
#include "support/system/CpuLevel.h"
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

using namespace weir;
using Spec = spec::Pooling;

static Spec pooling(int64_t planes, std::vector<int64_t> size, std::vector<int64_t> window,
                    std::vector<int64_t> strides, int64_t tile) {
  Spec s;
  s.planes = planes, s.tilePlanes = tile;
  s.size = std::move(size), s.window = std::move(window), s.strides = std::move(strides);
  return s;
}

/// A few values, so that windows have equal elements and zeros of both signs.
static std::vector<float> randoms(const Spec &s) {
  std::mt19937 engine(1);
  std::vector<float> values(s.planes * s.inputElements());
  for (float &value : values) {
    value = static_cast<float>(engine() % 9) - 6;
    if (value == 0 && engine() % 2)
      value = -0.0f;
  }
  return values;
}

static std::vector<float> expected(const Spec &s, const std::vector<float> &input) {
  std::vector<float> result;
  for (int64_t plane = 0; plane < s.planes; ++plane)
    for (int64_t y = 0; y + s.window[0] <= s.size[0]; y += s.strides[0])
      for (int64_t x = 0; x + s.window[1] <= s.size[1]; x += s.strides[1]) {
        int64_t corner = (plane * s.size[0] + y) * s.size[1] + x;
        float largest = input[corner];
        for (int64_t i = 0; i < s.window[0]; ++i)
          for (int64_t j = 0; j < s.window[1]; ++j) {
            float value = input[corner + i * s.size[1] + j];
            if (!std::isnan(largest) && (std::isnan(value) || value > largest))
              largest = value;
          }
        result.push_back(largest);
      }
  return result;
}

static std::vector<float> compute(const Spec &s, const std::vector<float> &input, int threads,
                                  double *time = nullptr) {
  cpu::boundLibrary(cpuLevel());
  std::vector<float> output(s.planes * s.outputElements(), 77);
  cpu::ThreadPool pool(threads);
  cpu::Pooling pooling(s, threads);
  size_t stride = (pooling.scratch() + 63) / 64 * 64;
  std::vector<std::byte> scratch(stride * threads + 64, std::byte(0xff));
  auto *base =
      reinterpret_cast<std::byte *>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) & ~63ul);
  cpu::ComputeThread state;
  for (int i = 0; i < (time ? 20 : 1); ++i) {
    auto start = std::chrono::steady_clock::now();
    pool.parallelFor(pooling.tasks(), [&](int64_t lo, int64_t hi, int worker) {
      pooling.run(lo, hi, worker, {input.data(), output.data()}, base + worker * stride);
    });
    std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    if (time)
      *time = i ? std::min(*time, took.count()) : took.count();
  }
  if (time)
    std::printf("%-24s", pooling.implementation());
  return output;
}

/// To the bit: of zeros of both signs the first.
static void check(const Spec &s, const std::vector<float> &input) {
  SCOPED_TRACE(s.describe() + ", " + std::to_string(s.tilePlanes) + " at a time");
  ASSERT_EQ(s.check(), "");
  std::vector<float> want = expected(s, input);
  for (int threads : {1, 2, 8}) {
    std::vector<float> got = compute(s, input, threads);
    ASSERT_EQ(got.size(), want.size());
    EXPECT_EQ(std::memcmp(got.data(), want.data(), got.size() * sizeof(float)), 0) << threads;
  }
}

TEST(Pooling, WindowsOverlap) {
  for (const Spec &s :
       {pooling(32, {9, 9}, {3, 3}, {2, 2}, 16), pooling(8, {12, 7}, {5, 2}, {1, 1}, 8),
        pooling(16, {5, 40}, {1, 3}, {2, 1}, 4)})
    check(s, randoms(s));
}

TEST(Pooling, WindowsWithGaps) {
  Spec s = pooling(20, {11, 10}, {2, 1}, {3, 4}, 20);
  check(s, randoms(s));
}

TEST(Pooling, ARemainderOfPlanes) {
  for (int64_t planes : {1, 17, 35, 37}) {
    Spec s = pooling(planes, {8, 9}, {3, 3}, {2, 2}, std::min<int64_t>(planes, 16));
    check(s, randoms(s));
  }
}

TEST(Pooling, NaNAnywhereInAWindowIsTheLargest) {
  for (int64_t planes : {16, 19}) {
    Spec s = pooling(planes, {7, 7}, {3, 3}, {2, 2}, 16);
    for (int64_t plane : {int64_t(0), planes - 1})
      for (int64_t at : {0, 1, 2, 8, 16, 24, 48}) // corners, edges, and what four windows share
        for (float nan : {NAN, -NAN}) {
          std::vector<float> input = randoms(s);
          input[plane * 49 + at] = nan;
          check(s, input);
        }
  }
}

TEST(Pooling, Infinities) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  Spec s = pooling(16, {7, 7}, {3, 3}, {2, 2}, 8);
  check(s, std::vector<float>(s.planes * s.inputElements(), -infinity));
  std::vector<float> input = randoms(s);
  input[5] = infinity;
  check(s, input);
}

TEST(Pooling, RefusesNonsense) {
  struct {
    const char *message;
    void (*change)(Spec &);
  } cases[] = {
      {"it has other than 2 spatial dimensions", [](Spec &s) { s.strides = {1}; }},
      {"it has other than 2 spatial dimensions", [](Spec &s) { s.size = {4, 4, 4}; }},
      {"a dimension is out of range", [](Spec &s) { s.planes = 0; }},
      {"a dimension is out of range", [](Spec &s) { s.strides[0] = 0; }},
      {"a dimension is out of range", [](Spec &s) { s.size[1] = int64_t(1) << 31; }},
      {"its window is larger than the input", [](Spec &s) { s.window[1] = 8; }},
      {"its tile is out of range", [](Spec &s) { s.tilePlanes = 0; }},
      {"its tile is out of range", [](Spec &s) { s.tilePlanes = s.planes + 1; }},
      {"a tensor is larger than any memory",
       [](Spec &s) { s.size = {(int64_t(1) << 31) - 1, (int64_t(1) << 31) - 1}; }},
  };
  for (auto &[message, change] : cases) {
    Spec s = pooling(16, {7, 7}, {3, 3}, {2, 2}, 8);
    change(s);
    EXPECT_EQ(s.check(), message);
  }
}

// Not a check: what the compiler's choice between the call and its own kernel rests on, beside the
// pools of test/codegen/cpu/bench.cpp. WEIR_BENCH=1 prints it.
TEST(Pooling, Times) {
  if (!std::getenv("WEIR_BENCH"))
    GTEST_SKIP() << "set WEIR_BENCH=1 to measure";
  for (int64_t tile : {16, 32, 64, 256})
    for (auto [planes, size, window, stride] :
         std::vector<std::array<int64_t, 4>>{{512, 32, 3, 2},
                                             {512, 32, 3, 1},
                                             {512, 32, 2, 1},
                                             {512, 32, 5, 2},
                                             {512, 32, 5, 1},
                                             {512, 32, 2, 2},
                                             {512, 8, 3, 2},
                                             {512, 8, 2, 1},
                                             {64, 112, 3, 2},
                                             {512, 32, 4, 4},
                                             {512, 32, 2, 3},
                                             {512, 32, 7, 1},
                                             {512, 4, 3, 1},
                                             {3, 112, 3, 2},
                                             {1, 112, 3, 2},
                                             {16, 512, 3, 2}}) {
      Spec s =
          pooling(planes, {size, size}, {window, window}, {stride, stride}, std::min(tile, planes));
      double time;
      compute(s, randoms(s), 1, &time);
      std::printf("%3d at a time, %s: %.3f ns per output\n", int(s.tilePlanes),
                  s.describe().c_str(), time / double(s.planes * s.outputElements()));
    }
}
