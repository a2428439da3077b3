//===- NestTest.cpp - Nest and segment kernels against plain loops --------===//
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

TEST(Nest, multipliesMatrices) {
  CompiledKernel kernel(R"(
    func.func @f(%x: tensor<2x7x40xf32>, %w: tensor<2x33x40xf32>) -> tensor<2x7x33xf32> {
      %k = weir.kernel nest(%x, %w) : (tensor<2x7x40xf32>, tensor<2x33x40xf32>) -> tensor<2x7x33xf32> {
      ^bb0(%a: tensor<2x7x40xf32>, %b: tensor<2x33x40xf32>):
        %c = weir.matmul %a, %b {transpose_rhs} : tensor<2x7x40xf32>, tensor<2x33x40xf32> -> tensor<2x7x33xf32>
        weir.yield %c : tensor<2x7x33xf32>
      }
      return %k : tensor<2x7x33xf32>
    })");
  ASSERT_TRUE(kernel.valid);
  auto x = randomFloats(560, 1), w = randomFloats(2640, 2);
  std::vector<double> expected;
  for (int n = 0; n < 2; ++n)
    for (int i = 0; i < 7; ++i)
      for (int j = 0; j < 33; ++j) {
        double sum = 0;
        for (int k = 0; k < 40; ++k)
          sum += double(x[(n * 7 + i) * 40 + k]) * w[(n * 33 + j) * 40 + k];
        expected.push_back(sum);
      }
  auto results = kernel.run({Bytes(x), Bytes(w)}, 2);
  EXPECT_LT(difference(results[0].as<float>(), expected), 1e-6);
}

TEST(Nest, poolsAndFindsTheLargest) {
  CompiledKernel kernel(R"(
    func.func @f(%x: tensor<3x8x40xf32>, %g: tensor<3x4x20xf32>) -> (tensor<3x4x20xf32>, tensor<3x8x40xf32>, tensor<3x8xi32>) {
      %k:3 = weir.kernel nest(%x, %g) : (tensor<3x8x40xf32>, tensor<3x4x20xf32>) -> (tensor<3x4x20xf32>, tensor<3x8x40xf32>, tensor<3x8xi32>) {
      ^bb0(%a: tensor<3x8x40xf32>, %b: tensor<3x4x20xf32>):
        %c = weir.max_pool %a {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : tensor<3x8x40xf32> -> tensor<3x4x20xf32>
        %d = weir.max_pool_grad %a, %b {window = array<i64: 2, 2>, strides = array<i64: 2, 2>} : tensor<3x8x40xf32>, tensor<3x4x20xf32> -> tensor<3x8x40xf32>
        %e = weir.argmax %a {axis = 2 : i64} : tensor<3x8x40xf32> -> tensor<3x8xi32>
        weir.yield %c, %d, %e : tensor<3x4x20xf32>, tensor<3x8x40xf32>, tensor<3x8xi32>
      }
      return %k#0, %k#1, %k#2 : tensor<3x4x20xf32>, tensor<3x8x40xf32>, tensor<3x8xi32>
    })");
  ASSERT_TRUE(kernel.valid);
  auto x = randomFloats(960, 1), g = randomFloats(240, 2);
  std::vector<double> pooled, grad(960);
  for (int n = 0; n < 3; ++n)
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 20; ++j) {
        int best = (n * 8 + 2 * i) * 40 + 2 * j;
        for (int tap = 1; tap < 4; ++tap) {
          int at = (n * 8 + 2 * i + tap / 2) * 40 + 2 * j + tap % 2;
          best = x[at] > x[best] ? at : best;
        }
        pooled.push_back(x[best]);
        grad[best] += g[(n * 4 + i) * 20 + j];
      }
  auto results = kernel.run({Bytes(x), Bytes(g)}, 2);
  EXPECT_EQ(difference(results[0].as<float>(), pooled), 0);
  EXPECT_EQ(difference(results[1].as<float>(), grad), 0);
  for (int row = 0; row < 24; ++row)
    EXPECT_EQ(results[2].as<int32_t>()[row],
              std::max_element(&x[row * 40], &x[row * 40] + 40) - &x[row * 40]);
}

TEST(Nest, reducesInnerAndOuterAxes) {
  CompiledKernel kernel(R"(
    func.func @f(%x: tensor<5x6x70xf32>) -> tensor<6xf32> {
      %k = weir.kernel nest(%x) : (tensor<5x6x70xf32>) -> tensor<6xf32> {
      ^bb0(%a: tensor<5x6x70xf32>):
        %c = weir.reduce sum %a {axes = array<i64: 0, 2>} : tensor<5x6x70xf32> -> tensor<6xf32>
        weir.yield %c : tensor<6xf32>
      }
      return %k : tensor<6xf32>
    })");
  ASSERT_TRUE(kernel.valid);
  auto x = randomFloats(2100, 1);
  std::vector<double> expected(6);
  for (int i = 0; i < 2100; ++i)
    expected[i / 70 % 6] += x[i];
  EXPECT_LT(difference(kernel.run({Bytes(x)})[0].as<float>(), expected), 1e-6);
}

class Segments : public testing::TestWithParam<std::pair<int, int>> {};

TEST_P(Segments, sumsInOrder) {
  auto [segments, columns] = GetParam();
  std::string text = R"(
    func.func @f(%x: tensor<3x50xCxf32>, %i: tensor<3x50xi32>) -> tensor<SxCxf32> {
      %k = weir.kernel segment(%x, %i) : (tensor<3x50xCxf32>, tensor<3x50xi32>) -> tensor<SxCxf32> {
      ^bb0(%a: tensor<3x50xCxf32>, %b: tensor<3x50xi32>):
        %c = weir.segment_sum %a, %b : tensor<3x50xCxf32>, tensor<3x50xi32> -> tensor<SxCxf32>
        weir.yield %c : tensor<SxCxf32>
      }
      return %k : tensor<SxCxf32>
    })";
  std::string sized;
  for (char c : text)
    sized += c == 'S'   ? std::to_string(segments)
             : c == 'C' ? std::to_string(columns)
                        : std::string(1, c);
  CompiledKernel kernel(sized);
  ASSERT_TRUE(kernel.valid);
  auto x = randomFloats(150 * columns, 1);
  auto indices = randomInts(150, 2, segments);
  std::vector<float> sums(segments * columns);
  for (int i = 0; i < 150; ++i)
    for (int j = 0; j < columns; ++j)
      sums[indices[i] * columns + j] += x[i * columns + j];
  for (int pieces : {1, 4}) {
    auto results = kernel.run({Bytes(x), Bytes(indices)}, pieces);
    EXPECT_EQ(std::memcmp(results[0].data(), sums.data(), results[0].size()), 0);
    EXPECT_TRUE(results[0].intact());
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Segments,
                         testing::Values(std::pair{7, 1}, std::pair{65, 40}, std::pair{65, 200},
                                         std::pair{2000, 300}));

} // namespace
} // namespace weir
