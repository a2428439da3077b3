//===- CompareTest.cpp - When two tensors agree ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/Compare.h"
#include <gtest/gtest.h>

using namespace weir;

TEST(Compare, SubnormalNumbersAreZero) {
  auto tensor = [](std::vector<double> values) {
    Tensor made(std::vector<int64_t>{int64_t(values.size())});
    made.values = std::move(values);
    return made;
  };
  EXPECT_TRUE(compare(tensor({0, 0}), tensor({6e-40, -1e-38}), 1e-6, 0).agrees);
  EXPECT_TRUE(compare(tensor({0, 1}), tensor({6e-40, 1}), 1e-6, 0).agrees);
  EXPECT_FALSE(compare(tensor({0, 0}), tensor({0, 1e-36}), 1e-6, 0).agrees);
  EXPECT_FALSE(compare(tensor({0, 0}), tensor({6e-40, 0}), 0, 0).agrees);
}
