//===- GradientTest.cpp - Every op's gradient -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All cases of an op are one module, so that one compile serves them.
//
//===----------------------------------------------------------------------===//

#include "ir/reference/Interpreter.h"
#include "ir/weir/elementwise/Unary.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "test/passes/autodiff/GradientCases.h"
#include "test/passes/autodiff/GradientCheck.h"
#include "verify/Compare.h"
#include "verify/Compiled.h"
#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace weir;
using namespace weir::test;

namespace {

std::vector<std::string> checkedOps() {
  std::set<std::string> ops;
  for (const OpCase &one : opCases())
    ops.insert(one.op);
  return {ops.begin(), ops.end()};
}

/// All cases of an op as one module.
struct Program {
  explicit Program(const std::string &op, size_t limit = 1000) {
    prepareContext(context);
    std::string text;
    for (const OpCase &one : opCases())
      if (one.op == op) {
        text += one.text + "\n";
        subjects.push_back({one.name, one.linear, gradientTolerance});
      }
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    llvm::erase_if(subjects, [&](const GradientSubject &subject) {
      auto function = module->lookupSymbol<mlir::func::FuncOp>(subject.name);
      int64_t elements = 0;
      for (mlir::Value argument : function.getArguments())
        elements += llvm::cast<mlir::ShapedType>(argument.getType()).getNumElements();
      if (elements > int64_t(limit))
        function.erase();
      return elements > int64_t(limit);
    });
  }
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<GradientSubject> subjects;
};

class Gradients : public testing::TestWithParam<std::string> {};

TEST_P(Gradients, areProven) {
  Program program(GetParam());
  EXPECT_EQ(lines(checkGradients(*program.module, program.subjects)), "");
}

// What the gradients are made of composes: the gradients of gradients, at the smaller sizes.
TEST_P(Gradients, haveGradients) {
  Program program(GetParam(), 100);
  ASSERT_GE(program.subjects.size(), 2u);
  for (GradientSubject &subject : program.subjects)
    subject.linear = 0;
  if (std::set<std::string>{"max_pool", "normalize", "softmax_cross_entropy", "attention"}.contains(
          GetParam())) {
    ASSERT_TRUE(takeGradients(*program.module, program.subjects));
    std::string message;
    mlir::ScopedDiagnosticHandler handler(&program.context, [&](mlir::Diagnostic &diagnostic) {
      message += diagnostic.str() + "\n";
      return mlir::success();
    });
    EXPECT_FALSE(takeGradients(*program.module, program.subjects));
    EXPECT_NE(message.find("'weir." + GetParam() +
                           "_grad' op has no gradient, and the loss "
                           "depends on a parameter through it"),
              std::string::npos)
        << message;
    return;
  }
  ASSERT_TRUE(takeGradients(*program.module, program.subjects));
  EXPECT_EQ(lines(checkGradients(*program.module, program.subjects)), "");
}

INSTANTIATE_TEST_SUITE_P(Every, Gradients, testing::ValuesIn(checkedOps()),
                         [](const auto &info) { return info.param; });

//===----------------------------------------------------------------------===//
// What is wrong is found
//===----------------------------------------------------------------------===//

/// The faults of tanh(a) * b with something wrong.
std::string faultsOf(const Tampering &tampering, unsigned linear = 0) {
  mlir::MLIRContext context;
  prepareContext(context);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      R"(func.func @f(%a: tensor<5xf32>, %b: tensor<5xf32>) -> tensor<5xf32> {
        %t = weir.tanh %a : tensor<5xf32>
        %r = weir.mul %t, %b : tensor<5xf32>
        return %r : tensor<5xf32>
      })",
      &context);
  return lines(
      checkGradients(*module, {GradientSubject{"f", linear, gradientTolerance}}, tampering));
}

bool has(const std::string &text, const char *part) { return text.find(part) != std::string::npos; }

/// The function's end, of which operand 0 is a's gradient.
mlir::Operation *endOf(mlir::ModuleOp module) {
  return module.lookupSymbol<mlir::func::FuncOp>("f").getBody().front().getTerminator();
}

TEST(GradientFaults, noneWithoutTampering) { EXPECT_EQ(faultsOf({}, 2), ""); }

TEST(GradientFaults, aWrongSign) {
  auto faults =
      faultsOf({[](mlir::ModuleOp module) {
                  mlir::Operation *end = endOf(module);
                  mlir::OpBuilder builder(end);
                  mlir::Value g = end->getOperand(0);
                  end->setOperand(0, NegOp::create(builder, end->getLoc(), g.getType(), g, {}));
                },
                nullptr});
  EXPECT_TRUE(has(faults, "f: the gradient of source 0 differs by 2.000000e+00 from differences"))
      << faults;
  EXPECT_TRUE(has(faults, "f: <J v, u> = ")) << faults;
}

TEST(GradientFaults, swappedGradients) {
  auto faults = faultsOf({[](mlir::ModuleOp module) {
                            mlir::Operation *end = endOf(module);
                            mlir::Value a = end->getOperand(0), b = end->getOperand(1);
                            end->setOperand(0, b);
                            end->setOperand(1, a);
                          },
                          nullptr});
  EXPECT_TRUE(has(faults, "f: the gradient of source 0 differs")) << faults;
  EXPECT_TRUE(has(faults, "f: the gradient of source 1 differs")) << faults;
}

TEST(GradientFaults, aCaseThatIsNotAsLinearAsItSays) {
  std::string faults = faultsOf({}, 1);
  EXPECT_TRUE(has(faults, "f: is not linear in source 0, as the case says")) << faults;
}

TEST(GradientFaults, anotherResultWhenCompiled) {
  auto faults = faultsOf({nullptr, [](mlir::ModuleOp module) {
                            mlir::Operation *end = endOf(module);
                            end->setOperand(0, end->getOperand(2));
                          }});
  EXPECT_TRUE(has(faults, "when compiled, most at element")) << faults;
  EXPECT_FALSE(has(faults, "from differences")) << faults;
}

TEST(GradientFaults, anElementThatIsNaNWhenCompiled) {
  auto faults =
      faultsOf({nullptr, [](mlir::ModuleOp module) {
                  mlir::Operation *end = endOf(module);
                  mlir::OpBuilder builder(end);
                  mlir::Value g = end->getOperand(0);
                  end->setOperand(0, LogOp::create(builder, end->getLoc(), g.getType(), g, {}));
                }});
  EXPECT_TRUE(has(faults, "f: the gradient of source 0 has ")) << faults;
  EXPECT_TRUE(has(faults, " NaN of 5 elements when compiled")) << faults;
}

//===----------------------------------------------------------------------===//
// Microbatches
//===----------------------------------------------------------------------===//

// The gradients of two microbatches add up to that of the batch. The weight and some of what leads
// from it are outside, the loss is inside.
TEST(GradientCases, microbatchesAddUp) {
  mlir::MLIRContext context;
  prepareContext(context);
  const std::string outside = "%e = weir.exp %w : tensor<3x2xf32>\n";
  auto body = [](const std::string &rows) {
    return replaced(R"(
      %y = weir.matmul %x, %e : tensor<Nx3xf32>, tensor<3x2xf32> -> tensor<Nx2xf32>
      %t = weir.tanh %y : tensor<Nx2xf32>
      %loss = weir.reduce sum %t {axes = array<i64: 0, 1>} : tensor<Nx2xf32> -> tensor<f32>
      %g = weir.gradient %loss wrt (%w) : (tensor<f32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    )",
                    "N", rows);
  };
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(
      "func.func @whole(%x: tensor<6x3xf32>, %w: tensor<3x2xf32>) -> tensor<3x2xf32> {\n" +
          outside + body("6") +
          "return %g : tensor<3x2xf32> }\n"
          "func.func @parts(%all: tensor<6x3xf32>, %w: tensor<3x2xf32>) -> tensor<3x2xf32> {\n" +
          outside +
          "%sum = weir.microbatches 2 sliced(%all) carried() : (tensor<6x3xf32>) -> "
          "tensor<3x2xf32> {\n"
          "^bb0(%round: tensor<i32>, %x: tensor<3x3xf32>):" +
          body("3") +
          "weir.yield %g : tensor<3x2xf32>\n}\n"
          "return %sum : tensor<3x2xf32> }",
      &context);
  ASSERT_TRUE(module);
  std::mt19937_64 random(1);
  auto function = [&](const char *name) { return module->lookupSymbol<mlir::func::FuncOp>(name); };
  Tensors inputs;
  for (mlir::Type type : function("whole").getArgumentTypes()) {
    inputs.emplace_back(llvm::cast<mlir::RankedTensorType>(type).getShape());
    for (double &value : inputs.back().values)
      value = static_cast<float>(std::uniform_real_distribution<double>(-1, 1)(random));
  }
  mlir::OwningOpRef<mlir::ModuleOp> copy = module->clone();
  completeProgram(*copy);
  auto artifact = compileModule(*copy, "cpu");
  ASSERT_TRUE(mlir::succeeded(artifact));
  Tensors compiled = CompiledProgram(std::move(*artifact)).run("parts", inputs);
  Interpreter interpreter;
  auto differences = interpreter.run(function("parts"), inputs);
  mlir::PassManager passes(&context);
  passes.addNestedPass<mlir::func::FuncOp>(createAutodiff());
  ASSERT_TRUE(mlir::succeeded(passes.run(*module)));
  auto whole = interpreter.run(function("whole"), inputs);
  auto parts = interpreter.run(function("parts"), inputs);
  ASSERT_TRUE(mlir::succeeded(differences) && mlir::succeeded(whole) && mlir::succeeded(parts));
  EXPECT_TRUE(compare((*parts)[0], (*whole)[0], 1e-12).agrees);
  EXPECT_TRUE(compare((*differences)[0], (*whole)[0], 1e-8).agrees);
  EXPECT_TRUE(compare(compiled[0], (*whole)[0], gradientTolerance).agrees);
}

} // namespace
