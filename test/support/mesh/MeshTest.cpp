//===- MeshTest.cpp - Axes of a mesh and nodes ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/mesh/Mesh.h"
#include <gtest/gtest.h>

using namespace weir;

namespace {

Mesh mesh(const char *text) { return std::get<Mesh>(Mesh::parse(text)); }

std::string wrong(const char *text) { return std::get<std::string>(Mesh::parse(text)); }

TEST(Mesh, HasAnAxisBetweenNodes) {
  const Mesh split = mesh("dp=2x4,tp=2");
  EXPECT_EQ(split.text(), "dp=2x4,tp=2");
  EXPECT_EQ(split.ranks(), 16);
  EXPECT_EQ(split, mesh("dp.nodes=2,dp=4,tp=2"));
  EXPECT_EQ(split.withoutNodes(), mesh("dp=8,tp=2"));
  EXPECT_EQ(split.along(9, unsigned(split.find(nodesAxis))), (std::vector<int64_t>{1, 9}));
  EXPECT_EQ(split.along(9, unsigned(split.find(dataAxis))), (std::vector<int64_t>{9, 11, 13, 15}));
}

TEST(Mesh, RefusesWhatIsNoNode) {
  for (const char *text : {"dp=2x", "dp=x4", "dp=2x4x2", "dp=0x4", "dp=2x3:1"})
    EXPECT_TRUE(wrong(text).find("for 2 nodes of 4 ranks, write 2x4") != std::string::npos) << text;
  EXPECT_TRUE(wrong("tp=2x4").starts_with("the axis tp cannot be split into nodes"));
  EXPECT_TRUE(
      wrong("dp.nodes=2,tp=4").starts_with("the axis dp.nodes does not stand right before dp"));
  EXPECT_TRUE(wrong("tp=2,dp.nodes=2").starts_with("the axis dp.nodes does not stand right"));
  EXPECT_TRUE(wrong("dp=4,dp=2x2").starts_with("the axis dp is given twice"));
}

TEST(Mesh, IsSplitIntoNodes) {
  EXPECT_EQ(mesh("dp=8").onNodes(4).text(), "dp=2x4");
  EXPECT_EQ(mesh("dp=8,tp=2").onNodes(8).text(), "dp=2x4,tp=2");
  EXPECT_EQ(mesh("pp=2,dp=8").onNodes(4).text(), "pp=2,dp=2x4");
  // One node has all along dp, or one rank of it, or other blocks of ranks.
  for (const char *text : {"dp=4", "dp=8,tp=4", "dp=6", "dp=3:1", "tp=8", "dp=2x4"})
    EXPECT_EQ(mesh(text).onNodes(4), mesh(text)) << text;
  EXPECT_EQ(mesh("dp=8").onNodes(0), mesh("dp=8"));
}

} // namespace
