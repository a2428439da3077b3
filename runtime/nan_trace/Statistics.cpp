//===- Statistics.cpp - What the numbers of a tensor are like -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/nan_trace/Statistics.h"
#include "support/Text.h"
#include <cmath>

namespace weir {

void Statistics::add(std::span<const double> numbers) {
  for (double number : numbers) {
    if (std::isfinite(number)) {
      double magnitude = std::fabs(number);
      least = std::min(least, number);
      most = std::max(most, number);
      smallest = std::min(smallest, magnitude);
      largest = std::max(largest, magnitude);
      sum += number;
    } else {
      ++(std::isnan(number) ? nans : number > 0 ? above : below);
      if (!first)
        first = count;
    }
    ++count;
  }
}

std::string placeText(uint64_t element, uint64_t count, const std::vector<int64_t> &shape) {
  uint64_t elements = 1;
  for (int64_t size : shape)
    elements *= static_cast<uint64_t>(size);
  if (elements != count)
    return std::to_string(element);
  std::vector<int64_t> index(shape.size());
  for (size_t d = shape.size(); d-- > 0; element /= static_cast<uint64_t>(shape[d]))
    index[d] = static_cast<int64_t>(element % static_cast<uint64_t>(shape[d]));
  return index.empty() ? "" : shapeText(index);
}

std::string Statistics::text(const std::vector<int64_t> &shape) const {
  std::string elements = concat(count, count == 1 ? " element" : " elements");
  auto range = [&] {
    double mean = sum / static_cast<double>(finite());
    return least == most ? concat(least)
                         : concat("from ", least, " to ", most, ", magnitudes from ", smallest,
                                  " to ", largest, ", mean ", mean);
  };
  if (isFinite())
    return count == 0   ? elements
           : count == 1 ? concat(elements, ", ", range())
                        : concat(elements, ", all finite, ", range());
  std::vector<std::string> bad;
  for (auto [number, name] : {std::pair(nans, "nan"), {above, "inf"}, {below, "-inf"}})
    if (number > 0)
      bad.push_back(concat(number, " ", name));
  std::string place = placeText(*first, count, shape);
  std::string text = concat(join(bad), " of ", elements,
                            count > 1 && !place.empty() ? ", the first at " + place : "");
  return finite() == 0 ? text : concat(text, "; the others ", range());
}

} // namespace weir
