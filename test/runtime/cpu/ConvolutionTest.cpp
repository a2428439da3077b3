//===- ConvolutionTest.cpp ------------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/Convolution.h"
#include "runtime/cpu/Isa.h"
#include "runtime/cpu/ThreadPool.h"
#include "support/system/CpuLevel.h"
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace weir;
using Spec = spec::Convolution;
using Kind = spec::ConvolutionKind;

static std::vector<float> randoms(size_t size, int seed) {
  std::mt19937 engine(seed);
  std::vector<float> values(size);
  for (float &value : values)
    value = static_cast<float>(engine()) / static_cast<float>(1u << 31) - 1;
  return values;
}

struct Data {
  explicit Data(const Spec &s)
      : input(randoms(s.images * s.imageElements(), 1)), weight(randoms(s.weightElements(), 2)),
        output(randoms(s.images * s.outputElements(), 3)),
        partials(s.tiles() * s.weightElements(), NAN) {
    for (std::vector<float> *values : {&input, &weight, &output})
      for (float &value : *values)
        value = static_cast<float>(rounded(s.factors, value));
  }
  std::vector<float> input, weight, output, partials;

  std::vector<float> &written(Kind kind) {
    return kind == Kind::forward ? output : kind == Kind::backwardInput ? input : weight;
  }
};

/// Calls `visit` with every index below `sizes`, in row-major order.
template <class Visit> static void forEach(const std::vector<int64_t> &sizes, Visit visit) {
  std::vector<int64_t> index(sizes.size(), 0);
  for (;;) {
    visit(index);
    size_t d = sizes.size();
    while (d > 0 && ++index[d - 1] == sizes[d - 1])
      index[--d] = 0;
    if (d == 0)
      return;
  }
}

static std::vector<double> expected(const Spec &s) {
  Data data(s);
  std::vector<double> result(data.written(s.computes).size());
  int64_t inputs = s.channels / s.groups, filters = s.filters / s.groups;
  std::vector<int64_t> outSize = s.outSize();
  auto row = [](int64_t start, const std::vector<int64_t> &index,
                const std::vector<int64_t> &sizes) {
    for (size_t d = 0; d < sizes.size(); ++d)
      start = start * sizes[d] + index[d];
    return start;
  };
  forEach({s.images, s.filters, inputs}, [&](const std::vector<int64_t> &which) {
    int64_t image = which[0], filter = which[1], channel = filter / filters * inputs + which[2];
    forEach(outSize, [&](const std::vector<int64_t> &out) {
      forEach(s.window, [&](const std::vector<int64_t> &tap) {
        std::vector<int64_t> in;
        for (size_t d = 0; d < tap.size(); ++d) {
          in.push_back(out[d] * s.strides[d] + tap[d] * s.dilation[d] - s.padding[d]);
          if (in[d] < 0 || in[d] >= s.size[d])
            return;
        }
        int64_t input = row(image * s.channels + channel, in, s.size);
        int64_t weight = row(filter * inputs + which[2], tap, s.window);
        int64_t output = row(image * s.filters + filter, out, outSize);
        if (s.computes == Kind::forward)
          result[output] += double(data.input[input]) * data.weight[weight];
        else if (s.computes == Kind::backwardInput)
          result[input] += double(data.output[output]) * data.weight[weight];
        else
          result[weight] += double(data.output[output]) * data.input[input];
      });
    });
  });
  return result;
}

static std::vector<float> compute(const Spec &s, int threads, double *time = nullptr) {
  cpu::boundLibrary(cpuLevel());
  Data data(s);
  std::fill(data.written(s.computes).begin(), data.written(s.computes).end(), NAN);
  auto stored = [&](Kind kind) {
    std::vector<float> &values = data.written(kind);
    std::vector<std::byte> bytes(values.size() * sizeOf(s.elementOf(kind)));
    storeNumbers(s.elementOf(kind), std::vector<double>(values.begin(), values.end()),
                 bytes.data());
    return bytes;
  };
  std::vector<std::byte> input = stored(Kind::backwardInput), weight = stored(Kind::backwardWeight),
                         output = stored(Kind::forward);
  cpu::ThreadPool pool(threads);
  cpu::Convolution convolution(s, threads);
  // What models have today is served by fast code.
  bool isUsual = s.size.size() == 2 && s.groups == 1 && s.dilation == std::vector<int64_t>{1, 1};
  EXPECT_TRUE(!isUsual ||
              std::string(convolution.implementation()).find("ref") == std::string::npos);
  size_t stride = (convolution.scratch() + 63) / 64 * 64;
  std::vector<std::byte> scratch(stride * threads + 64, std::byte(0xff));
  auto *base =
      reinterpret_cast<std::byte *>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) & ~63ul);
  cpu::ComputeThread state;
  cpu::Convolution::Operands operands = {input.data(), weight.data(), output.data(),
                                         data.partials.data()};
  for (int i = 0; i < (time ? 10 : 1); ++i) {
    auto start = std::chrono::steady_clock::now();
    pool.parallelFor(convolution.tasks(), [&](int64_t lo, int64_t hi, int worker) {
      convolution.run(lo, hi, worker, operands, base + worker * stride);
    });
    pool.parallelFor(convolution.sumTasks(),
                     [&](int64_t lo, int64_t hi, int) { convolution.sum(lo, hi, operands); });
    std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    if (time)
      *time = i ? std::min(*time, took.count()) : took.count();
  }
  const std::vector<std::byte> &written = s.computes == Kind::forward         ? output
                                          : s.computes == Kind::backwardInput ? input
                                                                              : weight;
  std::vector<double> numbers(data.written(s.computes).size());
  loadNumbers(s.result, written.data(), numbers);
  return {numbers.begin(), numbers.end()};
}

static void check(Spec s) {
  EXPECT_EQ(s.check(), "");
  for (Kind kind : {Kind::forward, Kind::backwardInput, Kind::backwardWeight}) {
    s.computes = kind;
    if (s.isPartial())
      s.result = Element::f32;
    SCOPED_TRACE(s.describe());
    std::vector<double> want = expected(s);
    std::vector<float> got = compute(s, 1);
    double worst = 0, largest = 0;
    for (size_t i = 0; i < want.size(); ++i) {
      worst = std::max(worst, std::isnan(got[i]) ? HUGE_VAL : std::abs(want[i] - got[i]));
      largest = std::max(largest, std::abs(want[i]));
    }
    // What is rounded to a narrower result is off by half of its last place.
    EXPECT_LE(worst, (s.result == Element::f32 ? 1e-5 : 0x1p-8) * largest);
    for (int threads : {2, 8}) {
      std::vector<float> other = compute(s, threads);
      EXPECT_EQ(std::memcmp(got.data(), other.data(), got.size() * sizeof(float)), 0) << threads;
    }
  }
}

static Spec cube(size_t dimensions, int64_t images, int64_t channels, int64_t size, int64_t filters,
                 int64_t window, int64_t padding, int64_t tile) {
  Spec s;
  s.images = images, s.channels = channels, s.filters = filters, s.tileImages = tile;
  s.size.assign(dimensions, size), s.window.assign(dimensions, window);
  s.strides.assign(dimensions, 1), s.dilation.assign(dimensions, 1);
  s.padding.assign(dimensions, padding);
  return s;
}

static Spec square(int64_t images, int64_t channels, int64_t size, int64_t filters, int64_t window,
                   int64_t padding, int64_t tile) {
  return cube(2, images, channels, size, filters, window, padding, tile);
}

TEST(Convolution, OneChannel) { check(square(5, 1, 12, 32, 3, 1, 2)); }
TEST(Convolution, ManyChannels) { check(square(6, 32, 7, 64, 3, 1, 4)); }
TEST(Convolution, OddChannels) { check(square(3, 5, 9, 7, 3, 0, 3)); }
TEST(Convolution, OneByOne) { check(square(4, 8, 6, 12, 1, 0, 1)); }

TEST(Convolution, StridesAndUnevenEdges) {
  Spec s = square(3, 8, 9, 16, 3, 1, 2);
  s.size = {9, 12}, s.strides = {2, 3}, s.window = {3, 2}, s.padding = {1, 0};
  check(s);
}

TEST(Convolution, OneDimension) { check(cube(1, 4, 6, 33, 10, 5, 2, 3)); }
TEST(Convolution, ThreeDimensions) { check(cube(3, 3, 4, 6, 8, 3, 1, 2)); }

TEST(Convolution, Groups) {
  for (int64_t groups : {2, 8}) { // eight: a channel and filter each
    Spec s = square(4, 8, 7, 16, 3, 1, 3);
    s.groups = groups;
    check(s);
  }
}

TEST(Convolution, Dilation) {
  Spec s = square(3, 4, 11, 6, 3, 2, 2);
  s.dilation = {2, 3}, s.strides = {1, 2};
  check(s);
  s = cube(1, 3, 4, 20, 6, 3, 2, 2);
  s.dilation = {4}, s.groups = 2;
  check(s);
}

// A processor without such instructions is served too, more slowly, if its vectors are of 512 bits.
TEST(Convolution, LowPrecision) {
  if (cpuLevel() < "x86-64-v4")
    GTEST_SKIP() << "the library multiplies no bf16 on " << cpuLevel();
  for (Element result : {Element::f32, Element::bf16})
    for (Spec s : {square(5, 1, 12, 32, 3, 1, 2), square(6, 32, 7, 64, 3, 1, 4),
                   square(3, 5, 9, 7, 3, 0, 3), cube(1, 4, 6, 33, 10, 5, 2, 3)}) {
      s.factors = Element::bf16, s.result = result;
      check(s);
    }
}

// Not a check: what the compiler's choice of tile rests on. WEIR_BENCH=1 prints it.
TEST(Convolution, Times) {
  if (!std::getenv("WEIR_BENCH"))
    GTEST_SKIP() << "set WEIR_BENCH=1 to measure";
  for (int64_t tile : {1, 4, 8, 16, 32})
    for (Spec s : {square(64, 1, 28, 32, 3, 1, tile), square(64, 32, 14, 64, 3, 1, tile)}) {
      std::printf("tile %2d %2d -> %d:", int(tile), int(s.channels), int(s.filters));
      for (Kind kind : {Kind::forward, Kind::backwardInput, Kind::backwardWeight}) {
        s.computes = kind;
        double time;
        compute(s, 1, &time);
        std::printf(" %6.0f us", time);
      }
      std::printf("\n");
    }
}
