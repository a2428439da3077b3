//===- Works.h - What each kind of action does on a processor -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to runtime/cpu.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CPU_WORKS_H
#define WEIR_RUNTIME_CPU_WORKS_H

#include "runtime/core/Walk.h"
#include "runtime/cpu/ThreadPool.h"
#include <array>
#include <bit>
#include <cstring>

namespace weir::cpu {

/// What a compiled kernel is. `scratch` is the worker's own.
using KernelFunction = void (*)(void *const *operands, int64_t lo, int64_t hi, void *scratch);

/// What every action uses, owned by the device.
struct Machine {
  std::byte *arena = nullptr;
  std::byte *scratch = nullptr; ///< of worker 0; the others' follow at scratchStride
  size_t scratchStride = 0;
  ThreadPool *pool = nullptr;

  std::byte *workerScratch(int worker) const { return scratch + worker * scratchStride; }
};

// Work below these is done before another core has heard of it.
constexpr uint64_t inlineBytes = 16 << 10;
constexpr uint64_t inlineFlops = 32 << 10;

// Bytes of a copy that one task takes.
constexpr uint64_t blockBytes = 256 << 10;

class LaunchWork : public Work {
public:
  LaunchWork(Machine &machine, KernelFunction function, const artifact::Kernel &kernel)
      : machine(machine), function(function), tasks(kernel.tasks()),
        small(kernel.bytes() > 0 && kernel.bytes() < inlineBytes && kernel.flops() < inlineFlops),
        operands(kernel.operands()->size()) {}

  void bind(std::span<const Address> places) override {
    for (size_t i = 0; i < places.size(); ++i)
      operands[i] = machine.arena + places[i];
  }

  void run() override {
    auto body = [this](int64_t lo, int64_t hi, int worker) {
      function(operands.data(), lo, hi, machine.workerScratch(worker));
    };
    if (small)
      body(0, tasks, 0);
    else
      machine.pool->parallelFor(tasks, body);
  }

private:
  Machine &machine;
  const KernelFunction function;
  const int64_t tasks;
  const bool small;
  std::vector<void *> operands;
};

/// A library call that `Made` computes: its Operands are pointers, in the order of the spec's
/// operands, the last null where it is absent. Its tasks, and its tasks of a sum behind them
/// where there are such, are run in parallel.
template <class Made> class CallWork : public Work {
public:
  CallWork(Machine &machine, Made &made) : machine(machine), made(made) {}

  void bind(std::span<const Address> places) override {
    for (size_t i = 0; i < places.size(); ++i)
      operands[i] = machine.arena + places[i];
  }

  void run() override {
    auto on = std::bit_cast<typename Made::Operands>(operands);
    machine.pool->parallelFor(made.tasks(), [&](int64_t lo, int64_t hi, int worker) {
      made.run(lo, hi, worker, on, machine.workerScratch(worker));
    });
    if constexpr (requires { made.sumTasks(); })
      machine.pool->parallelFor(made.sumTasks(),
                                [&](int64_t lo, int64_t hi, int) { made.sum(lo, hi, on); });
  }

private:
  Machine &machine;
  Made &made;
  std::array<void *, sizeof(typename Made::Operands) / sizeof(void *)> operands = {};
};

class CopyWork : public Work {
public:
  CopyWork(Machine &machine, uint64_t size) : machine(machine), size(size) {}

  void bind(std::span<const Address> places) override {
    source = machine.arena + places[0];
    target = machine.arena + places[1];
  }

  void run() override {
    if (source < target + size && target < source + size) {
      std::memmove(target, source, size);
      return;
    }
    int64_t tasks = (size - 1) / blockBytes + 1;
    machine.pool->parallelFor(tasks, [&](int64_t lo, int64_t hi, int) {
      uint64_t begin = lo * blockBytes, end = std::min<uint64_t>(size, hi * blockBytes);
      std::memcpy(target + begin, source + begin, end - begin);
    });
  }

private:
  Machine &machine;
  const uint64_t size;
  const std::byte *source = nullptr;
  std::byte *target = nullptr;
};

} // namespace weir::cpu

#endif
