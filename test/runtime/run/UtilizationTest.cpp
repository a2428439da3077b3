//===- UtilizationTest.cpp - What a peak is written as --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/Utilization.h"
#include <gtest/gtest.h>
#include <stdexcept>

namespace weir {
namespace {

TEST(Utilization, PeaksAreReadWithTheirUnits) {
  EXPECT_EQ(readPeak("1.5T"), 1.5e12);
  EXPECT_EQ(readPeak("900G"), 9e11);
  EXPECT_EQ(readPeak("2e12"), 2e12);
  EXPECT_EQ(readPeak("3P"), 3e15);
  EXPECT_EQ(readPeak("5M"), 5e6);
  EXPECT_EQ(readPeak("7K"), 7e3);
  EXPECT_EQ(readPeak("1"), 1);
  EXPECT_EQ(readPeak("measure"), std::nullopt);
}

TEST(Utilization, AnythingElseIsRefused) {
  for (const char *text :
       {"", "T", "0", "0T", "-1T", "+1T", "1.5TT", "1.5 T", " 1T", "1.5X", "1.5t", "nan", "inf",
        "infT", "1e300", "1e308P", "0x10", "1,5T", "measured"})
    EXPECT_THROW(readPeak(text), std::invalid_argument) << text;
  try {
    readPeak("1.5X");
  } catch (const std::invalid_argument &error) {
    EXPECT_STREQ(error.what(), "expected FLOPs per second such as 1.5T, 900G or 2e12, or measure; "
                               "found '1.5X'");
  }
}

} // namespace
} // namespace weir
