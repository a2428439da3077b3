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
#include <ctime>

namespace weir::cpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t smallest = 256, largest = 4096;
/// Of all sizes, of one size, and of one run. A thread's, in time of the processor: while others
/// have the processor nothing is learnt.
constexpr double secondsInAll = 0.2, secondsOfSize = 0.02, secondsOfRun = 0.03;
/// Of a size. The first is slower than the others.
constexpr int fewestRuns = 4;
/// By the clock on the wall: a processor that is not to be had does not hold up a run.
constexpr double secondsOfPatience = 3;

double processorSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

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
  ComputeThread caller;
  double best = 0;
  Clock::time_point begun = Clock::now();
  auto seconds = [](Clock::time_point since) {
    return std::chrono::duration<double>(Clock::now() - since).count();
  };
  auto computed = [&](double since) { return (processorSeconds() - since) / pool.size(); };
  double begunComputing = processorSeconds();
  for (int64_t n = smallest; n <= largest; n *= 2) {
    spec::Product spec = square(n, factors, pool.size());
    double flops = static_cast<double>(spec.cost().flops);
    if (best > 0 && (flops / best > secondsOfRun ||
                     computed(begunComputing) + fewestRuns * flops / best > secondsInAll))
      break;
    Product product(spec, pool.size());
    size_t factor = aligned(n * n * sizeOf(factors)), scratch = aligned(product.scratch());
    Arena arena(2 * factor + n * n * sizeOf(spec.result) + scratch * pool.size() + 64,
                "the measurement of a peak");
    std::byte *a = arena.data(), *b = a + factor, *c = b + factor;
    std::byte *scratches = c + aligned(n * n * sizeOf(spec.result));
    std::memset(a, 0x3c, 2 * factor); // ordinary numbers in f32, bf16 and f16
    double sizeBegun = processorSeconds();
    for (int run = 0; run < fewestRuns || computed(sizeBegun) < secondsOfSize; ++run) {
      Clock::time_point start = Clock::now();
      pool.parallelFor(product.tasks(), [&](int64_t lo, int64_t hi, int worker) {
        product.run(lo, hi, worker, {a, b, c, {}}, scratches + worker * scratch);
      });
      best = std::max(best, flops / seconds(start));
      if (seconds(begun) > secondsOfPatience)
        return best;
    }
  }
  return best;
}

} // namespace weir::cpu
