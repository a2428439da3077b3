//===- Check.h - What specs may say ---------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Private to support/spec. Specs come from files: no number is believed before it is compared.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_SPEC_CHECK_H
#define WEIR_SUPPORT_SPEC_CHECK_H

#include "support/spec/Footprint.h"
#include <span>
#include <string>

namespace weir::spec {

constexpr int64_t mostDimension = int64_t(1) << 31, mostTasks = int64_t(1) << 31;
constexpr int64_t mostBytes = int64_t(1) << 40;

inline bool isDimension(int64_t size) { return size > 0 && size < mostDimension; }

/// Whether a tensor with these dimensions (strides in elements) fits into the largest memory.
inline bool isAddressable(std::span<const Dim> dims, int64_t elementBytes) {
  int64_t last = 0;
  for (const Dim &dim : dims) {
    int64_t travel;
    if (dim.stride < 0 || dim.stride >= mostBytes ||
        __builtin_mul_overflow(static_cast<int64_t>(dim.count) - 1, dim.stride, &travel) ||
        __builtin_add_overflow(last, travel, &last) || last >= mostBytes / elementBytes)
      return false;
  }
  return true;
}

/// Whether a library multiplies tensors of it, or has them for a result.
inline bool isReal(Element element) { return rowOf(element).kind == ElementKind::real; }

/// Multiplies dimensions, none of them negative, up to the largest memory; -1 beyond.
inline int64_t elements(std::initializer_list<std::span<const int64_t>> factors) {
  int64_t count = 1;
  for (std::span<const int64_t> some : factors)
    for (int64_t factor : some)
      if (__builtin_mul_overflow(count, factor, &count) || count >= mostBytes)
        return -1;
  return count;
}

/// How a description ends where the elements are other than f32: ", bf16 to f32", or ", f8e5m2 x
/// f8e4m3 to bf16" of factors that differ.
inline std::string ofElements(Element left, Element right, Element result) {
  if (left == Element::f32 && right == Element::f32 && result == Element::f32)
    return "";
  std::string factors = nameOf(left);
  if (right != left)
    factors += std::string(" x ") + nameOf(right);
  return ", " + factors + " to " + nameOf(result);
}

} // namespace weir::spec

#endif
