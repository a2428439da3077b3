//===- RandomOps.cpp - Random numbers, reference semantics ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Philox4x32-10 as in Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011. The
// integers are the back ends' exactly; a normal number is computed from them in f64.
//
//===----------------------------------------------------------------------===//

#include "ir/reference/Models.h"
#include "ir/weir/random/Random.h"
#include <array>
#include <cmath>
#include <numbers>

namespace weir::reference {
namespace {

using Counter = std::array<uint32_t, 4>;
using Key = std::array<uint32_t, 2>;

Counter philox(Counter counter, Key key) {
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t(0xD2511F53) * counter[0], b = uint64_t(0xCD9E8D57) * counter[2];
    counter = {uint32_t(b >> 32) ^ counter[1] ^ key[0], uint32_t(b),
               uint32_t(a >> 32) ^ counter[3] ^ key[1], uint32_t(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

uint32_t scalar(const Tensor &tensor) {
  return static_cast<uint32_t>(static_cast<int64_t>(tensor.values[0]));
}

/// The upper 24 bits, exact in f32: in [0, 1).
double uniform(uint32_t bits) { return (bits >> 8) * 0x1p-24; }

/// The same moved up by one: in (0, 1], so that its logarithm is finite.
double positive(uint32_t bits) { return ((bits >> 8) + 1) * 0x1p-24; }

Tensors random(RandomOp op, Inputs in) {
  Tensor result(shapeOf(op.getResult()));
  uint64_t key = op.getKey();
  uint64_t first = uint64_t(scalar(in[2])) * op.getElements().value_or(result.values.size());
  for (size_t i = 0; i < result.values.size(); ++i) {
    auto place = [&](size_t number) {
      return uint64_t(uint32_t(int64_t(in[3 + number].values[i])));
    };
    uint64_t element = first + (op.getPlaces().empty() ? i : place(0));
    if (op.getPlaces().size() > 1)
      element += place(1) * *op.getBlock();
    Counter words =
        philox({uint32_t(element), uint32_t(element >> 32), uint32_t(key), uint32_t(key >> 32)},
               {scalar(in[0]), scalar(in[1])});
    if (op.getDistribution() == Distribution::uniform) {
      result.values[i] = uniform(words[op.getWord().value_or(0)]);
    } else {
      // Box and Muller, "A note on the generation of random normal deviates", 1958.
      double radius = std::sqrt(-2 * std::log(positive(words[0])));
      result.values[i] = radius * std::cos(2 * std::numbers::pi * uniform(words[1]));
    }
  }
  return {result};
}

} // namespace

void attachRandom(mlir::MLIRContext &context) { attach<RandomOp, random>(context); }

} // namespace weir::reference
