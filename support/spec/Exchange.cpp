//===- Exchange.cpp - What the members of a collective give each other ----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/spec/Exchange.h"
#include <numeric>

namespace weir::spec {

uint64_t Exchange::given(size_t member, size_t to) const {
  if (kind == CollectiveKind::shift)
    return to == (member + 1) % sizes.size() ? own : 0;
  return givesEachItsOwn() ? sizes[to] : own;
}

uint64_t Exchange::got(size_t member, size_t from) const {
  if (kind == CollectiveKind::shift)
    return member == (from + 1) % sizes.size() ? own : 0;
  return givesEachItsOwn() ? own : sizes[from];
}

uint64_t Exchange::all() const { return std::accumulate(sizes.begin(), sizes.end(), uint64_t(0)); }

uint64_t Exchange::read() const { return kind == CollectiveKind::all_to_all ? all() : own; }

uint64_t Exchange::written() const {
  if (kind == CollectiveKind::shift)
    return own;
  return givesEachItsOwn() ? own * sizes.size() : all();
}

uint64_t Exchange::sent() const {
  if (kind == CollectiveKind::shift)
    return sizes.size() > 1 ? own : 0;
  return givesEachItsOwn() ? all() - own : own * (sizes.size() - 1);
}

uint64_t Exchange::received() const {
  return kind == CollectiveKind::shift ? sent() : written() - own;
}

} // namespace weir::spec
