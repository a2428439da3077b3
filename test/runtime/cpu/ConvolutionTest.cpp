//===- ConvolutionTest.cpp ------------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/Convolution.h"
#include "runtime/core/ThreadPool.h"
#include "runtime/cpu/Isa.h"
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using namespace weir;
using Spec = cpu::ConvolutionSpec;
using Kind = Spec::Kind;

static std::vector<float> randoms(size_t size, int seed) {
  std::mt19937 engine(seed);
  std::vector<float> values(size);
  for (float &value : values)
    value = static_cast<float>(engine()) / static_cast<float>(1u << 31) - 1;
  return values;
}

struct Data {
  explicit Data(const Spec &s)
      : input(randoms(s.images * s.channels * s.height * s.width, 1)),
        weight(randoms(s.weights(), 2)),
        output(randoms(s.images * s.filters * s.outHeight() * s.outWidth(), 3)),
        partials(s.tiles() * s.weights(), NAN) {}
  std::vector<float> input, weight, output, partials;

  std::vector<float> &written(Kind kind) {
    return kind == Kind::forward ? output : kind == Kind::backwardInput ? input : weight;
  }
};

static int64_t at(const Spec &s, int64_t image, int64_t channel, int64_t y, int64_t x,
                  int64_t channels, int64_t height, int64_t width) {
  return s.layout == Spec::Layout::nchw ? ((image * channels + channel) * height + y) * width + x
                                        : ((image * height + y) * width + x) * channels + channel;
}

static std::vector<double> expected(const Spec &s) {
  Data data(s);
  std::vector<double> result(data.written(s.kind).size());
  for (int64_t i = 0; i < s.images; ++i)
    for (int64_t f = 0; f < s.filters; ++f)
      for (int64_t oy = 0; oy < s.outHeight(); ++oy)
        for (int64_t ox = 0; ox < s.outWidth(); ++ox)
          for (int64_t c = 0; c < s.channels; ++c)
            for (int64_t ky = 0; ky < s.kernelHeight; ++ky)
              for (int64_t kx = 0; kx < s.kernelWidth; ++kx) {
                int64_t y = oy * s.strideH + ky - s.paddingH, x = ox * s.strideW + kx - s.paddingW;
                if (y < 0 || x < 0 || y >= s.height || x >= s.width)
                  continue;
                int64_t input = at(s, i, c, y, x, s.channels, s.height, s.width);
                int64_t weight = ((f * s.channels + c) * s.kernelHeight + ky) * s.kernelWidth + kx;
                int64_t output = at(s, i, f, oy, ox, s.filters, s.outHeight(), s.outWidth());
                if (s.kind == Kind::forward)
                  result[output] += double(data.input[input]) * data.weight[weight];
                else if (s.kind == Kind::backwardInput)
                  result[input] += double(data.output[output]) * data.weight[weight];
                else
                  result[weight] += double(data.output[output]) * data.input[input];
              }
  return result;
}

static std::vector<float> compute(const Spec &s, int threads, double *time = nullptr) {
  cpu::boundLibrary(cpu::nativeLevel());
  Data data(s);
  std::fill(data.written(s.kind).begin(), data.written(s.kind).end(), NAN);
  ThreadPool pool(threads);
  cpu::Convolution convolution(s, threads);
  EXPECT_EQ(convolution.scratch(), cpu::convolutionScratch(s));
  EXPECT_EQ(std::string(convolution.implementation()).find("ref"), std::string::npos);
  size_t stride = (convolution.scratch() + 63) / 64 * 64;
  std::vector<std::byte> scratch(stride * threads + 64, std::byte(0xff));
  auto *base =
      reinterpret_cast<std::byte *>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) & ~63ul);
  ComputeThread state;
  cpu::Convolution::Operands operands = {data.input.data(), data.weight.data(), data.output.data(),
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
  return data.written(s.kind);
}

static void check(Spec s) {
  for (Kind kind : {Kind::forward, Kind::backwardInput, Kind::backwardWeight})
    for (Spec::Layout layout : {Spec::Layout::nchw, Spec::Layout::nhwc}) {
      s.kind = kind, s.layout = layout;
      SCOPED_TRACE(testing::Message() << "kind " << int(kind) << " layout " << int(layout));
      std::vector<double> want = expected(s);
      std::vector<float> got = compute(s, 1);
      double worst = 0, largest = 0;
      for (size_t i = 0; i < want.size(); ++i) {
        worst = std::max(worst, std::isnan(got[i]) ? HUGE_VAL : std::abs(want[i] - got[i]));
        largest = std::max(largest, std::abs(want[i]));
      }
      EXPECT_LE(worst, 1e-5 * largest);
      for (int threads : {2, 8}) {
        std::vector<float> other = compute(s, threads);
        EXPECT_EQ(std::memcmp(got.data(), other.data(), got.size() * sizeof(float)), 0) << threads;
      }
    }
}

static Spec square(int64_t images, int64_t channels, int64_t size, int64_t filters, int64_t kernel,
                   int64_t padding, int64_t tile) {
  Spec s;
  s.images = images, s.channels = channels, s.height = s.width = size;
  s.filters = filters, s.kernelHeight = s.kernelWidth = kernel;
  s.paddingH = s.paddingW = padding, s.tileImages = tile;
  return s;
}

TEST(Convolution, OneChannel) { check(square(5, 1, 12, 32, 3, 1, 2)); }
TEST(Convolution, ManyChannels) { check(square(6, 32, 7, 64, 3, 1, 4)); }
TEST(Convolution, OddChannels) { check(square(3, 5, 9, 7, 3, 0, 3)); }
TEST(Convolution, OneByOne) { check(square(4, 8, 6, 12, 1, 0, 1)); }

TEST(Convolution, StridesAndUnevenEdges) {
  Spec s = square(3, 8, 9, 16, 3, 1, 2);
  s.width = 12, s.strideH = 2, s.strideW = 3, s.kernelWidth = 2, s.paddingW = 0;
  check(s);
}

// Not a check: what the compiler's choice of layout and tile rests on. WEIR_BENCH=1 prints it.
TEST(Convolution, Times) {
  if (!std::getenv("WEIR_BENCH"))
    GTEST_SKIP() << "set WEIR_BENCH=1 to measure";
  for (int64_t tile : {1, 4, 8, 16, 32})
    for (Spec s : {square(64, 1, 28, 32, 3, 1, tile), square(64, 32, 14, 64, 3, 1, tile)})
      for (Spec::Layout layout : {Spec::Layout::nchw, Spec::Layout::nhwc}) {
        std::printf("tile %2d %2d -> %d %s:", int(tile), int(s.channels), int(s.filters),
                    layout == Spec::Layout::nchw ? "nchw" : "nhwc");
        for (Kind kind : {Kind::forward, Kind::backwardInput, Kind::backwardWeight}) {
          s.kind = kind, s.layout = layout;
          double time;
          compute(s, 1, &time);
          std::printf(" %6.0f us", time);
        }
        std::printf("\n");
      }
}
