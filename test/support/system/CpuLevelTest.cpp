//===- CpuLevelTest.cpp - Levels of processors ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/system/CpuLevel.h"
#include "support/Error.h"
#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>

using namespace weir;

namespace {

TEST(CpuLevel, NamesCompareAsLevelsDo) {
  EXPECT_TRUE(std::is_sorted(std::begin(cpuLevels), std::end(cpuLevels)));
  for (std::string_view below : {"x86-64", "x86-64-v2"})
    EXPECT_LT(below, cpuLevels[0]);
}

TEST(CpuLevel, IsLoweredByTheVariable) {
  EXPECT_EQ(lowerCpuLevel("x86-64-v4+bf16+amx", "x86-64-v3"), "x86-64-v3");
  EXPECT_EQ(lowerCpuLevel("x86-64-v4+bf16+amx", "x86-64-v4+bf16"), "x86-64-v4+bf16");
}

TEST(CpuLevel, IsNeverRaised) {
  EXPECT_EQ(lowerCpuLevel("x86-64-v3", "x86-64-v4"), "x86-64-v3");
  EXPECT_EQ(lowerCpuLevel("x86-64-v2", "x86-64-v3"), "x86-64-v2");
}

TEST(CpuLevel, IsTheProcessorsWhereTheVariableIsUnset) {
  EXPECT_EQ(lowerCpuLevel("x86-64-v4", nullptr), "x86-64-v4");
  EXPECT_EQ(lowerCpuLevel("x86-64-v4", ""), "x86-64-v4");
}

TEST(CpuLevel, RefusesOtherValues) {
  for (const char *wrong : {"x86-64-v5", "x86-64-v2", "avx2", "cpu:x86-64-v3", " x86-64-v3"})
    try {
      lowerCpuLevel("x86-64-v4", wrong);
      ADD_FAILURE() << wrong;
    } catch (const Failure &failure) {
      EXPECT_EQ(failure.exit, Exit::usage);
      EXPECT_EQ(failure.what(), "the environment variable WEIR_MAX_CPU is '" + std::string(wrong) +
                                    "': expected x86-64-v3, x86-64-v4, x86-64-v4+bf16, "
                                    "x86-64-v4+bf16+amx");
    }
}

/// As .ci/run sets it.
TEST(CpuLevel, OfThisProcessIsAtMostTheVariables) {
  const char *bound = std::getenv("WEIR_MAX_CPU");
  if (!bound || !*bound)
    GTEST_SKIP() << "WEIR_MAX_CPU is not set";
  EXPECT_LE(cpuLevel(), bound);
}

} // namespace
