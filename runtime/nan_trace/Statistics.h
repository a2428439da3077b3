//===- Statistics.h - What the numbers of a tensor are like ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_NAN_TRACE_STATISTICS_H
#define WEIR_RUNTIME_NAN_TRACE_STATISTICS_H

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weir {

struct Statistics {
  uint64_t count = 0, nans = 0, above = 0, below = 0; ///< elements; NaN, inf and -inf among them
  std::optional<uint64_t> first;                      ///< the first that is not finite, by number
  // Of the finite ones, where there are any:
  double least = std::numeric_limits<double>::infinity(), most = -least;
  double smallest = least, largest = 0; ///< magnitudes
  double sum = 0;

  void add(std::span<const double> numbers);

  uint64_t infinities() const { return above + below; }
  uint64_t finite() const { return count - nans - infinities(); }
  bool isFinite() const { return finite() == count; }

  /// "2 nan and 1 inf of 12 elements, the first at [1, 3]; the others lie from -1.5 to 2, their
  /// magnitudes from 0.1 to 2, their mean is 0.3"; "12 elements, all finite, from .." where they
  /// are. `shape` gives elements their index, where it has as many.
  std::string text(const std::vector<int64_t> &shape) const;
};

/// "[1, 3]", or "17" where the shape is of another number of elements than `count`; "" of a tensor
/// without dimensions.
std::string placeText(uint64_t element, uint64_t count, const std::vector<int64_t> &shape);

} // namespace weir

#endif
