//===- GradientOpTest.cpp - What weir.gradient means ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gradients of the reference interpreter, before any pass, against derivatives known from a book.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/program/Gradient.h"
#include "test/ir/reference/Fixture.h"
#include <cmath>

using namespace weir;

namespace {

class GradientOps : public ReferenceFixture {
protected:
  static void expect(const mlir::FailureOr<Tensors> &results, unsigned number,
                     std::vector<double> values) {
    ASSERT_TRUE(mlir::succeeded(results));
    ASSERT_EQ((*results)[number].values.size(), values.size());
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR((*results)[number].values[i], values[i], 1e-8 * (1 + std::abs(values[i])))
          << "element " << i;
  }
};

// sum(x^2 y): what leads to the loss is used up before the gradient op, which needs it again.
const char *product = R"(func.func @f(%x: tensor<3xf32>, %y: tensor<3xf32>)
    -> (tensor<3xf32>, tensor<3xf32>, tensor<f32>) {
  %s = weir.mul %x, %x : tensor<3xf32>
  %p = weir.mul %s, %y : tensor<3xf32>
  %loss = weir.reduce sum %p {axes = array<i64: 0>} : tensor<3xf32> -> tensor<f32>
  %dx, %dy = weir.gradient %loss wrt (%x, %y) : (tensor<f32>, tensor<3xf32>, tensor<3xf32>)
      -> (tensor<3xf32>, tensor<3xf32>)
  return %dx, %dy, %loss : tensor<3xf32>, tensor<3xf32>, tensor<f32>
})";

TEST_F(GradientOps, areDerivativesOfTheLoss) {
  auto results = run(product, {vector({1, -2, 0.5}), vector({3, 1, -1})});
  expect(results, 0, {6, -4, -1});
  expect(results, 1, {1, 4, 0.25});
  expect(results, 2, {3 + 4 - 0.25});
}

// Both halves of x + stop(x) have slope 1, but only one of them counts.
TEST_F(GradientOps, doNotFlowThroughStopGradient) {
  auto results = run(R"(func.func @f(%x: tensor<f32>) -> tensor<f32> {
    %e = weir.exp %x : tensor<f32>
    %s = weir.stop_gradient %e : tensor<f32>
    %p = weir.mul %e, %s : tensor<f32>
    %d = weir.gradient %p wrt (%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %d : tensor<f32>
  })",
                     {Tensor({}, 0.5)});
  expect(results, 0, {std::exp(1)});
}

// Elements next to each other change places within a difference's step; what was chosen stays.
TEST_F(GradientOps, areOfWhatWasChosen) {
  auto results = run(R"(func.func @f(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %largest = weir.reduce max %x {axes = array<i64: 0>} : tensor<2xf32> -> tensor<f32>
    %square = weir.mul %largest, %largest : tensor<f32>
    %dx = weir.gradient %square wrt (%x) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
    %zero = weir.constant 0.0 : f32 -> tensor<2xf32>
    %positive = weir.compare gt %x, %zero : tensor<2xf32> -> tensor<2xi1>
    %twice = weir.add %x, %x : tensor<2xf32>
    %leaky = weir.select %positive, %twice, %x : tensor<2xi1>, tensor<2xf32>
    %loss = weir.reduce sum %leaky {axes = array<i64: 0>} : tensor<2xf32> -> tensor<f32>
    %dl = weir.gradient %loss wrt (%x) : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
    return %dx, %dl : tensor<2xf32>, tensor<2xf32>
  })",
                     {vector({1e-7, -1e-7})});
  expect(results, 0, {2e-7, 0});
  expect(results, 1, {2, 1});
}

// %b is computed from %a, and takes part in %a's gradient; %c leads nowhere.
TEST_F(GradientOps, ofValuesInTheMiddle) {
  auto results = run(R"(func.func @f(%x: tensor<f32>, %c: tensor<2xf32>)
      -> (tensor<f32>, tensor<f32>, tensor<2xf32>) {
    %a = weir.sin %x : tensor<f32>
    %b = weir.mul %a, %a : tensor<f32>
    %loss = weir.mul %a, %b : tensor<f32>
    %da, %db, %dc = weir.gradient %loss wrt (%a, %b, %c)
        : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<2xf32>)
        -> (tensor<f32>, tensor<f32>, tensor<2xf32>)
    return %da, %db, %dc : tensor<f32>, tensor<f32>, tensor<2xf32>
  })",
                     {Tensor({}, 1), vector({7, 8})});
  double a = std::sin(1.0);
  expect(results, 0, {3 * a * a});
  expect(results, 1, {a});
  expect(results, 2, {0, 0});
}

// The gradient stands in the body, and what it leads through partly outside. Rows 1, 2 | 3, 4.
TEST_F(GradientOps, ofMicrobatches) {
  auto results = run(R"(func.func @f(%all: tensor<4xf32>, %w: tensor<f32>) -> tensor<f32> {
    %e = weir.exp %w : tensor<f32>
    %q = weir.mul %e, %e : tensor<f32>
    %sum = weir.microbatches 2 sliced(%all) carried() : (tensor<4xf32>) -> tensor<f32> {
    ^bb0(%round: tensor<i32>, %x: tensor<2xf32>):
      %wide = weir.broadcast %q {dimensions = array<i64>} : tensor<f32> -> tensor<2xf32>
      %y = weir.mul %x, %wide : tensor<2xf32>
      %s = weir.mul %y, %y : tensor<2xf32>
      %loss = weir.reduce sum %s {axes = array<i64: 0>} : tensor<2xf32> -> tensor<f32>
      %d = weir.gradient %loss wrt (%w) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      weir.yield %d : tensor<f32>
    }
    return %sum : tensor<f32>
  })",
                     {vector({1, 2, 3, 4}), Tensor({}, 0.25)});
  // d/dw sum(x^2) exp(4 w)
  expect(results, 0, {30 * 4 * std::exp(1.0)});
}

// The mixed second derivative of exp(x) w^2. What w leads through is read again for every x.
TEST_F(GradientOps, ofGradients) {
  auto results = run(R"(func.func @f(%x: tensor<f32>, %w: tensor<f32>) -> tensor<f32> {
    %k = weir.mul %w, %w : tensor<f32>
    %e = weir.exp %x : tensor<f32>
    %loss = weir.mul %e, %k : tensor<f32>
    %dw = weir.gradient %loss wrt (%w) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %dx = weir.gradient %dw wrt (%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %dx : tensor<f32>
  })",
                     {Tensor({}, 0.5), Tensor({}, 3)});
  ASSERT_TRUE(mlir::succeeded(results));
  EXPECT_NEAR((*results)[0].values[0], 6 * std::exp(0.5), 1e-4);
}

// At a tie, which the outer differences do not leave: the gradient goes to %x.
TEST_F(GradientOps, ofGradientsOfWhatWasChosen) {
  auto results = run(R"(func.func @f(%x: tensor<f32>, %w: tensor<f32>) -> tensor<f32> {
    %zero = weir.constant 0.0 : f32 -> tensor<f32>
    %relu = weir.max %x, %zero : tensor<f32>
    %k = weir.mul %w, %w : tensor<f32>
    %loss = weir.mul %relu, %k : tensor<f32>
    %dw = weir.gradient %loss wrt (%w) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %dx = weir.gradient %dw wrt (%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %dr = weir.gradient %loss wrt (%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %dd = weir.gradient %dr wrt (%x) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %sum = weir.add %dx, %dd : tensor<f32>
    return %sum : tensor<f32>
  })",
                     {Tensor({}, 0), Tensor({}, 3)});
  ASSERT_TRUE(mlir::succeeded(results));
  EXPECT_NEAR((*results)[0].values[0], 6, 1e-3);
}

TEST_F(GradientOps, mayBeSupplied) {
  double along = 0;
  unsigned observed = 0;
  interpreter.observe = [&](mlir::Operation *, llvm::ArrayRef<Tensor>) { ++observed; };
  interpreter.gradients = [&](GradientOp op, Interpreter &running) -> mlir::FailureOr<Tensors> {
    auto slope = directionalDerivative(op, Along{0, vector({1, 1, 2})}, running);
    EXPECT_TRUE(mlir::succeeded(slope));
    along = *slope;
    return Tensors{vector({1, 2, 3}), vector({4, 5, 6})};
  };
  auto results = run(product, {vector({1, -2, 0.5}), vector({3, 1, -1})});
  EXPECT_NEAR(along, 6 - 4 - 2, 1e-8);
  expect(results, 0, {1, 2, 3});
  expect(results, 1, {4, 5, 6});
  expect(results, 2, {3 + 4 - 0.25});
  EXPECT_EQ(observed, 4u) << "every op of the program, and none for what it would be otherwise";
}

} // namespace
