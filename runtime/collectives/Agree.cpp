//===- Agree.cpp - What processes agree on --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/Agree.h"
#include "runtime/base/Error.h"
#include "runtime/base/Text.h"
#include <algorithm>
#include <numeric>

namespace weir::collectives {
namespace {

std::vector<int64_t> everybody(const Group &group) {
  std::vector<int64_t> ranks(static_cast<size_t>(group.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

} // namespace

std::vector<int64_t> fromAll(Group &group, const std::string &what, int64_t own) {
  std::vector<int64_t> got(static_cast<size_t>(group.size()));
  std::vector<std::span<const std::byte>> to(got.size(), std::as_bytes(std::span(&own, 1)));
  std::vector<std::span<std::byte>> from;
  for (int64_t &one : got)
    from.push_back(std::as_writable_bytes(std::span(&one, 1)));
  group.exchange(everybody(group), what, to, from);
  return got;
}

int64_t mostOf(Group &group, const std::string &what, int64_t own) {
  return std::ranges::max(fromAll(group, what, own));
}

void fromFirst(Group &group, const std::string &what, std::vector<std::byte> &bytes) {
  size_t size = static_cast<size_t>(fromAll(group, what, int64_t(bytes.size()))[0]);
  bool isFirst = group.rank() == 0;
  if (!isFirst)
    bytes.assign(size, std::byte{});
  std::vector<std::span<const std::byte>> to(size_t(group.size()));
  std::vector<std::span<std::byte>> from(size_t(group.size()));
  for (size_t i = 1; isFirst && i < to.size(); ++i)
    to[i] = bytes;
  if (!isFirst)
    from[0] = bytes;
  group.exchange(everybody(group), what, to, from);
}

void requireSame(Group &group, const std::string &what, uint64_t own) {
  std::vector<int64_t> all = fromAll(group, what, int64_t(own));
  for (size_t rank = 1; rank < all.size(); ++rank)
    if (all[rank] != all[0])
      throw Failure(Exit::usage, concat("rank ", rank, " has another ", what,
                                        " than rank 0: all ranks are given the same"));
}

} // namespace weir::collectives
