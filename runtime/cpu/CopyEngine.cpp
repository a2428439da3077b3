//===- CopyEngine.cpp - Copies beside the actions -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/CopyEngine.h"
#include "runtime/base/Thread.h"
#include <utility>

namespace weir::cpu {

CopyEngine::CopyEngine() : ring(places), thread(startThread([this] { work(); })) {}

CopyEngine::~CopyEngine() {
  {
    std::lock_guard lock(mutex);
    ends = true;
  }
  changed.notify_all();
  thread.join();
}

void CopyEngine::push(Job job) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return given - done < places; });
  ring[given % places] = std::move(job);
  ++given;
  lock.unlock();
  changed.notify_all();
}

void CopyEngine::work() {
  std::unique_lock lock(mutex);
  Moment next = 0;
  while (true) {
    changed.wait(lock, [&] { return ends || next < given; });
    if (ends)
      return;
    Job job = std::move(ring[next % places]);
    bool mayRun = !wrong;
    lock.unlock();
    std::exception_ptr problem;
    try {
      if (job.other)
        job.other->waitQuietly(job.moment);
      else if (mayRun)
        job.copy->run();
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

void CopyEngine::waitQuietly(Moment moment) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return ends || done >= moment; });
}

void CopyEngine::wait(Moment moment) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return done >= moment; });
  if (wrong)
    std::rethrow_exception(std::exchange(wrong, nullptr));
}

} // namespace weir::cpu
