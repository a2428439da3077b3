//===- AttentionTest.cpp - Attention kernels against plain loops ----------===//
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

struct Case {
  int64_t batch, heads, queries, keys, width;
  bool causal;
  const char *target;
};

std::string tensor(std::initializer_list<int64_t> shape) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + "f32>";
}

/// $Q, $K and $L become the types of query, key and log-sum-exp, $A the attributes.
std::string filled(std::string text, const Case &c) {
  std::pair<const char *, std::string> names[] = {
      {"$Q", tensor({c.batch, c.heads, c.queries, c.width})},
      {"$K", tensor({c.batch, c.heads, c.keys, c.width})},
      {"$L", tensor({c.batch, c.heads, c.queries})},
      {"$A", c.causal ? "{scale = 0.25 : f64, causal}" : "{scale = 0.25 : f64}"}};
  for (auto &[name, value] : names)
    for (size_t at; (at = text.find(name)) != std::string::npos;)
      text.replace(at, 2, value);
  return text;
}

struct Reference {
  std::vector<double> output, logSumExp, queryGrad, keyGrad, valueGrad;

  Reference(const Case &c, const std::vector<float> &q, const std::vector<float> &k,
            const std::vector<float> &v, const std::vector<float> &g)
      : output(q.size()), logSumExp(q.size() / c.width), queryGrad(q.size()), keyGrad(k.size()),
        valueGrad(k.size()) {
    for (int64_t head = 0; head < c.batch * c.heads; ++head)
      for (int64_t i = 0; i < c.queries; ++i) {
        size_t row = (head * c.queries + i) * c.width;
        auto keyRow = [&](int64_t j) { return (head * c.keys + j) * c.width; };
        int64_t seen = c.causal ? i + c.keys - c.queries + 1 : c.keys;
        std::vector<double> p(seen);
        double sum = 0;
        for (int64_t j = 0; j < seen; ++j) {
          double s = 0;
          for (int64_t e = 0; e < c.width; ++e)
            s += double(q[row + e]) * k[keyRow(j) + e];
          p[j] = std::exp(0.25 * s);
          sum += p[j];
        }
        logSumExp[head * c.queries + i] = std::log(sum);
        double d = 0;
        std::vector<double> slope(seen);
        for (int64_t j = 0; j < seen; ++j) {
          p[j] /= sum;
          for (int64_t e = 0; e < c.width; ++e) {
            output[row + e] += p[j] * v[keyRow(j) + e];
            slope[j] += double(g[row + e]) * v[keyRow(j) + e];
            valueGrad[keyRow(j) + e] += p[j] * g[row + e];
          }
          d += p[j] * slope[j];
        }
        for (int64_t j = 0; j < seen; ++j)
          for (int64_t e = 0; e < c.width; ++e) {
            queryGrad[row + e] += 0.25 * p[j] * (slope[j] - d) * k[keyRow(j) + e];
            keyGrad[keyRow(j) + e] += 0.25 * p[j] * (slope[j] - d) * q[row + e];
          }
      }
  }
};

std::vector<float> floats(const std::vector<double> &values) {
  return {values.begin(), values.end()};
}

class Attention : public testing::TestWithParam<Case> {};

TEST_P(Attention, forwardAndBackward) {
  Case c = GetParam();
  CompiledKernel forward(filled(R"(
    func.func @f(%q: $Q, %k: $K, %v: $K) -> ($Q, $L) {
      %r:2 = weir.kernel attention(%q, %k, %v) : ($Q, $K, $K) -> ($Q, $L) {
      ^bb0(%a: $Q, %b: $K, %c: $K):
        %o, %l = weir.attention %a, %b, %c $A : $Q, $K -> $L
        weir.yield %o, %l : $Q, $L
      }
      return %r#0, %r#1 : $Q, $L
    })",
                                c),
                         c.target);
  ASSERT_TRUE(forward.valid);
  CompiledKernel backward(filled(R"(
    func.func @f(%q: $Q, %k: $K, %v: $K, %o: $Q, %l: $L, %g: $Q) -> ($Q, $K, $K) {
      %r:3 = weir.kernel attention(%q, %k, %v, %o, %l, %g) : ($Q, $K, $K, $Q, $L, $Q) -> ($Q, $K, $K) {
      ^bb0(%a: $Q, %b: $K, %c: $K, %d: $Q, %e: $L, %h: $Q):
        %dq, %dk, %dv = weir.attention_grad %a, %b, %c, %d, %e, %h $A : $Q, $K, $L
        weir.yield %dq, %dk, %dv : $Q, $K, $K
      }
      return %r#0, %r#1, %r#2 : $Q, $K, $K
    })",
                                 c),
                          c.target);
  ASSERT_TRUE(backward.valid);
  size_t queries = c.batch * c.heads * c.queries * c.width,
         keys = c.batch * c.heads * c.keys * c.width;
  auto q = randomFloats(queries, 1), k = randomFloats(keys, 2), v = randomFloats(keys, 3),
       g = randomFloats(queries, 4);
  Reference expected(c, q, k, v, g);
  auto first = forward.run({Bytes(q), Bytes(k), Bytes(v)}),
       second = forward.run({Bytes(q), Bytes(k), Bytes(v)}, 3);
  EXPECT_LT(difference(first[0].as<float>(), expected.output), 2e-6);
  EXPECT_LT(difference(first[1].as<float>(), expected.logSumExp), 2e-6);
  EXPECT_TRUE(first[0].intact() && first[1].intact());
  EXPECT_EQ(std::memcmp(first[0].data(), second[0].data(), first[0].size()), 0);

  auto grads = backward.run({Bytes(q), Bytes(k), Bytes(v), Bytes(floats(expected.output)),
                             Bytes(floats(expected.logSumExp)), Bytes(g)});
  EXPECT_LT(difference(grads[0].as<float>(), expected.queryGrad), 5e-6);
  EXPECT_LT(difference(grads[1].as<float>(), expected.keyGrad), 5e-6);
  EXPECT_LT(difference(grads[2].as<float>(), expected.valueGrad), 5e-6);
  for (const Bytes &grad : grads)
    EXPECT_TRUE(grad.intact());
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, Attention,
    testing::Values(Case{1, 1, 1, 1, 1, true, "cpu"}, Case{2, 3, 17, 17, 8, true, "cpu"},
                    Case{1, 2, 64, 64, 32, true, "cpu"}, Case{3, 1, 65, 65, 40, true, "cpu"},
                    Case{1, 2, 5, 70, 16, true, "cpu"}, Case{2, 2, 33, 20, 100, false, "cpu"},
                    Case{1, 1, 130, 130, 64, true, "cpu"},
                    Case{2, 2, 33, 41, 24, true, "cpu:x86-64-v3"}));

TEST(AttentionLayouts, readsAndWritesThroughViews) {
  // q, k and v in one projection [b, t, 3 c]; the result leaves as [b, t, c]; the gradient as one
  // [b, t, 3 c].
  CompiledKernel forward(R"(
    func.func @f(%x: tensor<2x20x48xf32>) -> (tensor<2x20x16xf32>, tensor<2x2x20xf32>) {
      %r:2 = weir.kernel attention(%x) : (tensor<2x20x48xf32>) -> (tensor<2x20x16xf32>, tensor<2x2x20xf32>) {
      ^bb0(%a: tensor<2x20x48xf32>):
        %q0 = weir.slice %a {offsets = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>} : tensor<2x20x48xf32> -> tensor<2x20x16xf32>
        %k0 = weir.slice %a {offsets = array<i64: 0, 0, 16>, strides = array<i64: 1, 1, 1>} : tensor<2x20x48xf32> -> tensor<2x20x16xf32>
        %v0 = weir.slice %a {offsets = array<i64: 0, 0, 32>, strides = array<i64: 1, 1, 1>} : tensor<2x20x48xf32> -> tensor<2x20x16xf32>
        %q1 = weir.split_dim %q0 {dimension = 2 : i64, sizes = array<i64: 2, 8>} : tensor<2x20x16xf32> -> tensor<2x20x2x8xf32>
        %k1 = weir.split_dim %k0 {dimension = 2 : i64, sizes = array<i64: 2, 8>} : tensor<2x20x16xf32> -> tensor<2x20x2x8xf32>
        %v1 = weir.split_dim %v0 {dimension = 2 : i64, sizes = array<i64: 2, 8>} : tensor<2x20x16xf32> -> tensor<2x20x2x8xf32>
        %q = weir.transpose %q1 {permutation = array<i64: 0, 2, 1, 3>} : tensor<2x20x2x8xf32> -> tensor<2x2x20x8xf32>
        %k = weir.transpose %k1 {permutation = array<i64: 0, 2, 1, 3>} : tensor<2x20x2x8xf32> -> tensor<2x2x20x8xf32>
        %v = weir.transpose %v1 {permutation = array<i64: 0, 2, 1, 3>} : tensor<2x20x2x8xf32> -> tensor<2x2x20x8xf32>
        %o, %l = weir.attention %q, %k, %v {scale = 0.25 : f64, causal} : tensor<2x2x20x8xf32>, tensor<2x2x20x8xf32> -> tensor<2x2x20xf32>
        %o1 = weir.transpose %o {permutation = array<i64: 0, 2, 1, 3>} : tensor<2x2x20x8xf32> -> tensor<2x20x2x8xf32>
        %o2 = weir.merge_dims %o1 {first = 2 : i64, count = 2 : i64} : tensor<2x20x2x8xf32> -> tensor<2x20x16xf32>
        weir.yield %o2, %l : tensor<2x20x16xf32>, tensor<2x2x20xf32>
      }
      return %r#0, %r#1 : tensor<2x20x16xf32>, tensor<2x2x20xf32>
    })");
  ASSERT_TRUE(forward.valid);
  Case c{2, 2, 20, 20, 8, true, "cpu"};
  auto x = randomFloats(2 * 20 * 48, 5);
  std::vector<float> part[3];
  for (int which = 0; which < 3; ++which)
    for (int b = 0; b < 2; ++b)
      for (int h = 0; h < 2; ++h)
        for (int t = 0; t < 20; ++t)
          for (int e = 0; e < 8; ++e)
            part[which].push_back(x[(b * 20 + t) * 48 + which * 16 + h * 8 + e]);
  Reference expected(c, part[0], part[1], part[2], part[0]);
  std::vector<double> output(2 * 20 * 16);
  for (int b = 0; b < 2; ++b)
    for (int h = 0; h < 2; ++h)
      for (int t = 0; t < 20; ++t)
        for (int e = 0; e < 8; ++e)
          output[(b * 20 + t) * 16 + h * 8 + e] = expected.output[((b * 2 + h) * 20 + t) * 8 + e];
  auto results = forward.run({Bytes(x)});
  EXPECT_LT(difference(results[0].as<float>(), output), 2e-6);
  EXPECT_LT(difference(results[1].as<float>(), expected.logSumExp), 2e-6);
}

TEST(AttentionLayouts, writesGradientsSideBySide) {
  std::string body;
  const char *names[] = {"q", "k", "v"};
  for (int i = 0; i < 3; ++i) {
    std::string n = names[i];
    body +=
        "%" + n + "1 = weir.transpose %d" + n +
        " {permutation = array<i64: 0, 2, 1, 3>} : tensor<2x2x20x8xf32> -> "
        "tensor<2x20x2x8xf32>\n%" +
        n + "2 = weir.merge_dims %" + n +
        "1 {first = 2 : i64, count = 2 : i64} : tensor<2x20x2x8xf32> -> tensor<2x20x16xf32>\n%" +
        n + "3 = weir.pad %" + n + "2 {offsets = array<i64: 0, 0, " + std::to_string(16 * i) +
        ">, strides = array<i64: 1, 1, 1>} : tensor<2x20x16xf32> -> tensor<2x20x48xf32>\n";
  }
  std::string head = "tensor<2x2x20x8xf32>", row = "tensor<2x2x20xf32>",
              all = "tensor<2x20x48xf32>";
  std::string types = head + ", " + head + ", " + head + ", " + head + ", " + row + ", " + head;
  auto arguments = [&](const std::string &name) {
    std::string text;
    for (int i = 0; i < 6; ++i)
      text += (i ? ", %" : "%") + name + std::to_string(i) + ": " + (i == 4 ? row : head);
    return text;
  };
  CompiledKernel backward("func.func @f(" + arguments("x") + ") -> " + all +
                          " {\n%r = weir.kernel attention(%x0, %x1, %x2, %x3, %x4, %x5) : (" +
                          types + ") -> " + all + " {\n^bb0(" + arguments("a") +
                          "):\n%dq, %dk, %dv = weir.attention_grad %a0, %a1, %a2, %a3, %a4, %a5 "
                          "{scale = 0.25 : f64, causal} : " +
                          head + ", " + head + ", " + row + "\n" + body +
                          "%s = weir.add %v3, %q3 : " + all + "\n%t = weir.add %s, %k3 : " + all +
                          "\nweir.yield %t : " + all + "\n}\nreturn %r : " + all + "\n}");
  ASSERT_TRUE(backward.valid);
  Case c{2, 2, 20, 20, 8, true, "cpu"};
  auto q = randomFloats(640, 1), k = randomFloats(640, 2), v = randomFloats(640, 3),
       g = randomFloats(640, 4);
  Reference expected(c, q, k, v, g);
  std::vector<double> joined(2 * 20 * 48);
  for (int b = 0; b < 2; ++b)
    for (int h = 0; h < 2; ++h)
      for (int t = 0; t < 20; ++t)
        for (int e = 0; e < 8; ++e) {
          int from = ((b * 2 + h) * 20 + t) * 8 + e, to = (b * 20 + t) * 48 + h * 8 + e;
          joined[to] = expected.queryGrad[from];
          joined[to + 16] = expected.keyGrad[from];
          joined[to + 32] = expected.valueGrad[from];
        }
  auto results = backward.run({Bytes(q), Bytes(k), Bytes(v), Bytes(floats(expected.output)),
                               Bytes(floats(expected.logSumExp)), Bytes(g)});
  EXPECT_LT(difference(results[0].as<float>(), joined), 5e-6);
}

} // namespace
} // namespace weir
