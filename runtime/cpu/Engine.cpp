//===- Engine.cpp - What a queue does beside the actions ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/Engine.h"
#include "runtime/base/Thread.h"
#include <algorithm>
#include <cassert>
#include <utility>

namespace weir::cpu {

Engine::Engine(size_t places) : ring(places), thread(startThread([this] { work(); })) {}

Engine::~Engine() {
  {
    std::lock_guard lock(mutex);
    ends = true;
  }
  changed.notify_all();
  thread.join();
}

void Engine::give(Work &work, std::span<const Address> operands) {
  assert(operands.size() <= mostOperands);
  Job job{.work = &work, .count = operands.size()};
  std::ranges::copy(operands, job.operands.begin());
  push(job);
}

void Engine::follow(Engine &other, Moment moment) { push({.other = &other, .moment = moment}); }

void Engine::stamp(std::atomic<int64_t> &time) { push({.time = &time}); }

void Engine::push(const Job &job) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return given - done < ring.size(); });
  ring[given % ring.size()] = job;
  ++given;
  lock.unlock();
  changed.notify_all();
}

void Engine::carryOut(const Job &job, bool mayRun) {
  if (job.time) {
    *job.time = Trace::now();
  } else if (job.other) {
    job.other->waitQuietly(job.moment);
  } else if (mayRun) {
    job.work->bind(std::span(job.operands).first(job.count));
    job.work->run();
  }
}

void Engine::work() {
  std::unique_lock lock(mutex);
  Moment next = 0;
  while (true) {
    changed.wait(lock, [&] { return ends || next < given; });
    if (ends)
      return;
    Job job = ring[next % ring.size()];
    bool mayRun = !wrong;
    lock.unlock();
    std::exception_ptr problem;
    try {
      carryOut(job, mayRun);
    } catch (...) {
      problem = std::current_exception();
    }
    lock.lock();
    if (problem && !wrong)
      wrong = problem;
    done = ++next;
    changed.notify_all();
  }
}

void Engine::waitQuietly(Moment moment) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return ends || done >= moment; });
}

void Engine::drain() {
  waitQuietly(now());
  std::lock_guard lock(mutex);
  wrong = nullptr;
}

void Engine::wait(Moment moment) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return done >= moment; });
  if (wrong)
    std::rethrow_exception(std::exchange(wrong, nullptr));
}

} // namespace weir::cpu
