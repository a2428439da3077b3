//===- RoundingTest.cpp - Ops as an f32 machine would round them ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/Rounding.h"
#include "ir/weir/kernel/Kernel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace weir;

namespace {

/// The first element of @f's first result in a machine of that number, none for an exact one; NaN
/// where it fails.
double evaluated(const std::string &program, ArrayRef<Tensor> inputs, std::optional<int> trial) {
  DialectRegistry registry;
  registerReferenceInterpreter(registry);
  MLIRContext context(registry);
  context.loadDialect<WeirDialect, func::FuncDialect>();
  auto module = parseSourceString<ModuleOp>(program, ParserConfig(&context));
  Interpreter interpreter;
  if (trial)
    roundLikeF32(interpreter, *trial);
  auto results = module ? interpreter.run(module->lookupSymbol<func::FuncOp>("f"), inputs)
                        : FailureOr<Tensors>(failure());
  return succeeded(results) ? (*results)[0].values[0] : NAN;
}

Tensor tensor(Shape shape, std::vector<double> values) {
  Tensor tensor(shape);
  tensor.values = values;
  return tensor;
}

/// Whether that element is off by a part of 1 though it is much smaller.
void isOffByItsSum(const std::string &program, ArrayRef<Tensor> inputs) {
  double exact = evaluated(program, inputs, std::nullopt), largest = 0;
  EXPECT_LT(std::fabs(exact), 1e-4);
  for (int trial = 0; trial < 9; ++trial)
    largest = std::max(largest, std::fabs(evaluated(program, inputs, trial) - exact));
  EXPECT_GT(largest, 0x1p-25);
  EXPECT_LT(largest, 0x1p-20);
}

} // namespace

TEST(Rounding, LogarithmsOfSumsAreOffByTheSum) {
  Tensor sure = tensor({1, 3}, {12, 0, 1});
  isOffByItsSum(R"(func.func @f(%x: tensor<1x3xf32>) -> tensor<1x3xf32> {
    %0 = weir.log_softmax %x : tensor<1x3xf32>
    return %0 : tensor<1x3xf32>
  })",
                {sure});
  isOffByItsSum(
      R"(func.func @f(%x: tensor<1x3xf32>, %l: tensor<1xi32>) -> (tensor<1xf32>, tensor<1xf32>) {
    %0, %1 = weir.softmax_cross_entropy %x, %l : tensor<1x3xf32>, tensor<1xi32> -> tensor<1xf32>
    return %0, %1 : tensor<1xf32>, tensor<1xf32>
  })",
      {sure, tensor({1}, {0})});
}

// 1 + 2^-11 is the middle of two floats of 11 bits: what is within f32's reach of it may become
// either.
TEST(Rounding, AStepOfLowPrecisionIsAllowedBesideItsMiddleAlone) {
  DialectRegistry registry;
  registerReferenceInterpreter(registry);
  MLIRContext context(registry);
  context.loadDialect<WeirDialect, func::FuncDialect>();
  auto module = parseSourceString<ModuleOp>(R"(
    func.func @f(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf16> {
      %0 = weir.kernel map (%x, %y) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf16> {
      ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>):
        %p = weir.mul %a, %b : tensor<3xf32>
        %low = weir.cast %p : tensor<3xf32> -> tensor<3xf16>
        weir.yield %low : tensor<3xf16>
      }
      return %0 : tensor<3xf16>
    })",
                                            ParserConfig(&context));
  ASSERT_TRUE(module);
  KernelOp kernel;
  module->walk([&](KernelOp op) { kernel = op; });
  // One and a half units of f32 above it and below it, and three hundred.
  Tensors inputs = {tensor({3}, {1.5, 1.5, 1.5}),
                    tensor({3}, {11190274 * 0x1p-24, 11190270 * 0x1p-24, 11190672 * 0x1p-24})};
  Interpreter interpreter;
  FailureOr<Tensors> truth = evaluateExactly(kernel, inputs, interpreter);
  ASSERT_TRUE(succeeded(truth));
  EXPECT_EQ((*truth)[0].values, (std::vector<double>{1 + 0x1p-10, 1, 1 + 0x1p-10}));
  FailureOr<Tensors> allowed = roundingAllowance(kernel, inputs, *truth, *truth, interpreter,
                                                 [](const Tensors &) { return false; });
  ASSERT_TRUE(succeeded(allowed));
  EXPECT_GE((*allowed)[0].values[0], 0x1p-10);
  EXPECT_GE((*allowed)[0].values[1], 0x1p-10);
  EXPECT_EQ((*allowed)[0].values[2], 0);
}
