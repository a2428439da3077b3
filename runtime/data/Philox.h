//===- Philox.h - Counter-based random numbers ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Philox4x32-10: four random words that are a pure function of a key and a counter, so that what is
// drawn for a step does not depend on what was drawn before. Salmon, Moraes, Dror, Shaw: "Parallel
// random numbers: as easy as 1, 2, 3", SC 2011.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_DATA_PHILOX_H
#define WEIR_RUNTIME_DATA_PHILOX_H

#include <array>
#include <cstdint>

namespace weir {

inline std::array<uint32_t, 4> philox(uint64_t seed, std::array<uint32_t, 4> counter) {
  uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t{0xD2511F53} * counter[0], b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key0, static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key1, static_cast<uint32_t>(a)};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return counter;
}

/// What a draw is for. It goes into the counter, so that different purposes never share numbers.
enum class Draw : uint32_t { window = 1, permutation = 2, sample = 3 };

/// 64 random bits of (seed, purpose, major, minor); major and minor below 2^48.
inline uint64_t randomBits(uint64_t seed, Draw purpose, uint64_t major, uint64_t minor) {
  auto words = philox(seed, {static_cast<uint32_t>(minor), static_cast<uint32_t>(major),
                             static_cast<uint32_t>(minor >> 32 | major >> 32 << 16),
                             static_cast<uint32_t>(purpose)});
  return uint64_t{words[1]} << 32 | words[0];
}

/// `bits` scaled to [0, n), without the division's bias but for 2^-64 n. Lemire: "Fast random
/// integer generation in an interval", 2019.
inline uint64_t scaled(uint64_t bits, uint64_t n) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(bits) * n >> 64);
}

} // namespace weir

#endif
