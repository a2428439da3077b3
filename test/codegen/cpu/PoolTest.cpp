//===- PoolTest.cpp - Pools and channel sums against plain loops ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/codegen/cpu/KernelHarness.h"

#include <cmath>
#include <gtest/gtest.h>

namespace weir {
namespace {

std::string replaced(std::string text, std::vector<std::pair<std::string, int>> names) {
  for (auto &[name, value] : names)
    for (size_t at; (at = text.find(name)) != std::string::npos;)
      text.replace(at, name.size(), std::to_string(value));
  return text;
}

struct PoolSizes {
  int planes, height, width, rows, columns; ///< the last two of a window
};

class Pools : public testing::TestWithParam<PoolSizes> {};

TEST_P(Pools, takeTheFirstLargest) {
  auto [planes, height, width, tapRows, tapColumns] = GetParam();
  int rows = height / tapRows, columns = width / tapColumns;
  CompiledKernel kernel(replaced(R"(
    func.func @f(%x: tensor<NxHxWxf32>, %g: tensor<NxRxCxf32>) -> (tensor<NxRxCxf32>, tensor<NxHxWxf32>) {
      %k:2 = weir.kernel nest(%x, %g) : (tensor<NxHxWxf32>, tensor<NxRxCxf32>) -> (tensor<NxRxCxf32>, tensor<NxHxWxf32>) {
      ^bb0(%a: tensor<NxHxWxf32>, %b: tensor<NxRxCxf32>):
        %c = weir.max_pool %a {window = array<i64: I, J>, strides = array<i64: I, J>} : tensor<NxHxWxf32> -> tensor<NxRxCxf32>
        %d = weir.max_pool_grad %a, %b {window = array<i64: I, J>, strides = array<i64: I, J>} : tensor<NxHxWxf32>, tensor<NxRxCxf32> -> tensor<NxHxWxf32>
        weir.yield %c, %d : tensor<NxRxCxf32>, tensor<NxHxWxf32>
      }
      return %k#0, %k#1 : tensor<NxRxCxf32>, tensor<NxHxWxf32>
    })",
                                 {{"N", planes},
                                  {"H", height},
                                  {"W", width},
                                  {"R", rows},
                                  {"C", columns},
                                  {"I", tapRows},
                                  {"J", tapColumns}}));
  ASSERT_TRUE(kernel.valid);
  // Few values: most windows have several largest elements.
  std::vector<float> x, g = randomFloats(planes * rows * columns, 2);
  for (int value : randomInts(planes * height * width, 1, 3))
    x.push_back(float(value));
  std::vector<double> pooled, gradient(x.size());
  for (int n = 0; n < planes; ++n)
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) {
        int best = -1;
        for (int r = 0; r < tapRows; ++r)
          for (int c = 0; c < tapColumns; ++c) {
            int at = (n * height + i * tapRows + r) * width + j * tapColumns + c;
            best = best < 0 || x[at] > x[best] ? at : best;
          }
        gradient[best] = g[pooled.size()];
        pooled.push_back(x[best]);
      }
  for (int pieces : {1, 3}) {
    auto results = kernel.run({Bytes(x), Bytes(g)}, pieces);
    EXPECT_EQ(difference(results[0].as<float>(), pooled), 0);
    EXPECT_EQ(difference(results[1].as<float>(), gradient), 0);
    EXPECT_TRUE(results[0].intact() && results[1].intact());
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Pools,
                         testing::Values(PoolSizes{6, 28, 28, 2, 2}, PoolSizes{5, 14, 14, 2, 2},
                                         PoolSizes{3, 15, 39, 2, 2}, PoolSizes{2, 7, 3, 2, 2},
                                         PoolSizes{2, 11, 50, 3, 3}, PoolSizes{3, 9, 23, 1, 4},
                                         PoolSizes{3, 9, 21, 4, 1}, PoolSizes{2, 12, 40, 4, 4}));

class ChannelSums : public testing::TestWithParam<std::array<int, 3>> {};

TEST_P(ChannelSums, sumWhatIsComputed) {
  auto [batch, channels, side] = GetParam();
  CompiledKernel kernel(replaced(R"(
    func.func @f(%x: tensor<NxCxSxSxf32>, %m: tensor<Cxf32>) -> (tensor<Cxf32>, tensor<Cxf32>) {
      %k:2 = weir.kernel nest(%x, %m) : (tensor<NxCxSxSxf32>, tensor<Cxf32>) -> (tensor<Cxf32>, tensor<Cxf32>) {
      ^bb0(%a: tensor<NxCxSxSxf32>, %b: tensor<Cxf32>):
        %c = weir.broadcast %b {dimensions = array<i64: 1>} : tensor<Cxf32> -> tensor<NxCxSxSxf32>
        %d = weir.sub %a, %c : tensor<NxCxSxSxf32>
        %e = weir.mul %d, %d : tensor<NxCxSxSxf32>
        %f = weir.reduce sum %e {axes = array<i64: 0, 2, 3>} : tensor<NxCxSxSxf32> -> tensor<Cxf32>
        %g = weir.reduce max %d {axes = array<i64: 0, 2, 3>} : tensor<NxCxSxSxf32> -> tensor<Cxf32>
        weir.yield %f, %g : tensor<Cxf32>, tensor<Cxf32>
      }
      return %k#0, %k#1 : tensor<Cxf32>, tensor<Cxf32>
    })",
                                 {{"N", batch}, {"C", channels}, {"S", side}}));
  ASSERT_TRUE(kernel.valid);
  auto x = randomFloats(batch * channels * side * side, 1), m = randomFloats(channels, 2);
  std::vector<double> sums(channels), largest(channels, -1e9);
  for (size_t i = 0; i < x.size(); ++i) {
    int c = i / (side * side) % channels;
    float centred = x[i] - m[c];
    sums[c] += double(centred) * centred;
    largest[c] = std::max<double>(largest[c], centred);
  }
  auto whole = kernel.run({Bytes(x), Bytes(m)}), parts = kernel.run({Bytes(x), Bytes(m)}, 3);
  EXPECT_LT(difference(whole[0].as<float>(), sums), 1e-6);
  EXPECT_EQ(difference(whole[1].as<float>(), largest), 0);
  EXPECT_EQ(std::memcmp(whole[0].data(), parts[0].data(), parts[0].size()), 0);
  EXPECT_TRUE(whole[0].intact() && whole[1].intact());
}

INSTANTIATE_TEST_SUITE_P(Sizes, ChannelSums,
                         testing::Values(std::array{8, 5, 28}, std::array{3, 7, 13},
                                         std::array{1, 1, 3}, std::array{5, 3, 2},
                                         std::array{64, 3, 14}));

} // namespace
} // namespace weir
