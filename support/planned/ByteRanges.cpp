//===- ByteRanges.cpp - The bytes of one access ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/planned/ByteRanges.h"
#include <algorithm>

namespace weir::planned {

ByteRanges byteRangesOf(uint64_t bytes, const std::vector<Dim> &dims) {
  ByteRanges ranges{0, bytes, {}};
  std::vector<Dim> rising;
  for (Dim dim : dims) {
    if (dim.count <= 1 || dim.stride == 0)
      continue;
    if (dim.stride < 0) {
      ranges.begin += (dim.count - 1) * uint64_t(dim.stride);
      dim.stride = int64_t(-uint64_t(dim.stride));
    }
    rising.push_back(dim);
  }
  std::sort(rising.begin(), rising.end(),
            [](const Dim &a, const Dim &b) { return uint64_t(a.stride) < uint64_t(b.stride); });
  for (const Dim &dim : rising) {
    if (ranges.dims.empty() && uint64_t(dim.stride) <= ranges.bytes)
      ranges.bytes += (dim.count - 1) * uint64_t(dim.stride);
    else
      ranges.dims.push_back(dim);
  }
  return ranges;
}

uint64_t ByteRanges::pieces(uint64_t most) const {
  uint64_t count = 1;
  for (const Dim &dim : dims)
    if (__builtin_mul_overflow(count, dim.count, &count) || count > most)
      return most;
  return count;
}

uint64_t ByteRanges::span() const {
  uint64_t span = bytes;
  for (const Dim &dim : dims)
    span += (dim.count - 1) * uint64_t(dim.stride);
  return span;
}

} // namespace weir::planned
