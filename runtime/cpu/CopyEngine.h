//===- CopyEngine.h - Copies beside the actions ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CPU_COPYENGINE_H
#define WEIR_RUNTIME_CPU_COPYENGINE_H

#include "runtime/core/HostDevice.h"
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace weir::cpu {

/// A thread that does what it is given one after the other: one of a plan's queues behind the
/// first.
class CopyEngine {
public:
  /// Throws Failure{Exit::device} where the system has no thread to give.
  CopyEngine();
  ~CopyEngine();

  /// A moment of the engine: when all that it was given before is done. 0 is always done.
  using Moment = uint64_t;
  Moment now() const { return given; }

  /// Does it after all that it was given before.
  void give(HostCopy copy) { push({std::move(copy), nullptr, 0}); }
  /// What it is given from here on comes after that moment of the other.
  void follow(CopyEngine &other, Moment moment) { push({std::nullopt, &other, moment}); }

  /// Returns when that moment has come. Throws what went wrong before it, once; what it was given
  /// behind that is not done.
  void wait(Moment moment);
  /// Returns when all is done, however it went.
  void drain() { waitQuietly(now()); }

private:
  struct Job {
    std::optional<HostCopy> copy;
    CopyEngine *other = nullptr;
    Moment moment = 0;
  };

  void push(Job job);
  void work();
  void waitQuietly(Moment moment);

  // As many jobs may wait as there are places: nothing is allocated while a program runs.
  static constexpr size_t places = 256;
  std::vector<Job> ring;
  Moment given = 0; ///< jobs, in all; the giver's alone
  Moment done = 0;
  bool ends = false;
  std::exception_ptr wrong;
  std::mutex mutex;
  std::condition_variable changed;
  std::thread thread;
};

} // namespace weir::cpu

#endif
