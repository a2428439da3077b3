//===- Peak.cpp - How fast a processor multiplies -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/Peak.h"
#include "runtime/cpu/Arena.h"
#include "runtime/cpu/Product.h"
#include "runtime/cpu/ThreadPool.h"
#include <algorithm>
#include <chrono>
#include <cstring>

namespace weir::cpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t smallest = 256, largest = 4096;
/// Of all sizes, and of one run.
constexpr double secondsInAll = 0.15, secondsOfRun = 0.03;

/// n x n by n x n, rows shared by the threads in two pieces each.
spec::Product square(int64_t n, Element factors, int threads) {
  spec::Product product;
  product.m = product.n = product.k = n;
  product.aBatch = product.bBatch = product.cBatch = n * n;
  product.aRow = product.bRow = product.cRow = n;
  product.aColumn = product.bColumn = 1;
  product.factors = factors;
  product.tileBatch = 1;
  product.tileM = (n - 1) / std::min<int64_t>(n, 2 * threads) + 1;
  product.tileN = n;
  return product;
}

size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

} // namespace

double measurePeak(Element factors, int threads) {
  ThreadPool pool(threads);
  double best = 0;
  Clock::time_point begun = Clock::now();
  auto seconds = [](Clock::time_point since) {
    return std::chrono::duration<double>(Clock::now() - since).count();
  };
  for (int64_t n = smallest; n <= largest; n *= 2) {
    spec::Product spec = square(n, factors, pool.size());
    double flops = static_cast<double>(spec.cost().flops);
    // The first run of a size is slower than the others, and memory is touched before it.
    if (best > 0 &&
        (flops / best > secondsOfRun || seconds(begun) + 4 * flops / best > secondsInAll))
      break;
    Product product(spec, pool.size());
    size_t factor = aligned(n * n * sizeOf(factors)), scratch = aligned(product.scratch());
    Arena arena(2 * factor + n * n * sizeOf(spec.result) + scratch * pool.size() + 64,
                "the measurement of a peak");
    std::byte *a = arena.data(), *b = a + factor, *c = b + factor;
    std::byte *scratches = c + aligned(n * n * sizeOf(spec.result));
    std::memset(a, 0x3c, 2 * factor); // ordinary numbers in f32, bf16 and f16
    for (int run = 0; run < 3; ++run) {
      Clock::time_point start = Clock::now();
      pool.parallelFor(product.tasks(), [&](int64_t lo, int64_t hi, int worker) {
        product.run(lo, hi, worker, {a, b, c, nullptr}, scratches + worker * scratch);
      });
      best = std::max(best, flops / seconds(start));
    }
  }
  return best;
}

} // namespace weir::cpu
