//===- ReadIdx.cpp - MNIST's idx files ------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two zeros, a type byte, the number of dimensions, each dimension as a big-endian u32, then the
// elements, big-endian. http://yann.lecun.com/exdb/mnist/
//
//===----------------------------------------------------------------------===//

#include "runtime/data/Readers.h"
#include "support/Error.h"
#include "support/Text.h"
#include <algorithm>

namespace weir {

void readIdx(Array &array, std::span<const std::byte> bytes) {
  auto fail = [&](const auto &...parts) {
    return Failure(Exit::data,
                   concat(array.path, ": as an idx file, ", parts..., "; ", supportedFormats));
  };
  auto at = [&](size_t i) { return std::to_integer<uint32_t>(bytes[i]); };
  if (bytes.size() < 4)
    throw fail("has ", bytes.size(), " bytes where the header alone takes at least 8");
  if (at(0) != 0 || at(1) != 0)
    throw fail("does not begin with two zero bytes");
  constexpr std::pair<uint32_t, Element> codes[] = {{0x08, Element::u8},  {0x09, Element::i8},
                                                    {0x0B, Element::i16}, {0x0C, Element::i32},
                                                    {0x0D, Element::f32}, {0x0E, Element::f64}};
  auto code = std::ranges::find(codes, at(2), &std::pair<uint32_t, Element>::first);
  if (code == std::end(codes))
    throw fail("has the unknown element type ", at(2), " (expected 8, 9, 11, 12, 13 or 14)");
  array.element = code->second;
  size_t rank = at(3), header = 4 + 4 * rank;
  if (rank == 0 || rank > 8)
    throw fail("has ", rank, " dimensions (expected 1 to 8)");
  if (bytes.size() < header)
    throw fail("ends within its header: ", header, " bytes expected, ", bytes.size(), " found");
  for (size_t d = 0; d < rank; ++d) {
    size_t from = 4 + 4 * d;
    array.shape.push_back(at(from) << 24 | at(from + 1) << 16 | at(from + 2) << 8 | at(from + 3));
  }
  std::optional<int64_t> count = elementCount(array.shape, sizeOf(array.element));
  size_t found = bytes.size() - header;
  if (!count || static_cast<size_t>(*count) * sizeOf(array.element) != found)
    throw Failure(Exit::data,
                  concat(array.path, ": the header says ", shapeText(array.shape), " of ",
                         nameOf(array.element), ", ",
                         count ? std::to_string(*count * sizeOf(array.element)) : "too many",
                         " bytes, but ", found,
                         " follow it; the file is truncated or damaged, get it again"));
  array.format = "idx";
  array.swapped = sizeOf(array.element) > 1;
  array.data = bytes.data() + header;
}

} // namespace weir
