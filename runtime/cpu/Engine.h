//===- Engine.h - What a queue does beside the actions --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CPU_ENGINE_H
#define WEIR_RUNTIME_CPU_ENGINE_H

#include "runtime/core/Walk.h"
#include <array>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace weir::cpu {

/// A thread that does what it is given one after the other: one of a plan's queues behind the
/// first. All but the thread itself is the giver's, one thread at a time.
class Engine {
public:
  /// As many jobs may wait as there are places: nothing is allocated while a program runs, and who
  /// gives more waits. Throws Failure{Exit::device} where the system has no thread to give.
  explicit Engine(size_t places);
  ~Engine();

  /// A moment of the engine: when all that it was given before is done. 0 is always done.
  using Moment = uint64_t;
  Moment now() const { return given; }

  static constexpr size_t mostOperands = 2;

  /// Binds and runs it after all that was given before. Nobody else uses the work.
  void give(Work &work, std::span<const Address> operands);
  /// What it is given from here on comes after that moment of the other.
  void follow(Engine &other, Moment moment);
  /// Stores the time at which all that was given before is done.
  void stamp(std::atomic<int64_t> &time);

  /// Returns when that moment has come. Throws what went wrong before it, once; what it was given
  /// behind that is not done.
  void wait(Moment moment);
  /// Returns when all is done, however it went, which is forgotten.
  void drain();

private:
  struct Job {
    Work *work = nullptr;
    std::array<Address, mostOperands> operands = {};
    size_t count = 0; ///< of operands
    Engine *other = nullptr;
    Moment moment = 0;
    std::atomic<int64_t> *time = nullptr;
  };

  void push(const Job &job);
  void carryOut(const Job &job, bool mayRun);
  void work();
  void waitQuietly(Moment moment);

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
