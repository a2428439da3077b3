//===- Array.cpp - Numbers read from a file -------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/data/Array.h"
#include <algorithm>
#include <cassert>
#include <cstring>
#include <type_traits>

namespace weir {
namespace {

/// Files give no alignment, and big-endian ones another order.
template <typename T> T load(const std::byte *from, bool swapped) {
  std::byte raw[sizeof(T)];
  std::memcpy(raw, from, sizeof(T));
  if (swapped)
    std::reverse(raw, raw + sizeof(T));
  T value;
  std::memcpy(&value, raw, sizeof(T));
  return value;
}

/// The highest value an input of `to` takes.
int64_t highest(Element to, int64_t limit) {
  return limit > 0 ? std::min(mostOf(to), limit - 1) : mostOf(to);
}

template <typename From, typename To, bool write>
int64_t each(const Array &array, int64_t first, int64_t count, Element to, int64_t limit,
             std::byte *out) {
  const std::byte *from = array.data + first * sizeof(From);
  if constexpr (!std::is_integral_v<From>) {
    for (int64_t i = 0; write && i < count; ++i) {
      auto value =
          static_cast<To>(static_cast<double>(load<From>(from + i * sizeof(From), array.swapped)));
      std::memcpy(out + i * sizeof(To), &value, sizeof(To));
    }
    return -1;
  } else {
    int64_t most = highest(to, limit);
    int64_t least = limit > 0 ? 0 : leastOf(to);
    for (int64_t i = 0; i < count; ++i) {
      int64_t value = load<From>(from + i * sizeof(From), array.swapped);
      if (value < least || value > most)
        return first + i;
      if constexpr (write) {
        To narrow = static_cast<To>(value);
        std::memcpy(out + i * sizeof(To), &narrow, sizeof(To));
      }
    }
    return -1;
  }
}

template <bool write>
int64_t dispatch(const Array &array, int64_t first, int64_t count, Element to, int64_t limit,
                 std::byte *out) {
  assert(converts(array.element, to) && first >= 0 && first + count <= array.count());
  return visitNumber(array.element, [&](auto from) {
    using From = decltype(from);
    if constexpr (!std::is_integral_v<From>)
      return each<From, float, write>(array, first, count, to, limit, out);
    else if (to == Element::i32)
      return each<From, int32_t, write>(array, first, count, to, limit, out);
    else
      return each<From, uint8_t, write>(array, first, count, to, limit, out);
  });
}

} // namespace

int64_t Array::count() const {
  int64_t total = 1;
  for (int64_t size : shape)
    total *= size;
  return total;
}

std::optional<int64_t> elementCount(const std::vector<int64_t> &shape, size_t elementSize) {
  int64_t total = 1, bytes = 0;
  for (int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(total, size, &total))
      return std::nullopt;
  if (__builtin_mul_overflow(total, static_cast<int64_t>(elementSize), &bytes))
    return std::nullopt;
  return total;
}

int64_t integerAt(const Array &array, int64_t index) {
  return visitNumber(array.element, [&](auto type) {
    if constexpr (std::is_integral_v<decltype(type)>)
      return static_cast<int64_t>(
          load<decltype(type)>(array.data + index * sizeof(type), array.swapped));
    assert(false && "an array of integers");
    return int64_t(0);
  });
}

bool converts(Element from, Element to) {
  if (to == Element::i32)
    return isInteger(from);
  if (to == Element::f32)
    return rowOf(from).kind == ElementKind::real;
  return from == to && (to == Element::u8 || to == Element::b8);
}

int64_t convert(const Array &array, int64_t first, int64_t count, Element to, int64_t limit,
                std::byte *out) {
  bool anything = limit == 0 && array.element == to && !array.swapped && to != Element::b8;
  if (anything) {
    size_t size = sizeOf(to);
    std::memcpy(out, array.data + first * size, count * size);
    return -1;
  }
  return dispatch<true>(array, first, count, to, limit, out);
}

int64_t findOutside(const Array &array, int64_t first, int64_t count, Element to, int64_t limit) {
  return dispatch<false>(array, first, count, to, limit, nullptr);
}

} // namespace weir
