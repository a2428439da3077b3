//===- Sampling.cpp - Which rows a step reads -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/data/Sampling.h"
#include "runtime/data/Philox.h"
#include <algorithm>
#include <bit>
#include <cassert>

namespace weir {

Permutation::Permutation(uint64_t seed, uint64_t epoch, uint64_t n)
    : seed(seed), epoch(epoch), n(n), halfBits((std::bit_width(n - 1) + 1) / 2) {
  assert(n > 0);
}

uint64_t Permutation::encrypt(uint64_t value) const {
  // Six rounds: four suffice for a pseudorandom permutation (Luby and Rackoff, 1988), small domains
  // are helped by more.
  constexpr int rounds = 6;
  uint64_t mask = (uint64_t{1} << halfBits) - 1;
  uint64_t left = value >> halfBits, right = value & mask;
  for (int round = 0; round < rounds; ++round) {
    uint64_t next =
        left ^ (randomBits(seed, Draw::permutation, epoch * rounds + round, right) & mask);
    left = right;
    right = next;
  }
  return left << halfBits | right;
}

uint64_t Permutation::operator()(uint64_t index) const {
  assert(index < n);
  if (n == 1)
    return 0;
  do
    index = encrypt(index);
  while (index >= n);
  return index;
}

int64_t consecutiveWindows(int64_t tokens, int64_t window) {
  if (tokens < window)
    return 0;
  return window == 1 ? tokens : (tokens - 1) / (window - 1);
}

int64_t consecutiveStart(int64_t index, int64_t window) {
  return index * std::max<int64_t>(window - 1, 1);
}

Sampler::Sampler(uint64_t seed, bool shuffle, int64_t units, int64_t window, int64_t stepRows)
    : seed(seed), shuffle(shuffle), units(units), window(window), stepRows(stepRows) {
  int64_t rows = window ? consecutiveWindows(units, window) : units;
  // A short stream still has a step's worth of overlapping windows.
  epochSteps = window ? std::max<int64_t>(rows / stepRows, 1) : rows / stepRows;
  assert(epochSteps > 0);
}

int64_t Sampler::at(int64_t step, int64_t row) const {
  int64_t epoch = step / epochSteps, index = step % epochSteps * stepRows + row;
  if (window) {
    if (shuffle)
      return scaled(randomBits(seed, Draw::window, step, row), units - window + 1);
    return consecutiveStart(index % consecutiveWindows(units, window), window);
  }
  return shuffle ? Permutation(seed, epoch, units)(index) : index;
}

} // namespace weir
