//===- RowTest.cpp - Row kernels against plain loops ----------------------===//
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

/// Replaces R and C, standing alone, by sizes.
std::string sized(std::string text, int64_t rows, int64_t columns) {
  std::string result;
  for (char c : text)
    result += c == 'R'   ? std::to_string(rows)
              : c == 'C' ? std::to_string(columns)
                         : std::string(1, c);
  return result;
}

using Size = std::pair<int, int>;
class Rows : public testing::TestWithParam<Size> {};

TEST_P(Rows, layerNorm) {
  auto [rows, columns] = GetParam();
  CompiledKernel kernel(sized(R"(
    func.func @f(%x: tensor<RxCxf32>, %w: tensor<Cxf32>, %b: tensor<Cxf32>) -> (tensor<RxCxf32>, tensor<Rxf32>, tensor<Rxf32>) {
      %k:3 = weir.kernel row over #weir.rows<R x C>(%x, %w, %b) : (tensor<RxCxf32>, tensor<Cxf32>, tensor<Cxf32>) -> (tensor<RxCxf32>, tensor<Rxf32>, tensor<Rxf32>) {
      ^bb0(%a: tensor<RxCxf32>, %c: tensor<Cxf32>, %d: tensor<Cxf32>):
        %n, %m, %r = weir.normalize %a {eps = 1.0e-5 : f64} : tensor<RxCxf32> -> tensor<Rxf32>
        %e = weir.broadcast %c {dimensions = array<i64: 1>} : tensor<Cxf32> -> tensor<RxCxf32>
        %g = weir.broadcast %d {dimensions = array<i64: 1>} : tensor<Cxf32> -> tensor<RxCxf32>
        %h = weir.mul %n, %e : tensor<RxCxf32>
        %i = weir.add %h, %g : tensor<RxCxf32>
        weir.yield %i, %m, %r : tensor<RxCxf32>, tensor<Rxf32>, tensor<Rxf32>
      }
      return %k#0, %k#1, %k#2 : tensor<RxCxf32>, tensor<Rxf32>, tensor<Rxf32>
    })",
                              rows, columns));
  ASSERT_TRUE(kernel.valid);
  auto x = randomFloats(rows * columns, 1, -1, 3), w = randomFloats(columns, 2),
       b = randomFloats(columns, 3);
  std::vector<double> y, means, rstds;
  for (int i = 0; i < rows; ++i) {
    double mean = 0, variance = 0;
    for (int j = 0; j < columns; ++j)
      mean += x[i * columns + j] / double(columns);
    for (int j = 0; j < columns; ++j)
      variance += std::pow(x[i * columns + j] - mean, 2) / columns;
    double rstd = 1 / std::sqrt(variance + 1e-5);
    means.push_back(mean);
    rstds.push_back(rstd);
    for (int j = 0; j < columns; ++j)
      y.push_back((x[i * columns + j] - mean) * rstd * w[j] + b[j]);
  }
  auto first = kernel.run({Bytes(x), Bytes(w), Bytes(b)}),
       second = kernel.run({Bytes(x), Bytes(w), Bytes(b)}, 3);
  if (columns > 1) {
    EXPECT_LT(difference(first[0].as<float>(), y), 2e-6);
    EXPECT_LT(difference(first[2].as<float>(), rstds), 2e-6);
  }
  EXPECT_LT(difference(first[1].as<float>(), means), 1e-6);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(std::memcmp(first[i].data(), second[i].data(), first[i].size()), 0);
    EXPECT_TRUE(first[i].intact());
  }
}

/// Its sums, where as many elementary functions of the input are computed beside them.
std::vector<std::vector<float>> sumsBeside(int functions, int rows, int columns) {
  std::string beside, last = "%a";
  for (int i = 0; i < functions; ++i) {
    std::string next = "%t" + std::to_string(i);
    beside += next + " = weir.tanh " + last + " : tensor<RxCxf32>\n        ";
    last = next;
  }
  CompiledKernel kernel(
      sized(R"(
    func.func @f(%x: tensor<RxCxf32>) -> (tensor<RxCxf32>, tensor<Rxf32>, tensor<Cxf32>) {
      %k:3 = weir.kernel row over #weir.rows<R x C>(%x) : (tensor<RxCxf32>) -> (tensor<RxCxf32>, tensor<Rxf32>, tensor<Cxf32>) {
      ^bb0(%a: tensor<RxCxf32>):
        )" + beside +
                R"(%s = weir.reduce sum %a {axes = array<i64: 1>} : tensor<RxCxf32> -> tensor<Rxf32>
        %c = weir.reduce sum %a {axes = array<i64: 0>} : tensor<RxCxf32> -> tensor<Cxf32>
        weir.yield )" +
                (functions ? last : "%a") +
                R"(, %s, %c : tensor<RxCxf32>, tensor<Rxf32>, tensor<Cxf32>
      }
      return %k#0, %k#1, %k#2 : tensor<RxCxf32>, tensor<Rxf32>, tensor<Cxf32>
    })",
            rows, columns));
  EXPECT_TRUE(kernel.valid);
  auto results = kernel.run({Bytes(randomFloats(rows * columns, 1))}, 2);
  return {{results[1].as<float>(), results[1].as<float>() + rows},
          {results[2].as<float>(), results[2].as<float>() + columns}};
}

TEST_P(Rows, sumsHaveTheSameBitsWhateverIsBesideThem) {
  auto [rows, columns] = GetParam();
  auto alone = sumsBeside(0, rows, columns);
  for (int functions : {1, 4, 12})
    EXPECT_EQ(sumsBeside(functions, rows, columns), alone) << functions;
}

/// Tasks of columns, which need no second launch, add up the parts that tasks of rows do.
TEST_P(Rows, columnsAloneHaveTheBitsOfRows) {
  auto [rows, columns] = GetParam();
  CompiledKernel kernel(sized(R"(
    func.func @f(%x: tensor<RxCxf32>) -> tensor<Cxf32> {
      %k = weir.kernel row over #weir.rows<R x C>(%x) : (tensor<RxCxf32>) -> tensor<Cxf32> {
      ^bb0(%a: tensor<RxCxf32>):
        %c = weir.reduce sum %a {axes = array<i64: 0>} : tensor<RxCxf32> -> tensor<Cxf32>
        weir.yield %c : tensor<Cxf32>
      }
      return %k : tensor<Cxf32>
    })",
                              rows, columns));
  ASSERT_TRUE(kernel.valid);
  auto results = kernel.run({Bytes(randomFloats(rows * columns, 1))}, 2);
  std::vector<float> sums(results[0].as<float>(), results[0].as<float>() + columns);
  EXPECT_EQ(sums, sumsBeside(0, rows, columns)[1]);
}

TEST_P(Rows, layerNormGradient) {
  auto [rows, columns] = GetParam();
  CompiledKernel kernel(sized(R"(
    func.func @f(%x: tensor<RxCxf32>, %m: tensor<Rxf32>, %s: tensor<Rxf32>, %g: tensor<RxCxf32>, %w: tensor<Cxf32>) -> (tensor<RxCxf32>, tensor<Cxf32>, tensor<Cxf32>) {
      %k:3 = weir.kernel row over #weir.rows<R x C>(%x, %m, %s, %g, %w) : (tensor<RxCxf32>, tensor<Rxf32>, tensor<Rxf32>, tensor<RxCxf32>, tensor<Cxf32>) -> (tensor<RxCxf32>, tensor<Cxf32>, tensor<Cxf32>) {
      ^bb0(%a: tensor<RxCxf32>, %b: tensor<Rxf32>, %c: tensor<Rxf32>, %d: tensor<RxCxf32>, %e: tensor<Cxf32>):
        %e1 = weir.broadcast %e {dimensions = array<i64: 1>} : tensor<Cxf32> -> tensor<RxCxf32>
        %h = weir.mul %d, %e1 : tensor<RxCxf32>
        %dx = weir.normalize_grad %a, %b, %c, %h : tensor<RxCxf32>, tensor<Rxf32>
        %b1 = weir.broadcast %b {dimensions = array<i64: 0>} : tensor<Rxf32> -> tensor<RxCxf32>
        %c1 = weir.broadcast %c {dimensions = array<i64: 0>} : tensor<Rxf32> -> tensor<RxCxf32>
        %i = weir.sub %a, %b1 : tensor<RxCxf32>
        %j = weir.mul %i, %c1 : tensor<RxCxf32>
        %l = weir.mul %j, %d : tensor<RxCxf32>
        %dw = weir.reduce sum %l {axes = array<i64: 0>} : tensor<RxCxf32> -> tensor<Cxf32>
        %db = weir.reduce sum %d {axes = array<i64: 0>} : tensor<RxCxf32> -> tensor<Cxf32>
        weir.yield %dx, %dw, %db : tensor<RxCxf32>, tensor<Cxf32>, tensor<Cxf32>
      }
      return %k#0, %k#1, %k#2 : tensor<RxCxf32>, tensor<Cxf32>, tensor<Cxf32>
    })",
                              rows, columns));
  ASSERT_TRUE(kernel.valid);
  auto x = randomFloats(rows * columns, 1), g = randomFloats(rows * columns, 2),
       w = randomFloats(columns, 3);
  std::vector<float> m(rows), s(rows);
  std::vector<double> dx, dw(columns), db(columns);
  for (int i = 0; i < rows; ++i) {
    m[i] = 0.25f * float(i % 3);
    s[i] = 1 + 0.125f * float(i % 5);
    auto norm = [&](int j) { return (double(x[i * columns + j]) - m[i]) * s[i]; };
    double a = 0, b = 0;
    for (int j = 0; j < columns; ++j) {
      double h = double(g[i * columns + j]) * w[j];
      a += h / columns;
      b += h * norm(j) / columns;
      dw[j] += norm(j) * g[i * columns + j];
      db[j] += g[i * columns + j];
    }
    for (int j = 0; j < columns; ++j)
      dx.push_back(s[i] * (double(g[i * columns + j]) * w[j] - a - norm(j) * b));
  }
  std::vector<Bytes> inputs{Bytes(x), Bytes(m), Bytes(s), Bytes(g), Bytes(w)};
  auto first = kernel.run(inputs), second = kernel.run(inputs, 5);
  EXPECT_LT(difference(first[0].as<float>(), dx), columns == 1 ? 1e-5 : 2e-6);
  EXPECT_LT(difference(first[1].as<float>(), dw), 2e-6);
  EXPECT_LT(difference(first[2].as<float>(), db), 2e-6);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(std::memcmp(first[i].data(), second[i].data(), first[i].size()), 0);
    EXPECT_TRUE(first[i].intact());
  }
}

TEST_P(Rows, crossEntropy) {
  auto [rows, columns] = GetParam();
  CompiledKernel kernel(sized(R"(
    func.func @f(%x: tensor<RxCxf32>, %l: tensor<Rxi32>, %s: tensor<f32>) -> (tensor<f32>, tensor<RxCxf32>, tensor<Rxf32>) {
      %k:3 = weir.kernel row over #weir.rows<R x C>(%x, %l, %s) : (tensor<RxCxf32>, tensor<Rxi32>, tensor<f32>) -> (tensor<f32>, tensor<RxCxf32>, tensor<Rxf32>) {
      ^bb0(%a: tensor<RxCxf32>, %b: tensor<Rxi32>, %c: tensor<f32>):
        %loss, %lse = weir.softmax_cross_entropy %a, %b : tensor<RxCxf32>, tensor<Rxi32> -> tensor<Rxf32>
        %sum = weir.reduce sum %loss {axes = array<i64: 0>} : tensor<Rxf32> -> tensor<f32>
        %c1 = weir.broadcast %c {dimensions = array<i64>} : tensor<f32> -> tensor<Rxf32>
        %g = weir.softmax_cross_entropy_grad %a, %b, %lse, %c1 : tensor<RxCxf32>, tensor<Rxi32>, tensor<Rxf32>
        weir.yield %sum, %g, %lse : tensor<f32>, tensor<RxCxf32>, tensor<Rxf32>
      }
      return %k#0, %k#1, %k#2 : tensor<f32>, tensor<RxCxf32>, tensor<Rxf32>
    })",
                              rows, columns));
  ASSERT_TRUE(kernel.valid);
  auto x = randomFloats(rows * columns, 1, -6, 6);
  auto labels = randomInts(rows, 2, columns);
  std::vector<float> scale{0.5};
  std::vector<double> total{0}, grad, lse;
  for (int i = 0; i < rows; ++i) {
    double sum = 0;
    for (int j = 0; j < columns; ++j)
      sum += std::exp(double(x[i * columns + j]));
    lse.push_back(std::log(sum));
    total[0] += lse.back() - x[i * columns + labels[i]];
    for (int j = 0; j < columns; ++j)
      grad.push_back(0.5 * (std::exp(x[i * columns + j]) / sum - (j == labels[i])));
  }
  std::vector<Bytes> inputs{Bytes(x), Bytes(labels), Bytes(scale)};
  auto first = kernel.run(inputs), second = kernel.run(inputs, 2);
  if (columns > 1) {
    EXPECT_LT(difference(first[0].as<float>(), total), 2e-6);
    EXPECT_LT(difference(first[1].as<float>(), grad), 2e-6);
  }
  EXPECT_LT(difference(first[2].as<float>(), lse), 2e-6);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(std::memcmp(first[i].data(), second[i].data(), first[i].size()), 0);
    EXPECT_TRUE(first[i].intact());
  }
}

TEST_P(Rows, columnSumWithRelu) {
  auto [rows, columns] = GetParam();
  CompiledKernel kernel(sized(R"(
    func.func @f(%x: tensor<RxCxf32>) -> (tensor<Cxf32>, tensor<RxCxf32>) {
      %k:2 = weir.kernel row over #weir.rows<R x C>(%x) : (tensor<RxCxf32>) -> (tensor<Cxf32>, tensor<RxCxf32>) {
      ^bb0(%a: tensor<RxCxf32>):
        %z = weir.constant 0.0 : f32 -> tensor<RxCxf32>
        %y = weir.max %a, %z : tensor<RxCxf32>
        %s = weir.reduce sum %y {axes = array<i64: 0>} : tensor<RxCxf32> -> tensor<Cxf32>
        weir.yield %s, %y : tensor<Cxf32>, tensor<RxCxf32>
      }
      return %k#0, %k#1 : tensor<Cxf32>, tensor<RxCxf32>
    })",
                              rows, columns));
  ASSERT_TRUE(kernel.valid);
  auto x = randomFloats(rows * columns, 1);
  std::vector<double> sums(columns), relu;
  for (int i = 0; i < rows * columns; ++i) {
    relu.push_back(std::max(x[i], 0.0f));
    sums[i % columns] += relu.back();
  }
  auto first = kernel.run({Bytes(x)}), second = kernel.run({Bytes(x)}, 4);
  EXPECT_LT(difference(first[0].as<float>(), sums), 1e-6);
  EXPECT_EQ(difference(first[1].as<float>(), relu), 0);
  EXPECT_EQ(std::memcmp(first[0].data(), second[0].data(), first[0].size()), 0);
  EXPECT_TRUE(first[0].intact() && first[1].intact());
}

TEST(Columns, NeedNoWorkspace) {
  CompiledKernel kernel(R"(
    func.func @f(%x: tensor<512x4096xf32>) -> tensor<4096xf32> {
      %k = weir.kernel row over #weir.rows<512 x 4096>(%x) : (tensor<512x4096xf32>) -> tensor<4096xf32> {
      ^bb0(%a: tensor<512x4096xf32>):
        %s = weir.reduce sum %a {axes = array<i64: 0>} : tensor<512x4096xf32> -> tensor<4096xf32>
        weir.yield %s : tensor<4096xf32>
      }
      return %k : tensor<4096xf32>
    })");
  ASSERT_TRUE(kernel.valid);
  ASSERT_EQ(kernel.plan.launches.size(), 1u);
  EXPECT_GT(kernel.plan.launches[0].tasks, 1);
  EXPECT_EQ(kernel.plan.workspace, 0);
}

TEST_P(Rows, totalAndWhatFollows) {
  auto [rows, columns] = GetParam();
  CompiledKernel kernel(sized(R"(
    func.func @f(%x: tensor<RxCxf32>) -> (tensor<f32>, tensor<f32>) {
      %k:2 = weir.kernel row over #weir.rows<R x C>(%x) : (tensor<RxCxf32>) -> (tensor<f32>, tensor<f32>) {
      ^bb0(%a: tensor<RxCxf32>):
        %y = weir.mul %a, %a : tensor<RxCxf32>
        %s = weir.reduce sum %y {axes = array<i64: 0, 1>} : tensor<RxCxf32> -> tensor<f32>
        %r = weir.sqrt %s : tensor<f32>
        %m = weir.reduce max %a {axes = array<i64: 0, 1>} : tensor<RxCxf32> -> tensor<f32>
        weir.yield %r, %m : tensor<f32>, tensor<f32>
      }
      return %k#0, %k#1 : tensor<f32>, tensor<f32>
    })",
                              rows, columns));
  ASSERT_TRUE(kernel.valid);
  auto x = randomFloats(rows * columns, 1, -3, -1);
  std::vector<double> norm{0}, largest{-INFINITY};
  for (float value : x) {
    norm[0] += double(value) * value;
    largest[0] = std::max(largest[0], double(value));
  }
  norm[0] = std::sqrt(norm[0]);
  auto results = kernel.run({Bytes(x)}, 2);
  EXPECT_LT(difference(results[0].as<float>(), norm), 1e-6);
  EXPECT_EQ(difference(results[1].as<float>(), largest), 0);
}

TEST_P(Rows, largestMagnitudes) {
  // Beside the largest of what may be negative, which is no magnitude.
  auto [rows, columns] = GetParam();
  CompiledKernel kernel(sized(R"(
    func.func @f(%x: tensor<RxCxf32>) -> (tensor<Rxf32>, tensor<Rxf32>, tensor<f32>) {
      %k:3 = weir.kernel row over #weir.rows<R x C>(%x) : (tensor<RxCxf32>) -> (tensor<Rxf32>, tensor<Rxf32>, tensor<f32>) {
      ^bb0(%a: tensor<RxCxf32>):
        %y = weir.abs %a : tensor<RxCxf32>
        %l = weir.reduce max %y {axes = array<i64: 1>} : tensor<RxCxf32> -> tensor<Rxf32>
        %m = weir.reduce max %a {axes = array<i64: 1>} : tensor<RxCxf32> -> tensor<Rxf32>
        %t = weir.reduce max %y {axes = array<i64: 0, 1>} : tensor<RxCxf32> -> tensor<f32>
        weir.yield %l, %m, %t : tensor<Rxf32>, tensor<Rxf32>, tensor<f32>
      }
      return %k#0, %k#1, %k#2 : tensor<Rxf32>, tensor<Rxf32>, tensor<f32>
    })",
                              rows, columns));
  ASSERT_TRUE(kernel.valid);
  auto x = randomFloats(rows * columns, 1, -3, -1);
  for (int j = 0; j < columns; ++j)
    x[j] = -0.0f;
  for (float last : {-INFINITY, -NAN}) {
    x.back() = last;
    std::vector<double> magnitudes(rows, 0), largest(rows, -INFINITY), all{0};
    for (int i = 0; i < rows * columns; ++i) {
      magnitudes[i / columns] = std::max(double(std::fabs(x[i])), magnitudes[i / columns]);
      largest[i / columns] = std::max(double(x[i]), largest[i / columns]);
    }
    if (std::isnan(last))
      magnitudes.back() = largest.back() = NAN;
    all[0] = std::isnan(last) ? NAN : INFINITY;
    auto results = kernel.run({Bytes(x)}, 2);
    for (int i = 0; i < rows; ++i) {
      double one = results[0].as<float>()[i], two = results[1].as<float>()[i];
      EXPECT_TRUE(one == magnitudes[i] || (std::isnan(one) && std::isnan(magnitudes[i]))) << i;
      EXPECT_FALSE(std::signbit(one));
      EXPECT_TRUE(two == largest[i] || (std::isnan(two) && std::isnan(largest[i]))) << i;
    }
    double total = results[2].as<float>()[0];
    EXPECT_TRUE(total == all[0] || (std::isnan(total) && std::isnan(all[0])));
  }
}

TEST_P(Rows, standardizesColumns) {
  // Two sums across rows, one after the other, and a full result after both: three sweeps.
  auto [rows, columns] = GetParam();
  CompiledKernel kernel(sized(R"(
    func.func @f(%x: tensor<RxCxf32>) -> (tensor<RxCxf32>, tensor<Cxf32>) {
      %k:2 = weir.kernel row over #weir.rows<R x C>(%x) : (tensor<RxCxf32>) -> (tensor<RxCxf32>, tensor<Cxf32>) {
      ^bb0(%a: tensor<RxCxf32>):
        %s = weir.reduce max %a {axes = array<i64: 0>} : tensor<RxCxf32> -> tensor<Cxf32>
        %b = weir.broadcast %s {dimensions = array<i64: 1>} : tensor<Cxf32> -> tensor<RxCxf32>
        %c = weir.sub %a, %b : tensor<RxCxf32>
        %t = weir.reduce sum %c {axes = array<i64: 0>} : tensor<RxCxf32> -> tensor<Cxf32>
        %d = weir.broadcast %t {dimensions = array<i64: 1>} : tensor<Cxf32> -> tensor<RxCxf32>
        %e = weir.mul %c, %d : tensor<RxCxf32>
        %n = weir.neg %t : tensor<Cxf32>
        weir.yield %e, %n : tensor<RxCxf32>, tensor<Cxf32>
      }
      return %k#0, %k#1 : tensor<RxCxf32>, tensor<Cxf32>
    })",
                              rows, columns));
  ASSERT_TRUE(kernel.valid);
  auto x = randomFloats(rows * columns, 1);
  std::vector<double> largest(columns, -INFINITY), sums(columns), full, negated;
  for (int i = 0; i < rows * columns; ++i)
    largest[i % columns] = std::max(largest[i % columns], double(x[i]));
  for (int i = 0; i < rows * columns; ++i)
    sums[i % columns] += x[i] - largest[i % columns];
  for (int i = 0; i < rows * columns; ++i)
    full.push_back((x[i] - largest[i % columns]) * sums[i % columns]);
  for (double sum : sums)
    negated.push_back(-sum);
  auto results = kernel.run({Bytes(x)}, 2);
  EXPECT_LT(difference(results[0].as<float>(), full), 2e-6);
  EXPECT_LT(difference(results[1].as<float>(), negated), 2e-6);
  EXPECT_TRUE(results[0].intact() && results[1].intact());
}

/// `norms` times h = tanh((h - mean(h)) / (mean(|h|) + 1)), and the sum of each column of the last.
std::string chainOfNorms(int norms, int rows, int columns) {
  std::string body, h = "%a";
  for (int i = 0; i < norms; ++i) {
    std::string text = R"(
        %sI = weir.reduce sum HH {axes = array<i64: 1>} : tensor<RxCxf32> -> tensor<Rxf32>
        %mI = weir.mul %sI, %inverse : tensor<Rxf32>
        %nI = weir.broadcast %mI {dimensions = array<i64: 0>} : tensor<Rxf32> -> tensor<RxCxf32>
        %cI = weir.sub HH, %nI : tensor<RxCxf32>
        %tI = weir.tanh %cI : tensor<RxCxf32>
        %xI = weir.reduce max %tI {axes = array<i64: 1>} : tensor<RxCxf32> -> tensor<Rxf32>
        %bI = weir.broadcast %xI {dimensions = array<i64: 0>} : tensor<Rxf32> -> tensor<RxCxf32>
        %hI = weir.add %tI, %bI : tensor<RxCxf32>)";
    for (size_t at; (at = text.find("HH")) != std::string::npos;)
      text.replace(at, 2, h);
    for (size_t at; (at = text.find('I')) != std::string::npos;)
      text.replace(at, 1, std::to_string(i));
    body += text;
    h = "%h" + std::to_string(i);
  }
  std::string inverse = std::to_string(1.0 / columns);
  return sized(R"(
    func.func @f(%x: tensor<RxCxf32>) -> (tensor<RxCxf32>, tensor<Cxf32>) {
      %k:2 = weir.kernel row over #weir.rows<R x C>(%x) : (tensor<RxCxf32>) -> (tensor<RxCxf32>, tensor<Cxf32>) {
      ^bb0(%a: tensor<RxCxf32>):
        %inverse = weir.constant )" +
                   inverse + R"( : f32 -> tensor<Rxf32>)" + body + R"(
        %l = weir.reduce sum )" +
                   h + R"( {axes = array<i64: 0>} : tensor<RxCxf32> -> tensor<Cxf32>
        weir.yield )" +
                   h + R"(, %l : tensor<RxCxf32>, tensor<Cxf32>
      }
      return %k#0, %k#1 : tensor<RxCxf32>, tensor<Cxf32>
    })",
               rows, columns);
}

TEST_P(Rows, chainOfNorms) {
  auto [rows, columns] = GetParam();
  CompiledKernel kernel(chainOfNorms(3, rows, columns));
  ASSERT_TRUE(kernel.valid);
  auto x = randomFloats(rows * columns, 1);
  std::vector<double> h(x.begin(), x.end()), sums(columns);
  double inverse = std::stof(std::to_string(1.0 / columns));
  for (int norm = 0; norm < 3; ++norm)
    for (int i = 0; i < rows; ++i) {
      double *row = &h[i * columns], sum = 0, largest = -2;
      for (int j = 0; j < columns; ++j)
        sum += row[j];
      for (int j = 0; j < columns; ++j)
        row[j] = std::tanh(row[j] - sum * inverse), largest = std::max(largest, row[j]);
      for (int j = 0; j < columns; ++j)
        row[j] += largest;
    }
  for (int i = 0; i < rows * columns; ++i)
    sums[i % columns] += h[i];
  auto results = kernel.run({Bytes(x)}), again = kernel.run({Bytes(x)}, 3);
  EXPECT_LT(difference(results[0].as<float>(), h), 5e-6);
  EXPECT_LT(difference(results[1].as<float>(), sums), 5e-6);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(std::memcmp(results[i].data(), again[i].data(), results[i].size()), 0);
    EXPECT_TRUE(results[i].intact());
  }
}

/// Each pass over a row reads what the one before saved: without that, the code of a chain grows
/// with the square of its length. A longer chain may have less code: it calls its tanh.
TEST(ChainOfNorms, HasCodeInProportionToItsLength) {
  CompiledKernel five(chainOfNorms(5, 64, 64)), ten(chainOfNorms(10, 64, 64)),
      fifteen(chainOfNorms(15, 64, 64));
  ASSERT_TRUE(five.valid && ten.valid && fifteen.valid);
  EXPECT_LT(double(fifteen.codeBytes) - double(ten.codeBytes),
            1.1 * (double(ten.codeBytes) - double(five.codeBytes)));
  EXPECT_EQ(ten.plan.threadScratch, 2 * 64 * 4);
  // The sum behind each tanh is not worth saving: the next norm's passes compute it twice.
  EXPECT_EQ(five.plan.recomputedFlops, 4 * 64 * 64);
  EXPECT_EQ(ten.plan.recomputedFlops, 9 * 64 * 64);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Rows,
                         testing::Values(Size{1, 1}, Size{1, 40}, Size{3, 17}, Size{40, 1},
                                         Size{40, 65}, Size{65, 128}, Size{64, 64}, Size{768, 200},
                                         Size{3000, 10}));

} // namespace
} // namespace weir
