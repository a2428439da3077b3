//===- OutlineMathTest.cpp - Elementary functions that a kernel calls -----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Lower.h"
#include "test/codegen/cpu/KernelHarness.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;

namespace weir {
namespace {

std::string repeated(const std::string &line, int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += line;
  return text;
}

struct Outlined {
  size_t functions = 0, calls = 0, inPlace = 0;
  friend bool operator==(const Outlined &, const Outlined &) = default;
  friend void PrintTo(const Outlined &o, std::ostream *out) {
    *out << o.functions << " functions, " << o.calls << " calls, " << o.inPlace << " in place";
  }
};

Outlined outlinedOf(const std::string &body) {
  MLIRContext context;
  context.loadDialect<arith::ArithDialect, func::FuncDialect, math::MathDialect,
                      vector::VectorDialect>();
  auto module = parseSourceString<ModuleOp>(
      "func.func @k(%x: f32, %v: vector<8xf32>) {\n%two = arith.constant 2.0 : f32\n" + body +
          "return\n}",
      &context);
  EXPECT_TRUE(module);
  outlineMath(*module);
  EXPECT_TRUE(succeeded(verify(*module)));
  Outlined found;
  for (auto function : module->getOps<func::FuncOp>()) {
    found.functions += function.isPrivate();
    function.walk([&](Operation *op) {
      found.calls += isa<func::CallOp>(op);
      found.inPlace +=
          !function.isPrivate() && isa_and_nonnull<math::MathDialect>(op->getDialect());
    });
  }
  return found;
}

TEST(OutlineMath, isOfWhatAKernelComputesOften) {
  const std::string tanh = "math.tanh %x : f32\n", vectors = "math.tanh %v : vector<8xf32>\n";
  EXPECT_EQ(outlinedOf(repeated(tanh, 12)), (Outlined{0, 0, 12}));
  EXPECT_EQ(outlinedOf(repeated(tanh, 13)), (Outlined{1, 13, 0}));
  // One of scalars and one of vectors are two functions, each with a count of its own.
  EXPECT_EQ(outlinedOf(repeated(tanh, 13) + repeated(vectors, 12)), (Outlined{1, 13, 12}));
  EXPECT_EQ(outlinedOf(repeated(tanh, 13) + repeated(vectors, 20)), (Outlined{2, 33, 0}));
}

TEST(OutlineMath, leavesWhatIsShortInPlace) {
  // The exponent decides how a power is computed; a root is one instruction.
  EXPECT_EQ(outlinedOf(repeated("math.powf %x, %two : f32\n", 20)), (Outlined{0, 0, 20}));
  EXPECT_EQ(outlinedOf(repeated("math.powf %x, %x : f32\n", 20)), (Outlined{1, 20, 0}));
  EXPECT_EQ(outlinedOf(repeated("math.sqrt %x : f32\n", 20)), (Outlined{0, 0, 20}));
}

TEST(OutlineMath, aLongChainComputesTheSame) {
  std::string body = "    %v0 = weir.tanh %a : T\n";
  for (int i = 1; i < 40; ++i)
    body += "    %v" + std::to_string(i) + " = weir.tanh %v" + std::to_string(i - 1) + " : T\n";
  std::string text = "func.func @f(%x: T) -> T {\n  %k = weir.kernel map(%x) : (T) -> T {\n"
                     "  ^bb0(%a: T):\n" +
                     body + "    weir.yield %v39 : T\n  }\n  return %k : T\n}";
  for (size_t at; (at = text.find('T')) != std::string::npos;)
    text.replace(at, 1, "tensor<37xf32>");
  CompiledKernel kernel(text);
  ASSERT_TRUE(kernel.valid);
  auto x = randomFloats(37, 7, -3, 3);
  std::vector<double> expected(x.begin(), x.end());
  for (double &value : expected)
    for (int i = 0; i < 40; ++i)
      value = std::tanh(value);
  auto results = kernel.run({Bytes(x)});
  EXPECT_LT(difference(results[0].as<float>(), expected), 1e-6);
}

} // namespace
} // namespace weir
