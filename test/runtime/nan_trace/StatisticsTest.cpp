//===- StatisticsTest.cpp -------------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/nan_trace/Statistics.h"
#include <cmath>
#include <gtest/gtest.h>

namespace weir {
namespace {

Statistics of(const std::vector<double> &numbers) {
  Statistics statistics;
  statistics.add(std::span(numbers).first(numbers.size() / 2));
  statistics.add(std::span(numbers).subspan(numbers.size() / 2));
  return statistics;
}

TEST(Statistics, Finite) {
  EXPECT_EQ(of({-2, 0.5, 4, 1.5}).text({2, 2}),
            "4 elements, all finite, from -2 to 4, magnitudes from 0.5 to 4, mean 1");
  EXPECT_EQ(of({3, 3}).text({2}), "2 elements, all finite, 3");
  EXPECT_EQ(of({3}).text({}), "1 element, 3");
  EXPECT_EQ(of({}).text({0}), "0 elements");
}

TEST(Statistics, NotFinite) {
  EXPECT_EQ(of({1, -INFINITY, NAN, 2, INFINITY, NAN}).text({2, 3}),
            "2 nan, 1 inf, 1 -inf of 6 elements, the first at [0, 1]; the others from 1 to 2, "
            "magnitudes from 1 to 2, mean 1.5");
  EXPECT_EQ(of({NAN, NAN}).text({7}), "2 nan of 2 elements, the first at 0");
  EXPECT_EQ(of({NAN}).text({}), "1 nan of 1 element");
}

TEST(Statistics, Places) {
  EXPECT_EQ(placeText(5, 6, {2, 3}), "[1, 2]");
  EXPECT_EQ(placeText(5, 6, {}), "5");
  EXPECT_EQ(placeText(0, 1, {}), "");
}

} // namespace
} // namespace weir
