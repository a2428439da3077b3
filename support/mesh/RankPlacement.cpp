//===- RankPlacement.cpp - Which process has which ranks ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/mesh/RankPlacement.h"
#include "support/Text.h"

namespace weir {

std::string wrongHosts(const Mesh &hosts, const Mesh &ranks) {
  for (const Mesh::Axis &axis : hosts.axes) {
    int at = ranks.find(axis.name);
    if (at < 0)
      return concat(ranks.text(), " has no axis ", axis.name);
    if (ranks.axes[size_t(at)].size % axis.size != 0)
      return concat(axis.name, "=", axis.size, " does not divide ", ranks.text());
  }
  return "";
}

int64_t hostOf(const Mesh &hosts, const Mesh &ranks, int64_t rank) {
  int64_t process = 0;
  for (const Mesh::Axis &axis : hosts.axes) {
    unsigned at = unsigned(ranks.find(axis.name));
    int64_t block = ranks.axes[at].size / axis.size;
    process = process * axis.size + ranks.coordinate(rank, at) / block;
  }
  return process;
}

std::vector<int64_t> hostedBy(const Mesh &hosts, const Mesh &ranks, int64_t process) {
  std::vector<int64_t> all;
  for (int64_t rank = 0; rank < ranks.ranks(); ++rank)
    if (hostOf(hosts, ranks, rank) == process)
      all.push_back(rank);
  return all;
}

} // namespace weir
