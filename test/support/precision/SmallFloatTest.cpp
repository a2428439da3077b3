//===- SmallFloatTest.cpp - Every number of every small format ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/precision/SmallFloat.h"
#include <gtest/gtest.h>

namespace weir {
namespace {

template <typename Format> class SmallFloats : public ::testing::Test {
protected:
  static double of(unsigned bits) {
    Format number;
    number.bits = decltype(number.bits)(bits);
    return static_cast<double>(number);
  }
  static unsigned bitsOf(double value) { return Format(value).bits; }
};

using Formats = ::testing::Types<Float16, BFloat16, Float8E4M3, Float8E5M2>;
TYPED_TEST_SUITE(SmallFloats, Formats);

TYPED_TEST(SmallFloats, EveryNumberComesBack) {
  for (unsigned bits = 0; bits < 2 * TypeParam::sign; ++bits) {
    double value = this->of(bits);
    if (std::isnan(value))
      EXPECT_TRUE(std::isnan(this->of(this->bitsOf(value))));
    else
      EXPECT_EQ(this->bitsOf(value), bits) << value;
  }
}

// Between neighbours, halfway goes to the even one and anything else to the nearer one.
TYPED_TEST(SmallFloats, RoundsToNearestTiesToEven) {
  for (unsigned bits = 0; bits + 1 < TypeParam::over; ++bits) {
    double low = this->of(bits), high = this->of(bits + 1), middle = (low + high) / 2;
    EXPECT_EQ(this->bitsOf(middle), bits % 2 ? bits + 1 : bits) << middle;
    EXPECT_EQ(this->bitsOf(std::nextafter(middle, low)), bits);
    EXPECT_EQ(this->bitsOf(std::nextafter(middle, high)), bits + 1);
    EXPECT_EQ(this->bitsOf(-middle), TypeParam::sign | this->bitsOf(middle));
  }
}

TYPED_TEST(SmallFloats, WhatIsTooLargeIsNotFinite) {
  double most = this->of(TypeParam::over - 1), step = most - this->of(TypeParam::over - 2);
  EXPECT_EQ(this->bitsOf(most + step / 4), TypeParam::over - 1);
  for (double value : {most + step, 1e300, double(INFINITY)})
    EXPECT_FALSE(std::isfinite(this->of(this->bitsOf(value)))) << value;
}

TEST(SmallFloat, LeastAndGreatestNumbersAreTheFormats) {
  auto most = [](auto format) {
    format.bits = decltype(format.bits)(decltype(format)::over - 1);
    return static_cast<double>(format);
  };
  auto least = [](auto format) {
    format.bits = 1;
    return static_cast<double>(format);
  };
  EXPECT_EQ(most(Float16()), 65504);
  EXPECT_EQ(most(BFloat16()), 0x1.FEp127);
  EXPECT_EQ(most(Float8E4M3()), 448);
  EXPECT_EQ(most(Float8E5M2()), 57344);
  EXPECT_EQ(least(Float16()), 0x1p-24);
  EXPECT_EQ(least(BFloat16()), 0x1p-133);
  EXPECT_EQ(least(Float8E4M3()), 0x1p-9);
  EXPECT_EQ(least(Float8E5M2()), 0x1p-16);
}

} // namespace
} // namespace weir
