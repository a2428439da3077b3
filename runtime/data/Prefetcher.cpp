//===- Prefetcher.cpp - The next steps' batches, read ahead ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/data/Prefetcher.h"
#include "runtime/base/Thread.h"
#include <cassert>
#include <csignal>
#include <pthread.h>

namespace weir {

Batch makeBatch(const Dataset &dataset, int64_t rows) {
  Batch batch;
  for (const InputSpec &spec : dataset.inputs())
    batch.emplace_back(rows * spec.rowBytes());
  return batch;
}

void readRow(const Dataset &dataset, int64_t position, Batch &batch, int64_t row) {
  for (size_t input = 0; input < batch.size(); ++input)
    dataset.write(input, position, batch[input].data() + row * dataset.inputs()[input].rowBytes());
}

Prefetcher::Prefetcher(const Dataset &dataset, const Sampler &sampler, int64_t stepRows,
                       std::vector<int64_t> rows, int64_t first, int64_t last, size_t depth)
    : dataset(dataset), sampler(sampler), rows(std::move(rows)), first(first), last(last),
      ring(depth, makeBatch(dataset, stepRows)), filled(first), taken(first) {
  assert(depth >= 2 && first <= last);
  // Signals are the training loop's: the thread starts with all of them blocked but those of its
  // own faults, of which a file that is cut short is one (MappedFile.h).
  sigset_t all, before;
  sigfillset(&all);
  for (int fault : {SIGBUS, SIGSEGV, SIGFPE, SIGILL})
    sigdelset(&all, fault);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  struct Restore {
    sigset_t &mask;
    ~Restore() { pthread_sigmask(SIG_SETMASK, &mask, nullptr); }
  } restore{before};
  thread = startThread([this] { read(); });
}

Prefetcher::~Prefetcher() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  thread.join();
}

void Prefetcher::read() {
  for (int64_t step = first; step < last; ++step) {
    {
      // The batch taken last is still being read by the loop.
      std::unique_lock lock(mutex);
      changed.wait(
          lock, [&] { return stopping || step - taken < static_cast<int64_t>(ring.size()) - 1; });
      if (stopping)
        return;
    }
    std::exception_ptr thrown;
    try {
      Batch &batch = ring[(step - first) % ring.size()];
      for (int64_t row : rows)
        readRow(dataset, sampler.at(step, row), batch, row);
      dataset.requireIntact();
    } catch (...) {
      thrown = std::current_exception();
    }
    {
      std::lock_guard lock(mutex);
      if (thrown)
        failure = thrown;
      else
        filled = step + 1;
    }
    changed.notify_all();
    if (thrown)
      return;
  }
}

const Batch &Prefetcher::next() {
  std::unique_lock lock(mutex);
  assert(taken < last);
  changed.wait(lock, [&] { return filled > taken || failure; });
  if (filled <= taken)
    std::rethrow_exception(failure);
  const Batch &batch = ring[(taken - first) % ring.size()];
  ++taken;
  changed.notify_all();
  return batch;
}

} // namespace weir
