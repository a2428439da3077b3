//===- Sampling.h - Which rows a step reads -------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a step reads is a pure function of (seed, step, row), so the position in the data is the
// step number and a resumed run reads what the uninterrupted one would have read.
//
// Arrays, shuffled: in each epoch a permutation of all rows, keyed by (seed, epoch). An epoch is
// rows / step rows steps, rounded down: the rows left over at its end are not read in that epoch,
// and the next permutation leaves out others. Streams, shuffled: each row is the window at a start
// drawn uniformly from all starts. Not shuffled: rows in file order, the epoch's left-over dropped
// likewise; streams by consecutive windows, each beginning with the token that the one before ended
// with, so that each token is predicted once.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_DATA_SAMPLING_H
#define WEIR_RUNTIME_DATA_SAMPLING_H

#include <cstdint>

namespace weir {

/// A bijection of [0, n): a Feistel network over the least even number of bits that holds n, walked
/// until it lands in [0, n). Black and Rogaway: "Ciphers with arbitrary finite domains", CT-RSA
/// 2002.
class Permutation {
public:
  Permutation(uint64_t seed, uint64_t epoch, uint64_t n);
  uint64_t operator()(uint64_t index) const;

private:
  uint64_t encrypt(uint64_t value) const;
  uint64_t seed, epoch, n;
  int halfBits;
};

/// How many windows cover `tokens` when each begins with the last token of the one before. What is
/// left after the last whole window is not covered.
int64_t consecutiveWindows(int64_t tokens, int64_t window);

/// Where the `index`-th of them begins.
int64_t consecutiveStart(int64_t index, int64_t window);

class Sampler {
public:
  /// `units`: rows of an array, or tokens of a stream, of which there is at least what one step
  /// takes. `window` is 0 for arrays.
  Sampler(uint64_t seed, bool shuffle, int64_t units, int64_t window, int64_t stepRows);

  /// The array's row, or the window's first token, that row `row` of step `step` (counted from 0)
  /// reads.
  int64_t at(int64_t step, int64_t row) const;

  /// Steps that read all rows, or consecutive windows, once.
  int64_t stepsPerEpoch() const { return epochSteps; }

private:
  uint64_t seed;
  bool shuffle;
  int64_t units, window, stepRows, epochSteps;
};

} // namespace weir

#endif
