//===- InterpreterTest.cpp - The reference interpreter on known values ----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/Diagnostics.h"
#include "test/ir/reference/Fixture.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace weir;

namespace {

using Reference = ReferenceFixture;

TEST_F(Reference, everyOpHasSemantics) {
  // What is no computation: a declaration and a terminator.
  llvm::StringSet<> none = {"weir.variable", "weir.yield"};
  unsigned ops = 0;
  for (mlir::RegisteredOperationName name : context.getRegisteredOperations())
    if (name.getDialectNamespace() == "weir") {
      ++ops;
      EXPECT_EQ(name.hasInterface<Interpretable>(), !none.contains(name.getStringRef()))
          << name.getStringRef().str();
    }
  EXPECT_GT(ops, 60u);
}

TEST_F(Reference, arithmetic) {
  auto result = run(R"(func.func @f(%a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<f32> {
    %p = weir.mul %a, %b : tensor<3xf32>
    %s = weir.reduce sum %p {axes = array<i64: 0>} : tensor<3xf32> -> tensor<f32>
    return %s : tensor<f32>
  })",
                    {vector({1, 2, 3}), vector({4, 5, 6})});
  ASSERT_TRUE(mlir::succeeded(result));
  EXPECT_EQ((*result)[0].values, std::vector<double>{32});
}

TEST_F(Reference, integersWrapAround) {
  auto result = run(
      R"(func.func @f(%a: tensor<2xi32>, %b: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) {
    %m = weir.mul %a, %b : tensor<2xi32>
    %d = weir.div %a, %b : tensor<2xi32>
    %r = weir.rem %a, %b : tensor<2xi32>
    return %m, %d, %r : tensor<2xi32>, tensor<2xi32>, tensor<2xi32>
  })",
      {vector({65536, -7}), vector({65536, 2})});
  ASSERT_TRUE(mlir::succeeded(result));
  EXPECT_EQ((*result)[0].values, (std::vector<double>{0, -14}));
  EXPECT_EQ((*result)[1].values, (std::vector<double>{1, -3}));
  EXPECT_EQ((*result)[2].values, (std::vector<double>{0, -1}));
}

TEST_F(Reference, packedRowsStandSideBySide) {
  auto result = run(
      R"(func.func @f(%a: tensor<2xf32>, %b: tensor<3xf32>) -> (tensor<2x2xf32>, tensor<2x1xf32>, tensor<2x1xf32>) {
    %p = weir.pack %a, %b : tensor<2xf32>, tensor<3xf32> -> tensor<5xf32>
    %x, %one, %y = weir.unpack %p : tensor<5xf32> -> tensor<2xf32>, tensor<1xf32>, tensor<2xf32>
    %c = weir.split_dim %x {dimension = 0 : i64, sizes = array<i64: 2, 1>} : tensor<2xf32> -> tensor<2x1xf32>
    %d = weir.split_dim %y {dimension = 0 : i64, sizes = array<i64: 2, 1>} : tensor<2xf32> -> tensor<2x1xf32>
    %q = weir.pack %c, %d : tensor<2x1xf32>, tensor<2x1xf32> -> tensor<2x2xf32>
    %e, %f = weir.unpack %q : tensor<2x2xf32> -> tensor<2x1xf32>, tensor<2x1xf32>
    return %q, %e, %f : tensor<2x2xf32>, tensor<2x1xf32>, tensor<2x1xf32>
  })",
      {vector({1, 2}), vector({3, 4, 5})});
  ASSERT_TRUE(mlir::succeeded(result));
  EXPECT_EQ((*result)[0].values, (std::vector<double>{1, 4, 2, 5}));
  EXPECT_EQ((*result)[1].values, (std::vector<double>{1, 2}));
  EXPECT_EQ((*result)[2].values, (std::vector<double>{4, 5}));
}

TEST_F(Reference, whatIsMadeOfAnUnknownIntegerIsUnknown) {
  auto result = run(
      R"(func.func @f(%a: tensor<2xi32>, %b: tensor<2xi1>, %c: tensor<2xf32>) -> (tensor<2xi32>, tensor<2xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi1>, tensor<2xi32>) {
    %add = weir.add %a, %a : tensor<2xi32>
    %not = weir.not %b : tensor<2xi1>
    %and = weir.and %b, %b : tensor<2xi1>
    %less = weir.compare lt %a, %a : tensor<2xi32> -> tensor<2xi1>
    %select = weir.select %b, %c, %c : tensor<2xi1>, tensor<2xf32>
    %cast = weir.cast %b : tensor<2xi1> -> tensor<2xi32>
    %neg = weir.neg %a : tensor<2xi32>
    %nan = weir.compare ne %c, %c : tensor<2xf32> -> tensor<2xi1>
    %whole = weir.cast %c : tensor<2xf32> -> tensor<2xi32>
    return %add, %not, %and, %less, %select, %cast, %neg, %nan, %whole : tensor<2xi32>, tensor<2xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi1>, tensor<2xi32>
  })",
      {vector({NAN, 2}), vector({NAN, 1}), vector({1, NAN})});
  ASSERT_TRUE(mlir::succeeded(result));
  for (size_t i = 0; i < 7; ++i) {
    EXPECT_TRUE(std::isnan((*result)[i].values[0])) << i;
    EXPECT_EQ(std::isnan((*result)[i].values[1]), i == 4) << i;
  }
  // Of a real number NaN is a value.
  EXPECT_EQ((*result)[7].values, (std::vector<double>{0, 1}));
  EXPECT_EQ((*result)[8].values, (std::vector<double>{1, INT32_MIN}));
}

TEST_F(Reference, readsSeeOldValuesAndWritesComeAfter) {
  interpreter.variables["w"] = vector({1, 2});
  auto result = run(R"(weir.variable parameter @w : tensor<2xf32>
  func.func @f() -> tensor<2xf32> {
    %a = weir.read @w : tensor<2xf32>
    %s = weir.add %a, %a : tensor<2xf32>
    weir.write @w, %s : tensor<2xf32>
    %b = weir.read @w : tensor<2xf32>
    return %b : tensor<2xf32>
  })",
                    {});
  ASSERT_TRUE(mlir::succeeded(result));
  EXPECT_EQ((*result)[0].values, (std::vector<double>{1, 2}));
  EXPECT_EQ(interpreter.variables["w"].values, (std::vector<double>{2, 4}));
}

TEST_F(Reference, aVariableWithoutValueIsAnError) {
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    message = diagnostic.str();
    return mlir::success();
  });
  auto result = run(R"(weir.variable parameter @w : tensor<2xf32>
  func.func @f() -> tensor<2xf32> {
    %a = weir.read @w : tensor<2xf32>
    return %a : tensor<2xf32>
  })",
                    {});
  EXPECT_TRUE(mlir::failed(result));
  EXPECT_EQ(message, "'weir.read' op reads a variable that has no value yet");
}

TEST_F(Reference, microbatchesSumAndCarry) {
  auto result =
      run(R"(func.func @f(%x: tensor<4xf32>, %c: tensor<i32>) -> (tensor<f32>, tensor<i32>) {
    %r:2 = weir.microbatches 2 sliced(%x) carried(%c) : (tensor<4xf32>, tensor<i32>) -> (tensor<f32>, tensor<i32>) {
    ^bb0(%round: tensor<i32>, %part: tensor<2xf32>, %count: tensor<i32>):
      %s = weir.reduce sum %part {axes = array<i64: 0>} : tensor<2xf32> -> tensor<f32>
      %n = weir.sub %round, %count : tensor<i32>
      weir.yield %s, %n : tensor<f32>, tensor<i32>
    }
    return %r#0, %r#1 : tensor<f32>, tensor<i32>
  })",
          {vector({1, 2, 3, 4}), Tensor({}, 10)});
  ASSERT_TRUE(mlir::succeeded(result));
  EXPECT_EQ((*result)[0].values, std::vector<double>{10});
  // 0 - 10 in the first round, 1 - -10 in the second.
  EXPECT_EQ((*result)[1].values, std::vector<double>{11});
}

// The first words of Philox4x32-10 with key (0, 0) and counter 0 are 6627e8d5 e169c58d (Random123's
// known answers).
TEST_F(Reference, randomIsPhilox) {
  auto result = run(R"(func.func @f(%z: tensor<i32>) -> (tensor<f32>, tensor<f32>) {
    %u = weir.random uniform seed %z step %z round %z {key = 0 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<f32>
    %n = weir.random normal seed %z step %z round %z {key = 0 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<f32>
    return %u, %n : tensor<f32>, tensor<f32>
  })",
                    {Tensor({}, 0)});
  ASSERT_TRUE(mlir::succeeded(result));
  double u = 0x6627e8 * 0x1p-24, v = 0xe169c5 * 0x1p-24;
  EXPECT_EQ((*result)[0].values[0], u);
  EXPECT_NEAR((*result)[1].values[0],
              std::sqrt(-2 * std::log(u + 0x1p-24)) * std::cos(2 * M_PI * v), 1e-12);
}

// Rounds continue the element index: two rounds of three elements are one draw of six.
TEST_F(Reference, randomCountsOnOverRounds) {
  auto result = run(
      R"(func.func @f(%seed: tensor<i32>, %zero: tensor<i32>, %one: tensor<i32>) -> (tensor<6xf32>, tensor<3xf32>) {
    %a = weir.random uniform seed %seed step %one round %zero {key = 77 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6xf32>
    %b = weir.random uniform seed %seed step %one round %one {key = 77 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3xf32>
    return %a, %b : tensor<6xf32>, tensor<3xf32>
  })",
      {Tensor({}, 5), Tensor({}, 0), Tensor({}, 1)});
  ASSERT_TRUE(mlir::succeeded(result));
  const std::vector<double> &whole = (*result)[0].values;
  EXPECT_EQ((*result)[1].values, std::vector<double>(whole.begin() + 3, whole.end()));
}

} // namespace
