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

// Bytes of a copy or fill that one task takes.
constexpr uint64_t blockBytes = 256 << 10;

class LaunchStep : public Step {
public:
  LaunchStep(Machine &machine, KernelFunction function, const artifact::Kernel &kernel,
             std::vector<Place> places)
      : machine(machine), function(function), tasks(kernel.tasks()),
        small(kernel.bytes() > 0 && kernel.bytes() < inlineBytes && kernel.flops() < inlineFlops),
        places(std::move(places)), operands(this->places.size()) {
    bind(0);
    for (const Place &place : this->places)
      moves |= place.stride != 0;
  }

  void run(uint32_t round) override {
    if (moves)
      bind(round);
    auto body = [this](int64_t lo, int64_t hi, int worker) {
      function(operands.data(), lo, hi, machine.workerScratch(worker));
    };
    if (small)
      body(0, tasks, 0);
    else
      machine.pool->parallelFor(tasks, body);
  }

private:
  void bind(uint32_t round) {
    for (size_t i = 0; i < places.size(); ++i)
      operands[i] = places[i].at<void>(round);
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
  ProductStep(Machine &machine, cpu::Product &product, Place a, Place b, Place c, Place bias)
      : machine(machine), product(product), a(a), b(b), c(c), bias(bias) {}

  void run(uint32_t round) override {
    cpu::Product::Operands operands = {a.at<float>(round), b.at<float>(round), c.at<float>(round),
                                       bias.at<float>(round)};
    machine.pool->parallelFor(product.tasks(), [&](int64_t lo, int64_t hi, int worker) {
      product.run(lo, hi, worker, operands, machine.workerScratch(worker));
    });
  }

private:
  Machine &machine;
  cpu::Product &product;
  const Place a, b, c, bias;
};

class ConvolutionStep : public Step {
public:
  ConvolutionStep(Machine &machine, cpu::Convolution &convolution, Place input, Place weight,
                  Place output, Place partials)
      : machine(machine), convolution(convolution), input(input), weight(weight), output(output),
        partials(partials) {}

  void run(uint32_t round) override {
    cpu::Convolution::Operands operands = {input.at<float>(round), weight.at<float>(round),
                                           output.at<float>(round), partials.at<float>(round)};
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
  const Place input, weight, output, partials;
};

class CopyStep : public Step {
public:
  CopyStep(Machine &machine, Place from, Place to, uint64_t size)
      : machine(machine), from(from), to(to), size(size) {}

  void run(uint32_t round) override {
    const auto *source = from.at<std::byte>(round);
    auto *target = to.at<std::byte>(round);
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

class FillStep : public Step {
public:
  FillStep(Machine &machine, Place to, uint64_t size, uint8_t value)
      : machine(machine), to(to), size(size), value(value) {}

  void run(uint32_t round) override {
    auto *target = to.at<std::byte>(round);
    int64_t tasks = (size - 1) / blockBytes + 1;
    machine.pool->parallelFor(tasks, [&](int64_t lo, int64_t hi, int) {
      uint64_t begin = lo * blockBytes, end = std::min<uint64_t>(size, hi * blockBytes);
      std::memset(target + begin, value, end - begin);
    });
  }

private:
  Machine &machine;
  const Place to;
  const uint64_t size;
  const uint8_t value;
};

} // namespace weir

#endif
