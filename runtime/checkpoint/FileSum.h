//===- FileSum.h - A hash that several processes add up -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of a file that several processes write, each knows bytes of its own, in pieces of any size. So
// the file's hash is linear: the sum of w(i) * key(i) modulo the prime 2^61 - 1, over its 32-bit
// little-endian words w(i), the last padded with zeros. The bytes of a word that are here add what
// they are worth in it, and the sums of all processes add up to the file's. That is the universal
// hash of Carter and Wegman ("Universal classes of hash functions", JCSS 18, 1979) over the words
// of a file: with random keys two files have the same one with a probability of about 2^-61, and
// never where they differ in a single word.
//
// The keys are the same for everybody, so it finds faults and no forgery: key(i) is the product of
// number i % 1024 of SplitMix64 (Steele et al., "Fast splittable pseudorandom number generators",
// OOPSLA 2014) and number i / 1024 of another such sequence, since a table of the first fits into
// the nearest cache. As a polynomial of degree 2 it doubles the probability at most.
//
// Zeros add nothing: a file's size has to be compared too.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CHECKPOINT_FILESUM_H
#define WEIR_RUNTIME_CHECKPOINT_FILESUM_H

#include <cstddef>
#include <cstdint>
#include <span>

namespace weir {

class FileSum {
public:
  /// Bytes of the file from number `from` on; each of the file's is added once.
  void add(uint64_t from, std::span<const std::byte> bytes);
  /// What value() is of other bytes of the file.
  void add(uint64_t value);
  uint64_t value() const { return sum; }

private:
  uint64_t sum = 0; // below the prime
};

} // namespace weir

#endif
