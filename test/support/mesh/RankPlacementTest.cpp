//===- RankPlacementTest.cpp - Which process has which ranks --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/mesh/RankPlacement.h"
#include <gtest/gtest.h>
#include <numeric>

using namespace weir;

static Mesh mesh(const char *text) { return std::get<Mesh>(Mesh::parse(text)); }

using Ranks = std::vector<int64_t>;

TEST(Hosts, HaveBlocksOfNeighbours) {
  const Mesh ranks = mesh("dp=4,tp=2");
  EXPECT_EQ(hostedBy(mesh("dp=2"), ranks, 1), (Ranks{4, 5, 6, 7}));
  EXPECT_EQ(hostedBy(mesh("tp=2"), ranks, 1), (Ranks{1, 3, 5, 7}));
  EXPECT_EQ(hostedBy(mesh("dp=2,tp=2"), ranks, 1), (Ranks{1, 3}));
  // Processes are numbered through their own axes.
  EXPECT_EQ(hostedBy(mesh("tp=2,dp=2"), ranks, 1), (Ranks{4, 6}));
  Ranks all(8);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(hostedBy(mesh(""), ranks, 0), all);
  EXPECT_EQ(hostedBy(mesh("dp=1"), ranks, 0), all);
  for (int64_t rank : all)
    EXPECT_EQ(hostOf(ranks, ranks, rank), rank);
}

TEST(Hosts, DivideEveryAxis) {
  const Mesh ranks = mesh("dp=8,tp=8");
  EXPECT_EQ(wrongHosts(mesh("tp=2,dp=8"), ranks), "");
  EXPECT_EQ(wrongHosts(mesh("dp=3"), ranks), "dp=3 does not divide dp=8,tp=8");
  EXPECT_EQ(wrongHosts(mesh("dp=16"), ranks), "dp=16 does not divide dp=8,tp=8");
  EXPECT_EQ(wrongHosts(mesh("pp=2"), ranks), "dp=8,tp=8 has no axis pp");
}
