//===- Exchange.h - What the members of a collective give each other ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_SPEC_EXCHANGE_H
#define WEIR_SUPPORT_SPEC_EXCHANGE_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weir::spec {

/// In the schema's order.
enum class CollectiveKind : uint8_t {
  all_gather, ///< what each has, for all
  all_to_all, ///< what each has for each
  shift       ///< what the member before has; the first one's, what the last has
};

/// In bytes, or in elements.
struct Exchange {
  CollectiveKind kind;
  std::vector<uint64_t> sizes; ///< of each member, of what it has or is given
  uint64_t own;                ///< of these, this one's

  /// What a member gives another, or itself, and gets of it.
  uint64_t given(size_t member, size_t to) const;
  uint64_t got(size_t member, size_t from) const;
  /// Whether what it gives one lies behind what it gives the one before; all get the same else.
  bool givesEachItsOwn() const { return kind != CollectiveKind::all_gather; }

  /// All that a member reads, and all that it gets.
  uint64_t read() const;
  uint64_t written() const;
  /// What it gives others, and gets of them.
  uint64_t sent() const;
  uint64_t received() const;

private:
  uint64_t all() const;
};

} // namespace weir::spec

#endif
