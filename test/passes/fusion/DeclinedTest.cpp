//===- DeclinedTest.cpp - Kernels that a target does not run --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A target that runs less than the processor does: what it declines becomes kernels of other
// shapes, and the program computes what the interpreter does.
//
//===----------------------------------------------------------------------===//

#include "codegen/NamedKernel.h"
#include "codegen/artifact/Writer.h"
#include "codegen/targets/Targets.h"
#include "ir/reference/Interpreter.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/product/Product.h"
#include "mlir/Parser/Parser.h"
#include "passes/Pipeline.h"
#include "test/passes/autodiff/GradientCheck.h"
#include "verify/Compiled.h"
#include <gtest/gtest.h>
#include <map>

using namespace mlir;
using namespace weir;
using namespace weir::test;

namespace {

/// The processor, without some of what it runs.
class Less : public Target {
public:
  std::optional<KernelShape> declined;
  bool bias = true, relu = true;

  llvm::StringRef requirement() const override { return whole->requirement(); }
  int64_t mostIndexed() const override { return whole->mostIndexed(); }
  plan::CodeFormat codeFormat() const override { return plan::CodeFormat::elf; }
  std::string declines(KernelShape shape, Operation *root) const override {
    return shape == declined ? "a shape that is not run" : whole->declines(shape, root);
  }
  Type factorType(Type low) const override { return whole->factorType(low); }
  bool multiplies(MatmulOp product, Type lhs, Type rhs) const override {
    return whole->multiplies(product, lhs, rhs);
  }
  bool takes(Operation *product, Epilogue epilogue) const override {
    return bool(epilogue.bias) <= bias && epilogue.relu <= relu && whole->takes(product, epilogue);
  }
  bool roundsFactors() const override { return whole->roundsFactors(); }
  const DeviceRates &rates() const override { return whole->rates(); }
  bool reducesInSteps() const override { return whole->reducesInSteps(); }
  bool stagesPorts() const override { return whole->stagesPorts(); }
  int64_t mostCopies(KernelOp kernel) const override { return whole->mostCopies(kernel); }
  bool isCall(KernelOp kernel) const override { return whole->isCall(kernel); }
  FailureOr<KernelPlan> planKernel(KernelOp kernel) override { return whole->planKernel(kernel); }
  FailureOr<int64_t> planCall(OpBuilder &builder, KernelOp kernel,
                              const CallBuffers &buffers) override {
    return whole->planCall(builder, kernel, buffers);
  }
  FailureOr<std::vector<char>> compile(ArrayRef<NamedKernel> kernels, DumpKernels dump,
                                       TimingScope time) override {
    return whole->compile(kernels, dump, std::move(time));
  }

private:
  std::shared_ptr<Target> whole = makeTarget("cpu");
};

constexpr llvm::StringLiteral everyRoot = R"(
func.func @f(%q: tensor<1x2x5x4xf32>, %k: tensor<1x2x7x4xf32>, %v: tensor<1x2x7x4xf32>,
             %g: tensor<1x2x5x4xf32>, %a: tensor<6x8xf32>, %b: tensor<8x3xf32>,
             %bias: tensor<3xf32>, %image: tensor<2x3x6x6xf32>, %filter: tensor<4x3x3x3xf32>)
    -> (tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x7x4xf32>, tensor<1x2x7x4xf32>,
        tensor<6x3xf32>, tensor<4x3xf32>, tensor<2x4x4x4xf32>) {
  %o, %l = weir.attention %q, %k, %v {scale = 0.5 : f64, causal}
      : tensor<1x2x5x4xf32>, tensor<1x2x7x4xf32> -> tensor<1x2x5xf32>
  %dq, %dk, %dv = weir.attention_grad %q, %k, %v, %o, %l, %g {scale = 0.5 : f64, causal}
      : tensor<1x2x5x4xf32>, tensor<1x2x7x4xf32>, tensor<1x2x5xf32>
  %p = weir.matmul %a, %b : tensor<6x8xf32>, tensor<8x3xf32> -> tensor<6x3xf32>
  %wide = weir.broadcast %bias {dimensions = array<i64: 1>} : tensor<3xf32> -> tensor<6x3xf32>
  %sum = weir.add %p, %wide : tensor<6x3xf32>
  %zero = weir.constant 0.0 : f32 -> tensor<6x3xf32>
  %relu = weir.max %zero, %sum : tensor<6x3xf32>
  %rows = weir.iota {dimension = 0} -> tensor<6xi32>
  %s = weir.segment_sum %relu, %rows : tensor<6x3xf32>, tensor<6xi32> -> tensor<4x3xf32>
  %y = weir.convolution %image, %filter {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>}
      : tensor<2x3x6x6xf32>, tensor<4x3x3x3xf32> -> tensor<2x4x4x4xf32>
  return %o, %dq, %dk, %dv, %relu, %s, %y
      : tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x7x4xf32>, tensor<1x2x7x4xf32>,
        tensor<6x3xf32>, tensor<4x3xf32>, tensor<2x4x4x4xf32>
})";

/// The kernels that the program becomes, by shape; what it computes is compared on the way.
std::map<KernelShape, int> kernelsOn(const std::shared_ptr<Less> &target) {
  MLIRContext context;
  prepareContext(context);
  auto module = parseSourceString<ModuleOp>(everyRoot, &context);
  if (!module) {
    ADD_FAILURE() << "the program is wrong";
    return {};
  }
  auto f = module->lookupSymbol<func::FuncOp>("f");
  Tensors inputs = variedInputs(f);
  auto expected = Interpreter().run(f, inputs);
  EXPECT_TRUE(succeeded(expected));
  completeProgram(*module);
  nameEntryPorts(*module);
  EXPECT_TRUE(succeeded(runPassGroups(*module, {.target = target}, "fuse")));
  std::map<KernelShape, int> kernels;
  module->walk([&](KernelOp kernel) { ++kernels[kernel.getShape()]; });
  for (StringRef pass : {"lower-to-plan", "assign-offsets", "verify-planned", "compile-kernels"})
    EXPECT_TRUE(succeeded(runPass(pass, *module, {.target = target}))) << pass.str();
  Tensors results = CompiledProgram(writeArtifact(*module)).run("f", inputs);
  EXPECT_EQ(results.size(), expected->size());
  for (size_t i = 0; i < results.size(); ++i)
    for (size_t j = 0; j < results[i].values.size(); ++j)
      EXPECT_NEAR(results[i].values[j], (*expected)[i].values[j], 1e-4) << i << ", " << j;
  return kernels;
}

TEST(Declined, IsComputedByOtherKernels) {
  std::map<KernelShape, int> whole = kernelsOn(std::make_shared<Less>());
  for (KernelShape shape :
       {KernelShape::attention, KernelShape::product, KernelShape::segment, KernelShape::call}) {
    EXPECT_GT(whole[shape], 0) << stringifyKernelShape(shape).str();
    auto target = std::make_shared<Less>();
    target->declined = shape;
    std::map<KernelShape, int> kernels = kernelsOn(target);
    EXPECT_EQ(kernels[shape], 0) << stringifyKernelShape(shape).str();
    EXPECT_GT(kernels[KernelShape::nest] + kernels[KernelShape::product],
              whole[KernelShape::nest] + (shape == KernelShape::product ? 0 : 1))
        << stringifyKernelShape(shape).str();
  }
}

TEST(Declined, EpiloguesAreKernelsOfTheirOwn) {
  auto kernels = [](bool bias, bool relu) {
    auto target = std::make_shared<Less>();
    target->bias = bias;
    target->relu = relu;
    return kernelsOn(target)[KernelShape::map];
  };
  int whole = kernels(true, true);
  EXPECT_EQ(kernels(true, false), whole + 1);
  // Bias and relu are one map.
  EXPECT_EQ(kernels(false, false), whole + 1);
}

} // namespace
