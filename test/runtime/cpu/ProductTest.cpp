//===- ProductTest.cpp ----------------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/Product.h"
#include "runtime/cpu/Isa.h"
#include "runtime/cpu/ThreadPool.h"
#include "support/Error.h"
#include "support/precision/Element.h"
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
using ProductSpec = spec::Product;

static std::vector<float> randoms(size_t size, int seed) {
  std::mt19937 engine(seed);
  std::vector<float> values(size);
  for (float &value : values)
    value = static_cast<float>(engine()) / static_cast<float>(1u << 31) - 1;
  return values;
}

static ProductSpec dense(int64_t batch, int64_t m, int64_t n, int64_t k, bool transposeA = false,
                         bool transposeB = false) {
  ProductSpec s;
  s.batch = batch, s.m = m, s.n = n, s.k = k;
  s.aBatch = m * k, s.aRow = transposeA ? 1 : k, s.aColumn = transposeA ? m : 1;
  s.bBatch = k * n, s.bRow = transposeB ? 1 : n, s.bColumn = transposeB ? k : 1;
  s.cBatch = m * n, s.cRow = n;
  s.tileBatch = 1, s.tileM = m, s.tileN = n;
  return s;
}

struct Data {
  explicit Data(const ProductSpec &s)
      : a(randoms((s.batch - 1) * s.aBatch + (s.m - 1) * s.aRow + (s.k - 1) * s.aColumn + 1, 1)),
        b(randoms((s.batch - 1) * s.bBatch + (s.k - 1) * s.bRow + (s.n - 1) * s.bColumn + 1, 2)),
        c(randoms((s.batch - 1) * s.cBatch + (s.m - 1) * s.cRow + s.n, 3)), bias(randoms(s.n, 4)) {
    for (auto [values, element] :
         {std::pair(&a, s.factors), {&b, s.factors}, {&c, s.result}, {&bias, s.added}})
      for (float &value : *values)
        value = static_cast<float>(rounded(element, value));
  }
  std::vector<float> a, b, c, bias;
};

/// The numbers as they are stored.
static std::vector<std::byte> stored(Element element, const std::vector<float> &values) {
  std::vector<std::byte> bytes(values.size() * sizeOf(element));
  storeNumbers(element, std::vector<double>(values.begin(), values.end()), bytes.data());
  return bytes;
}

static std::vector<float> compute(const ProductSpec &s, int threads, const Data &data) {
  cpu::boundLibrary(cpuLevel());
  cpu::ThreadPool pool(threads);
  cpu::Product product(s, threads);
  EXPECT_EQ(std::string(product.implementation()).find("ref"), std::string::npos);
  size_t stride = (product.scratch() + 63) / 64 * 64;
  std::vector<std::byte> scratch(stride * threads + 64);
  auto *base =
      reinterpret_cast<std::byte *>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) & ~63ul);
  std::vector<std::byte> a = stored(s.factors, data.a), b = stored(s.factors, data.b),
                         c = stored(s.result, data.c), bias = stored(s.added, data.bias);
  cpu::ComputeThread state;
  std::vector<float> packed(s.isPacked() ? s.packedElements() + 16 : 0);
  void *aligned =
      reinterpret_cast<void *>((reinterpret_cast<uintptr_t>(packed.data()) + 63) & ~63ul);
  cpu::Product::Operands operands{a.data(), b.data(), c.data(), {bias.data(), aligned}};
  if (!s.bias)
    operands.more[0] = aligned;
  if (product.packTasks())
    pool.parallelFor(product.packTasks(),
                     [&](int64_t lo, int64_t hi, int) { product.pack(lo, hi, operands); });
  pool.parallelFor(product.tasks(), [&](int64_t lo, int64_t hi, int worker) {
    product.run(lo, hi, worker, operands, base + worker * stride);
  });
  std::vector<double> numbers(data.c.size());
  loadNumbers(s.result, c.data(), numbers);
  return {numbers.begin(), numbers.end()};
}

static std::vector<float> compute(const ProductSpec &s, int threads) {
  return compute(s, threads, Data(s));
}

static std::vector<float> expected(const ProductSpec &s) {
  Data data(s);
  for (int64_t i = 0; i < s.batch; ++i)
    for (int64_t row = 0; row < s.m; ++row)
      for (int64_t column = 0; column < s.n; ++column) {
        float &c = data.c[i * s.cBatch + row * s.cRow + column];
        double sum = 0;
        for (int64_t j = 0; j < s.k; ++j)
          sum += double(data.a[i * s.aBatch + row * s.aRow + j * s.aColumn]) *
                 data.b[i * s.bBatch + j * s.bRow + column * s.bColumn];
        if (s.bias)
          sum += data.bias[column];
        c = s.relu ? std::max(0.0, sum) : sum;
      }
  return data.c;
}

static void check(const ProductSpec &s) {
  SCOPED_TRACE(testing::Message() << s.batch << " " << s.m << "x" << s.n << "x" << s.k << " a "
                                  << s.aRow << "," << s.aColumn << " b " << s.bRow << ","
                                  << s.bColumn << " bias " << s.bias << " relu " << s.relu
                                  << " tile " << s.tileBatch << " " << s.tileM << "x" << s.tileN);
  std::vector<float> want = expected(s), got = compute(s, 1);
  // What is rounded to a narrower result is off by half of its last place.
  float worst = 0, place = s.result == Element::f32 ? 0 : 0x1p-8f;
  for (size_t i = 0; i < want.size(); ++i)
    worst = std::max(worst, std::abs(want[i] - got[i]) - place * std::abs(want[i]));
  EXPECT_LE(worst, 1e-5 * std::sqrt(s.k) + 1e-6);
  for (int threads : {2, 8}) {
    std::vector<float> other = compute(s, threads);
    EXPECT_EQ(std::memcmp(got.data(), other.data(), got.size() * sizeof(float)), 0) << threads;
  }
}

TEST(Product, SizesAndTransposes) {
  for (auto [m, n, k] : {std::tuple(1, 1, 1), std::tuple(1, 5, 3), std::tuple(5, 1, 3),
                         std::tuple(7, 17, 33), std::tuple(96, 65, 128), std::tuple(64, 128, 1)})
    for (int transposes = 0; transposes < 4; ++transposes)
      check(dense(1, m, n, k, transposes & 1, transposes & 2));
}

// A processor without such instructions is served too, more slowly.
/// The library multiplies bf16 where there are vectors of 512 bits, in f32 if need be.
static bool multipliesLow() { return cpuLevel() >= "x86-64-v4"; }

TEST(Product, LowPrecision) {
  if (!multipliesLow())
    GTEST_SKIP() << "the library multiplies no bf16 on " << cpuLevel();
  for (auto [m, n, k] : {std::tuple(1, 1, 1), std::tuple(7, 17, 33), std::tuple(96, 65, 128),
                         std::tuple(65, 26, 63), std::tuple(63, 26, 65)})
    for (int transposes = 0; transposes < 4; ++transposes)
      for (Element result : {Element::f32, Element::bf16}) {
        ProductSpec s = dense(1, m, n, k, transposes & 1, transposes & 2);
        s.factors = Element::bf16, s.result = result;
        check(s);
        s.bias = s.relu = true;
        s.tileM = (m + 1) / 2, s.tileN = std::min(n, 16);
        check(s);
        s.added = Element::bf16;
        check(s);
      }
}

TEST(Product, ElementsThatNoProcessorMultiplies) {
  ProductSpec s = dense(1, 4, 16, 8);
  s.factors = Element::f8e4m3;
  EXPECT_EQ(s.check(), "");
  try {
    cpu::Product product(s, 1);
    FAIL() << "the library has no such products";
  } catch (const Failure &failure) {
    EXPECT_EQ(failure.exit, Exit::model);
  }
  s.factors = Element::i32;
  EXPECT_EQ(s.check(), "its elements are no floats");
}

TEST(Product, RemaindersOfTiles) {
  ProductSpec s = dense(5, 50, 70, 20);
  s.tileBatch = 2, s.tileM = 16, s.tileN = 64;
  check(s);
}

TEST(Product, BiasRelu) {
  for (int batch : {1, 3}) {
    ProductSpec s = dense(batch, 33, 40, 24, false, true);
    s.tileM = 10, s.tileN = 16, s.tileBatch = batch;
    s.bias = true;
    check(s);
    s.relu = true;
    check(s);
    s.bias = false;
    check(s);
  }
}

/// Rows and columns that fill panels, halves of panels and neither, and blocks of rows and of
/// depth, one and several.
TEST(Product, Packed) {
  for (auto [m, n, k] :
       {std::tuple(1, 1, 1), std::tuple(5, 15, 7), std::tuple(6, 16, 8), std::tuple(13, 33, 256),
        std::tuple(100, 65, 257), std::tuple(97, 48, 520), std::tuple(150, 24, 264)})
    for (int transposes = 0; transposes < 4; ++transposes) {
      ProductSpec s = dense(1, m, n, k, transposes & 1, transposes & 2);
      s.kernel = spec::ProductKernel::packed;
      check(s);
      s.bias = true;
      check(s);
      s.relu = true;
      s.tileM = (m + 1) / 2, s.tileN = std::min(n, 32);
      check(s);
      s.bias = false;
      check(s);
    }
}

/// The same bits whatever the tiles, and whatever the number of threads (check()).
TEST(Product, PackedHasTheSameBitsInAnyTiles) {
  ProductSpec s = dense(1, 131, 100, 300, true);
  s.kernel = spec::ProductKernel::packed;
  std::vector<float> whole = compute(s, 1);
  s.tileM = 12, s.tileN = 32;
  EXPECT_EQ(compute(s, 2), whole);
}

TEST(Product, WhatIsPackedIsASingleProductOfF32) {
  ProductSpec s = dense(2, 8, 32, 8);
  s.kernel = spec::ProductKernel::packed;
  EXPECT_EQ(s.check(), "it is packed, and no single product of f32");
  s.batch = 1;
  EXPECT_EQ(s.check(), "");
  s.tileN = 24;
  EXPECT_EQ(s.check(), "it is packed, and its tiles cut panels");
  s.tileN = 16, s.factors = Element::bf16;
  EXPECT_EQ(s.check(), "it is packed, and no single product of f32");
}

TEST(Product, WhatIsNotANumberStaysSoUnderRelu) {
  cpu::boundLibrary(cpuLevel());
  ProductSpec s = dense(1, 3, 7, 2);
  s.relu = true;
  std::vector<float> a = {1, 1, NAN, 1, -1, -1}, b(14, 1), c(21);
  cpu::Product product(s, 1);
  std::vector<std::byte> scratch(product.scratch() + 64);
  auto *base =
      reinterpret_cast<std::byte *>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) & ~63ul);
  product.run(0, product.tasks(), 0, {a.data(), b.data(), c.data(), {}}, base);
  for (int column = 0; column < 7; ++column) {
    EXPECT_EQ(c[column], 2);
    EXPECT_TRUE(std::isnan(c[7 + column]));
    EXPECT_EQ(c[14 + column], 0);
  }
  if (!multipliesLow())
    GTEST_SKIP() << "the library multiplies no bf16 on " << cpuLevel();
  s.result = s.factors = Element::bf16;
  std::vector<std::byte> lowA = stored(s.factors, a), lowB = stored(s.factors, b), lowC(21 * 2);
  cpu::Product low(s, 1);
  scratch.resize(low.scratch() + 64);
  base = reinterpret_cast<std::byte *>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) & ~63ul);
  low.run(0, low.tasks(), 0, {lowA.data(), lowB.data(), lowC.data(), nullptr}, base);
  std::vector<double> found(21);
  loadNumbers(s.result, lowC.data(), found);
  for (int column = 0; column < 7; ++column) {
    EXPECT_EQ(found[column], 2);
    EXPECT_TRUE(std::isnan(found[7 + column]));
    EXPECT_EQ(found[14 + column], 0);
  }
}

/// In a row beyond the last whole panel, and in another block of the sum than the first.
TEST(Product, WhatIsNotANumberStaysSoInPackedProducts) {
  ProductSpec s = dense(1, 13, 33, 520);
  s.kernel = spec::ProductKernel::packed;
  s.relu = true;
  Data data(s);
  data.a.assign(data.a.size(), -1);
  data.b.assign(data.b.size(), 1);
  data.a[0 * s.k + 7] = INFINITY;
  data.a[5 * s.k + 519] = NAN;
  data.a[12 * s.k + 300] = NAN;
  for (int64_t tileM : {13, 6}) {
    s.tileM = tileM;
    std::vector<float> c = compute(s, 2, data);
    for (int64_t row = 0; row < s.m; ++row)
      for (int64_t column = 0; column < s.n; ++column) {
        float value = c[row * s.cRow + column];
        if (row == 5 || row == 12)
          EXPECT_TRUE(std::isnan(value)) << row << " " << column;
        else
          EXPECT_EQ(value, row == 0 ? INFINITY : 0) << row << " " << column;
      }
  }
}

TEST(Product, LongSums) {
  ProductSpec s = dense(1, 65, 128, 3000, true, false);
  s.tileM = 33;
  check(s);
}

TEST(Product, HeadsInsideRows) {
  // q k^T with heads side by side in rows of width 3 * heads * depth; the result's rows are longer
  // than n.
  ProductSpec s;
  int64_t heads = 4, depth = 32, time = 20, width = 3 * heads * depth;
  s.batch = heads, s.m = time, s.n = time, s.k = depth;
  s.aBatch = depth, s.aRow = width, s.aColumn = 1;
  s.bBatch = depth, s.bRow = 1, s.bColumn = width;
  s.cBatch = time * 24, s.cRow = 24;
  s.tileBatch = 2, s.tileM = 7, s.tileN = time;
  check(s);
}

TEST(Product, SharedOperands) {
  ProductSpec s = dense(6, 9, 10, 11);
  s.tileBatch = 4;
  s.bBatch = 0;
  check(s);
  s = dense(6, 9, 10, 11);
  s.tileBatch = 4;
  s.aBatch = 0;
  check(s);
}

TEST(Product, WhatTheLibraryRefusesIsTheArtifactsFault) {
  ProductSpec s = dense(1, 4, 16, 8);
  s.aRow = 3;
  s.aColumn = 2;
  try {
    cpu::Product product(s, 1);
    FAIL() << "its rows overlap";
  } catch (const Failure &failure) {
    EXPECT_EQ(failure.exit, Exit::model);
  }
}

TEST(Product, Overhead) {
  if (!std::getenv("WEIR_BENCH"))
    GTEST_SKIP() << "set WEIR_BENCH=1 to measure";
  cpu::boundLibrary(cpuLevel());
  ProductSpec s = dense(1, 4, 16, 8);
  s.tileM = 1;
  Data data(s);
  cpu::Product product(s, 1);
  std::vector<std::byte> scratch(product.scratch() + 64);
  auto *base =
      reinterpret_cast<std::byte *>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) & ~63ul);
  cpu::ComputeThread state;
  double best = 1e9;
  for (int i = 0; i < 200; ++i) {
    auto start = std::chrono::steady_clock::now();
    for (int j = 0; j < 25; ++j)
      product.run(0, 4, 0, {data.a.data(), data.b.data(), data.c.data(), {}}, base);
    std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count() / 100);
  }
  std::printf("a product of 1 x 4 by 4 x 16: %.2f us\n", best);
}
