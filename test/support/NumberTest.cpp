//===- NumberTest.cpp - Numbers as text -----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/Number.h"
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>

namespace weir {
namespace {

TEST(Number, FloatsComeBackExactly) {
  std::mt19937 random(1);
  for (int i = 0; i < 10000; ++i) {
    uint32_t bits = random();
    float value;
    std::memcpy(&value, &bits, 4);
    if (!std::isfinite(value))
      continue;
    EXPECT_EQ(std::strtof(jsonNumber(value).c_str(), nullptr), value);
  }
  EXPECT_EQ(jsonNumber(0.1f), "0.100000001");
  EXPECT_EQ(jsonNumber(2), "2");
  EXPECT_EQ(jsonNumber(std::nan("")), "null");
  EXPECT_EQ(jsonNumber(-std::numeric_limits<double>::infinity()), "null");
}

TEST(Number, ForPeople) {
  EXPECT_EQ(withThousands(0), "0");
  EXPECT_EQ(withThousands(999), "999");
  EXPECT_EQ(withThousands(1000), "1,000");
  EXPECT_EQ(withThousands(1234567), "1,234,567");
  EXPECT_EQ(duration(31.2), "0:31");
  EXPECT_EQ(duration(3723), "1:02:03");
  EXPECT_EQ(duration(std::nan("")), "0:00");
}

} // namespace
} // namespace weir
