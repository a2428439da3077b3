//===- Prefetcher.h - The next steps' batches, read ahead -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A thread that fills a few preallocated batches ahead of the training loop.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_DATA_PREFETCHER_H
#define WEIR_RUNTIME_DATA_PREFETCHER_H

#include "runtime/data/Dataset.h"
#include "runtime/data/Sampling.h"
#include "support/program/PrefetchDepth.h"
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace weir {

/// The bytes of each input, in the order of Dataset::inputs().
using Batch = std::vector<std::vector<std::byte>>;

/// A batch of `rows` rows for each input.
Batch makeBatch(const Dataset &dataset, int64_t rows);

/// Reads what is at a position of the data into a row of a batch.
void readRow(const Dataset &dataset, int64_t position, Batch &batch, int64_t row);

class Prefetcher {
public:
  /// Reads the batches of steps [first, last), `depth` ahead, and of their rows these. The dataset
  /// has to outlive it. Throws Failure(Exit::device) where there is no thread to be had.
  Prefetcher(const Dataset &dataset, const Sampler &sampler, int64_t stepRows,
             std::vector<int64_t> rows, int64_t first, int64_t last, size_t depth = prefetchDepth);
  ~Prefetcher();

  /// The next step's batch, valid until the next call. Blocks until it is read; throws what reading
  /// it threw.
  const Batch &next();

private:
  void read();

  const Dataset &dataset;
  const Sampler sampler;
  const std::vector<int64_t> rows;
  const int64_t first, last;
  std::vector<Batch> ring;
  std::mutex mutex;
  std::condition_variable changed;
  int64_t filled, taken; // steps whose batch was filled, and taken
  bool stopping = false;
  std::exception_ptr failure;
  std::thread thread;
};

} // namespace weir

#endif
