//===- Steps.h - What each kind of action does ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to runtime/core.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CORE_STEPS_H
#define WEIR_RUNTIME_CORE_STEPS_H

#include "runtime/core/Executor.h"
#include <cstring>

namespace weir {

// Work below these is done before another core has heard of it.
constexpr uint64_t inlineBytes = 16 << 10;
constexpr uint64_t inlineFlops = 32 << 10;

// Bytes of a copy that one task takes.
constexpr uint64_t blockBytes = 256 << 10;

class LaunchStep : public Step {
public:
  LaunchStep(Machine &machine, KernelFunction function, const artifact::Kernel &kernel,
             std::vector<Place> places)
      : machine(machine), function(function), tasks(kernel.tasks()),
        small(kernel.bytes() > 0 && kernel.bytes() < inlineBytes && kernel.flops() < inlineFlops),
        places(std::move(places)), operands(this->places.size()) {
    for (const Place &place : this->places)
      moves |= !place.moves.empty();
    if (!moves)
      bind(nullptr);
  }

  void run(Rounds rounds) override {
    if (moves)
      bind(rounds);
    auto body = [this](int64_t lo, int64_t hi, int worker) {
      function(operands.data(), lo, hi, machine.workerScratch(worker));
    };
    if (small)
      body(0, tasks, 0);
    else
      machine.pool->parallelFor(tasks, body);
  }

private:
  void bind(Rounds rounds) {
    for (size_t i = 0; i < places.size(); ++i)
      operands[i] = places[i].at<void>(rounds);
  }

  Machine &machine;
  const KernelFunction function;
  const int64_t tasks;
  const bool small;
  bool moves = false;
  std::vector<Place> places;
  std::vector<void *> operands;
};

class ProductStep : public Step {
public:
  ProductStep(Machine &machine, cpu::Product &product, std::vector<Place> places)
      : machine(machine), product(product), places(std::move(places)) {}

  void run(Rounds rounds) override {
    auto at = [&](size_t i) { return i < places.size() ? places[i].at<float>(rounds) : nullptr; };
    cpu::Product::Operands operands = {at(0), at(1), at(2), at(3)};
    machine.pool->parallelFor(product.tasks(), [&](int64_t lo, int64_t hi, int worker) {
      product.run(lo, hi, worker, operands, machine.workerScratch(worker));
    });
  }

private:
  Machine &machine;
  cpu::Product &product;
  const std::vector<Place> places; ///< a, b, c, perhaps the bias
};

class ConvolutionStep : public Step {
public:
  ConvolutionStep(Machine &machine, cpu::Convolution &convolution, std::vector<Place> places)
      : machine(machine), convolution(convolution), places(std::move(places)) {}

  void run(Rounds rounds) override {
    auto at = [&](size_t i) { return i < places.size() ? places[i].at<float>(rounds) : nullptr; };
    cpu::Convolution::Operands operands = {at(0), at(1), at(2), at(3)};
    machine.pool->parallelFor(convolution.tasks(), [&](int64_t lo, int64_t hi, int worker) {
      convolution.run(lo, hi, worker, operands, machine.workerScratch(worker));
    });
    machine.pool->parallelFor(convolution.sumTasks(), [&](int64_t lo, int64_t hi, int) {
      convolution.sum(lo, hi, operands);
    });
  }

private:
  Machine &machine;
  cpu::Convolution &convolution;
  const std::vector<Place> places; ///< input, weight, output, perhaps partial weight gradients
};

class CopyStep : public Step {
public:
  CopyStep(Machine &machine, Place from, Place to, uint64_t size)
      : machine(machine), from(from), to(to), size(size) {}

  void run(Rounds rounds) override {
    const auto *source = from.at<std::byte>(rounds);
    auto *target = to.at<std::byte>(rounds);
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
  const Place from, to;
  const uint64_t size;
};

/// An action that has nothing to do here.
class NoStep : public Step {
public:
  void run(Rounds) override {}
};

} // namespace weir

#endif
