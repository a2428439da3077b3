//===- MapTest.cpp - Map kernels against plain loops ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/ThreadPool.h"
#include "test/codegen/cpu/KernelHarness.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <numbers>

namespace weir {
namespace {

/// A unary float kernel over n elements.
std::string unary(const std::string &body, int64_t n) {
  std::string t = "tensor<" + std::to_string(n) + "xf32>";
  std::string text =
      "func.func @f(%x: T) -> T {\n  %k = weir.kernel map(%x) : (T) -> T {\n  ^bb0(%a: T):\n" +
      body + "    weir.yield %y : T\n  }\n  return %k : T\n}";
  for (size_t at; (at = text.find('T')) != std::string::npos;)
    text.replace(at, 1, t);
  return text;
}

struct Function {
  const char *op;
  double (*reference)(double);
  float low, high;
  double tolerance;
};

class Unary : public testing::TestWithParam<Function> {};

TEST_P(Unary, matchesTheLibrary) {
  Function function = GetParam();
  for (int64_t n : {1, 17, 40, 65, 5000}) {
    CompiledKernel kernel(unary(std::string("    %y = weir.") + function.op + " %a : T\n", n));
    ASSERT_TRUE(kernel.valid);
    auto x = randomFloats(n, 7, function.low, function.high);
    std::vector<double> expected;
    for (float value : x)
      expected.push_back(function.reference(value));
    for (int pieces : {1, 3}) {
      auto results = kernel.run({Bytes(x)}, pieces);
      EXPECT_LT(difference(results[0].as<float>(), expected), function.tolerance)
          << function.op << " " << n;
      EXPECT_TRUE(results[0].intact());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Functions, Unary,
    testing::Values(Function{"exp", std::exp, -80, 20, 2e-7},
                    Function{"log", std::log, 1e-3f, 100, 3e-7},
                    Function{"tanh", std::tanh, -5, 5, 3e-7},
                    Function{"sin", std::sin, -6, 6, 4e-7}, Function{"cos", std::cos, -6, 6, 6e-7},
                    Function{"erf", std::erf, -4, 4, 4e-7}, Function{"sqrt", std::sqrt, 0, 9, 1e-7},
                    Function{"rsqrt", +[](double x) { return 1 / std::sqrt(x); }, 0.1f, 9, 2e-7},
                    Function{"neg", +[](double x) { return -x; }, -1, 1, 0.0 + 1e-12},
                    Function{"floor", std::floor, -9, 9, 1e-12},
                    Function{"power_of_two", +[](double x) { return std::exp2(std::ilogb(x)); }, -9,
                             9, 1e-12}));

/// Runs the sine and the cosine of the angles and calls `check` for each, with what the library
/// makes of the angle as `expected`.
void checkAngles(const std::vector<float> &angles,
                 const std::function<void(float angle, float found, double expected)> &check) {
  for (auto [name, reference] : {std::pair{"sin", +[](double x) { return std::sin(x); }},
                                 std::pair{"cos", +[](double x) { return std::cos(x); }}}) {
    SCOPED_TRACE(name);
    CompiledKernel kernel(unary(std::string("    %y = weir.") + name + " %a : T\n", angles.size()));
    ASSERT_TRUE(kernel.valid);
    auto results = kernel.run({Bytes(angles)});
    const float *found = results[0].as<float>();
    for (size_t i = 0; i < angles.size() && !testing::Test::HasFatalFailure(); ++i)
      check(angles[i], found[i], reference(angles[i]));
  }
}

// Where a result is next to 0, its sign and its digits hang on what is left of the angle.
TEST(Map, anglesNextToQuarterTurns) {
  std::vector<float> angles;
  for (int n = 0; n < 60000; n += n < 5000 ? 1 : 7)
    for (float sign : {-1.0f, 1.0f})
      angles.push_back(sign * float(n * std::numbers::pi / 2));
  checkAngles(angles, [](float angle, float found, double expected) {
    ASSERT_NEAR(found, expected, 2e-7 * std::abs(expected) + 1e-10) << angle;
  });
}

TEST(Map, largeAngles) {
  std::vector<float> angles = {8190450, 1e15f, -3e16f, 1e30f, 3e38f};
  for (float angle = 1e5f; angle < 1.2e7f; angle *= 1.001f)
    angles.push_back(angle);
  checkAngles(angles, [](float angle, float found, double expected) {
    if (angle < 1.2e7f && angle > 0)
      ASSERT_NEAR(found, expected, 4e-7) << angle;
    else
      ASSERT_LE(std::abs(found), 1) << angle;
  });
}

TEST(Map, signsOfWhatIsNearlyZero) {
  cpu::ComputeThread state; // to it these are zeros
  std::vector<float> x = {1e-40f, -1e-40f, 0, 1e-30f, -1e-30f, 2, -3};
  CompiledKernel kernel(unary("    %y = weir.sign %a : T\n", x.size()));
  ASSERT_TRUE(kernel.valid);
  auto results = kernel.run({Bytes(x)});
  const float *found = results[0].as<float>(), expected[] = {0, 0, 0, 1, -1, 1, -1};
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(found[i], expected[i]) << x[i];
}

TEST(Map, broadcastsBiasAndScalar) {
  CompiledKernel kernel(R"(
    func.func @f(%x: tensor<7x40xf32>, %b: tensor<40xf32>, %s: tensor<f32>) -> tensor<7x40xf32> {
      %k = weir.kernel map(%x, %b, %s) : (tensor<7x40xf32>, tensor<40xf32>, tensor<f32>) -> tensor<7x40xf32> {
      ^bb0(%a: tensor<7x40xf32>, %c: tensor<40xf32>, %d: tensor<f32>):
        %e = weir.broadcast %c {dimensions = array<i64: 1>} : tensor<40xf32> -> tensor<7x40xf32>
        %g = weir.broadcast %d {dimensions = array<i64>} : tensor<f32> -> tensor<7x40xf32>
        %h = weir.add %a, %e : tensor<7x40xf32>
        %i = weir.mul %h, %g : tensor<7x40xf32>
        weir.yield %i : tensor<7x40xf32>
      }
      return %k : tensor<7x40xf32>
    })");
  ASSERT_TRUE(kernel.valid);
  ASSERT_EQ(kernel.plan.inPlace.size(), 1u);
  EXPECT_EQ(kernel.plan.inPlace[0], (std::pair{0u, 0u}));
  auto x = randomFloats(280, 1), b = randomFloats(40, 2);
  std::vector<float> s{3};
  std::vector<double> expected;
  for (int i = 0; i < 280; ++i)
    expected.push_back((double(x[i]) + b[i % 40]) * 3);
  auto results = kernel.run({Bytes(x), Bytes(b), Bytes(s)});
  EXPECT_LT(difference(results[0].as<float>(), expected), 2e-7);
  EXPECT_TRUE(results[0].intact());
}

TEST(Map, readsThroughViews) {
  // Heads out of a fused projection: slice, split, transpose.
  CompiledKernel kernel(R"(
    func.func @f(%x: tensor<3x5x24xf32>) -> tensor<3x2x5x4xf32> {
      %k = weir.kernel map(%x) : (tensor<3x5x24xf32>) -> tensor<3x2x5x4xf32> {
      ^bb0(%a: tensor<3x5x24xf32>):
        %b = weir.slice %a {offsets = array<i64: 0, 0, 8>, strides = array<i64: 1, 1, 1>} : tensor<3x5x24xf32> -> tensor<3x5x8xf32>
        %c = weir.split_dim %b {dimension = 2 : i64, sizes = array<i64: 2, 4>} : tensor<3x5x8xf32> -> tensor<3x5x2x4xf32>
        %d = weir.transpose %c {permutation = array<i64: 0, 2, 1, 3>} : tensor<3x5x2x4xf32> -> tensor<3x2x5x4xf32>
        weir.yield %d : tensor<3x2x5x4xf32>
      }
      return %k : tensor<3x2x5x4xf32>
    })");
  ASSERT_TRUE(kernel.valid);
  auto x = randomFloats(3 * 5 * 24, 1);
  std::vector<double> expected;
  for (int b = 0; b < 3; ++b)
    for (int h = 0; h < 2; ++h)
      for (int t = 0; t < 5; ++t)
        for (int d = 0; d < 4; ++d)
          expected.push_back(x[(b * 5 + t) * 24 + 8 + h * 4 + d]);
  auto results = kernel.run({Bytes(x)});
  EXPECT_EQ(difference(results[0].as<float>(), expected), 0);
}

TEST(Map, concatenatesAndPads) {
  CompiledKernel kernel(R"(
    func.func @f(%x: tensor<6x20xf32>, %z: tensor<6x13xf32>) -> (tensor<6x33xf32>, tensor<6x33xf32>) {
      %k:2 = weir.kernel map(%x, %z) : (tensor<6x20xf32>, tensor<6x13xf32>) -> (tensor<6x33xf32>, tensor<6x33xf32>) {
      ^bb0(%a: tensor<6x20xf32>, %b: tensor<6x13xf32>):
        %c = weir.concat %a, %b {dimension = 1 : i64} : tensor<6x20xf32>, tensor<6x13xf32> -> tensor<6x33xf32>
        %d = weir.pad %a {offsets = array<i64: 0, 10>, strides = array<i64: 1, 1>} : tensor<6x20xf32> -> tensor<6x33xf32>
        weir.yield %c, %d : tensor<6x33xf32>, tensor<6x33xf32>
      }
      return %k#0, %k#1 : tensor<6x33xf32>, tensor<6x33xf32>
    })");
  ASSERT_TRUE(kernel.valid);
  auto x = randomFloats(120, 1), z = randomFloats(78, 2);
  std::vector<double> joined, padded;
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 33; ++j) {
      joined.push_back(j < 20 ? x[i * 20 + j] : z[i * 13 + j - 20]);
      padded.push_back(j >= 10 && j < 30 ? x[i * 20 + j - 10] : 0);
    }
  auto results = kernel.run({Bytes(x), Bytes(z)});
  EXPECT_EQ(difference(results[0].as<float>(), joined), 0);
  EXPECT_EQ(difference(results[1].as<float>(), padded), 0);
  EXPECT_TRUE(results[0].intact() && results[1].intact());
}

TEST(Map, gathersRows) {
  CompiledKernel kernel(R"(
    func.func @f(%x: tensor<11x40xf32>, %i: tensor<3x4xi32>) -> tensor<3x4x40xf32> {
      %k = weir.kernel map(%x, %i) : (tensor<11x40xf32>, tensor<3x4xi32>) -> tensor<3x4x40xf32> {
      ^bb0(%a: tensor<11x40xf32>, %b: tensor<3x4xi32>):
        %c = weir.gather %a, %b : tensor<11x40xf32>, tensor<3x4xi32> -> tensor<3x4x40xf32>
        weir.yield %c : tensor<3x4x40xf32>
      }
      return %k : tensor<3x4x40xf32>
    })");
  ASSERT_TRUE(kernel.valid);
  auto x = randomFloats(440, 1);
  auto i = randomInts(12, 2, 11);
  std::vector<double> expected;
  for (int at : i)
    for (int j = 0; j < 40; ++j)
      expected.push_back(x[at * 40 + j]);
  auto results = kernel.run({Bytes(x), Bytes(i)});
  EXPECT_EQ(difference(results[0].as<float>(), expected), 0);
}

TEST(Map, comparesAndCastsBytes) {
  CompiledKernel kernel(R"(
    func.func @f(%x: tensor<77xui8>, %y: tensor<77xf32>) -> (tensor<77xi1>, tensor<77xf32>) {
      %k:2 = weir.kernel map(%x, %y) : (tensor<77xui8>, tensor<77xf32>) -> (tensor<77xi1>, tensor<77xf32>) {
      ^bb0(%a: tensor<77xui8>, %b: tensor<77xf32>):
        %c = weir.cast %a : tensor<77xui8> -> tensor<77xf32>
        %d = weir.compare lt %c, %b : tensor<77xf32> -> tensor<77xi1>
        %e = weir.select %d, %c, %b : tensor<77xi1>, tensor<77xf32>
        weir.yield %d, %e : tensor<77xi1>, tensor<77xf32>
      }
      return %k#0, %k#1 : tensor<77xi1>, tensor<77xf32>
    })");
  ASSERT_TRUE(kernel.valid);
  std::vector<unsigned char> x(77);
  auto y = randomFloats(77, 3, 0, 255);
  for (int i = 0; i < 77; ++i)
    x[i] = (i * 37) % 256;
  auto results = kernel.run({Bytes(x), Bytes(y)});
  for (int i = 0; i < 77; ++i) {
    EXPECT_EQ(results[0].as<unsigned char>()[i], float(x[i]) < y[i]);
    EXPECT_EQ(results[1].as<float>()[i], std::min(float(x[i]), y[i]));
  }
  EXPECT_TRUE(results[0].intact());
}

TEST(Map, drawsTheSameNumbersWhereverTheyAreDrawn) {
  // The second half of a draw of 200 is the draw of 100 in round 1.
  auto text = [](int n) {
    std::string t = "tensor<" + std::to_string(n) + "xf32>", i = "tensor<i32>";
    return "func.func @f(%a: " + i + ", %b: " + i + ", %c: " + i + ") -> (" + t + ", " + t +
           ") {\n %k:2 = weir.kernel map(%a, %b, %c) : (" + i + ", " + i + ", " + i + ") -> (" + t +
           ", " + t + ") {\n ^bb0(%x: " + i + ", %y: " + i + ", %z: " + i +
           "):\n %u = weir.random uniform seed %x step %y round %z {key = 77 : i64} : (" + i +
           ", " + i + ", " + i + ") -> " + t +
           "\n %n = weir.random normal seed %x step %y round %z {key = 78 : i64} : (" + i + ", " +
           i + ", " + i + ") -> " + t + "\n weir.yield %u, %n : " + t + ", " + t +
           "\n }\n return %k#0, %k#1 : " + t + ", " + t + "\n}";
  };
  CompiledKernel whole(text(200)), half(text(100));
  ASSERT_TRUE(whole.valid && half.valid);
  std::vector<int32_t> seed{5}, step{9}, first{0}, second{1};
  auto all = whole.run({Bytes(seed), Bytes(step), Bytes(first)});
  auto rest = half.run({Bytes(seed), Bytes(step), Bytes(second)});
  EXPECT_EQ(std::memcmp(all[0].as<float>() + 100, rest[0].data(), 400), 0);
  EXPECT_EQ(std::memcmp(all[1].as<float>() + 100, rest[1].data(), 400), 0);
  double mean = 0, square = 0, uniform = 0;
  for (int i = 0; i < 200; ++i) {
    uniform += all[0].as<float>()[i] / 200;
    mean += all[1].as<float>()[i] / 200;
    square += std::pow(all[1].as<float>()[i], 2) / 200;
    EXPECT_TRUE(all[0].as<float>()[i] >= 0 && all[0].as<float>()[i] < 1);
  }
  EXPECT_NEAR(uniform, 0.5, 0.1);
  EXPECT_NEAR(mean, 0, 0.25);
  EXPECT_NEAR(square, 1, 0.35);
}

TEST(Map, computesScalars) {
  CompiledKernel kernel(R"(
    func.func @f(%x: tensor<f32>, %i: tensor<i32>) -> tensor<f32> {
      %k = weir.kernel map(%x, %i) : (tensor<f32>, tensor<i32>) -> tensor<f32> {
      ^bb0(%a: tensor<f32>, %b: tensor<i32>):
        %c = weir.cast %b : tensor<i32> -> tensor<f32>
        %d = weir.pow %a, %c : tensor<f32>
        %e = weir.cos %d : tensor<f32>
        weir.yield %e : tensor<f32>
      }
      return %k : tensor<f32>
    })");
  ASSERT_TRUE(kernel.valid);
  std::vector<float> x{0.9f};
  std::vector<int32_t> i{5};
  auto results = kernel.run({Bytes(x), Bytes(i)});
  EXPECT_NEAR(results[0].as<float>()[0], std::cos(std::pow(0.9, 5)), 1e-6);
}

} // namespace
} // namespace weir
