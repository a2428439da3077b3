//===- LossScaleTest.cpp - What a loss scale is called --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/precision/LossScale.h"
#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(LossScale, Named) {
  struct Case {
    const char *name;
    int32_t start;
    bool dynamic;
    const char *again;
  };
  const Case cases[] = {
      {"none", 0, false, "none"},
      {"1", 0, false, "none"},
      {"2", 2, false, "2"},
      {"16777216", 16777216, false, "16777216"},
      {"dynamic", 65536, true, "dynamic"},
      {"dynamic:65536", 65536, true, "dynamic"},
      {"dynamic:1", 1, true, "dynamic:1"},
      {"dynamic:16777216", 16777216, true, "dynamic:16777216"},
  };
  for (const Case &one : cases) {
    std::optional<LossScale> scale = lossScaleNamed(one.name);
    ASSERT_TRUE(scale) << one.name;
    EXPECT_EQ(scale->start, one.start) << one.name;
    EXPECT_EQ(scale->dynamic, one.dynamic) << one.name;
    EXPECT_EQ(scale->any(), one.start != 0) << one.name;
    EXPECT_EQ(nameOf(*scale), one.again);
  }
}

TEST(LossScale, NotNamed) {
  for (const char *name : {"",
                           "0",
                           "3",
                           "1000",
                           "-2",
                           "+2",
                           " 2",
                           "2 ",
                           "2.0",
                           "0x10",
                           "08",
                           "1e3",
                           "33554432",
                           "4294967296",
                           "99999999999999999999",
                           "Dynamic",
                           "dynamic:",
                           "dynamic:0",
                           "dynamic:3",
                           "dynamic:none",
                           "dynamic:dynamic",
                           "dynamics",
                           "dynamic1024",
                           "nan",
                           "inf"})
    EXPECT_FALSE(lossScaleNamed(name)) << name;
}

TEST(LossScale, ReachesFromOneToTheMost) {
  EXPECT_EQ(LossScale::most >> LossScale::mostHalvings, 1);
}

} // namespace
} // namespace weir
