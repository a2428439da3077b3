//===- FuseTest.cpp - How large kernels become ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs of more ops and values than a kernel takes: every kernel is within the limits, there are
// no more of them than that needs, and the compiled program computes what the interpreter does.
//
//===----------------------------------------------------------------------===//

#include "ir/reference/Interpreter.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/kernel/KernelLimits.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Pipeline.h"
#include "test/passes/autodiff/GradientCheck.h"
#include "verify/Compiled.h"
#include <gtest/gtest.h>

using namespace weir;
using namespace weir::test;

namespace {

constexpr int64_t columns = 3;

struct Text {
  std::string arguments, body, types;
  std::string returned;

  void argument(int i) {
    if (!arguments.empty())
      arguments += ", ";
    arguments += "%a" + std::to_string(i) + ": T";
  }
  std::string function() const {
    std::string text = "func.func @f(" + arguments + ") -> " + types + " {\n" + body + "return " +
                       returned + " : " + types + "\n}";
    for (size_t at; (at = text.find('T')) != std::string::npos;)
      text.replace(at, 1, "tensor<" + std::to_string(columns) + "xf32>");
    return text;
  }
};

/// Fuses and checks the limits; the number of kernels.
size_t kernelsOf(mlir::ModuleOp module) {
  mlir::PassManager manager(module.getContext());
  for (const PassGroup &group : passGroups())
    if (group.name == "fuse")
      group.add(manager, {});
  EXPECT_TRUE(mlir::succeeded(manager.run(module)));
  size_t count = 0;
  module.walk([&](KernelOp kernel) {
    ++count;
    EXPECT_LE(kernel.getNumOperands() + kernel.getNumResults(), mostKernelOperands);
    size_t ops = 0;
    for (mlir::Operation &op : kernel.getBody().front())
      ops += mlir::isa<Pointwise>(op);
    EXPECT_LE(ops, mostKernelOps);
  });
  return count;
}

/// How many kernels the program becomes; its results are compared on the way.
size_t check(const Text &text) {
  mlir::MLIRContext context;
  prepareContext(context);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text.function(), &context);
  if (!module) {
    ADD_FAILURE() << text.function();
    return 0;
  }
  mlir::OwningOpRef<mlir::ModuleOp> copy = module->clone();
  auto f = module->lookupSymbol<mlir::func::FuncOp>("f");
  Tensors inputs = variedInputs(f);
  auto expected = Interpreter().run(f, inputs);
  EXPECT_TRUE(mlir::succeeded(expected));
  completeProgram(*copy);
  auto artifact = compileModule(*copy, "cpu");
  EXPECT_TRUE(mlir::succeeded(artifact));
  Tensors results = CompiledProgram(std::move(*artifact)).run("f", inputs);
  EXPECT_EQ(results.size(), expected->size());
  for (size_t i = 0; i < results.size(); ++i)
    for (size_t j = 0; j < results[i].values.size(); ++j)
      EXPECT_NEAR(results[i].values[j], (*expected)[i].values[j], 1e-4) << i << ", " << j;
  return kernelsOf(*module);
}

TEST(Fuse, AChainOfManyOpsIsManyKernels) {
  constexpr int length = 10 * mostKernelOps / 4;
  Text text;
  text.argument(0);
  text.argument(1);
  std::string last = "%a0";
  for (int i = 0; i < length; i += 2) {
    std::string product = "%m" + std::to_string(i), next = "%t" + std::to_string(i);
    text.body += product + " = weir.mul " + last + ", %a1 : T\n" + next + " = weir.tanh " +
                 product + " : T\n";
    last = next;
  }
  text.types = "T";
  text.returned = last;
  EXPECT_EQ(check(text), 3u);
}

TEST(Fuse, ASumOfManyValuesIsManyKernels) {
  constexpr int count = 1500;
  Text text;
  std::string last = "%a0";
  for (int i = 0; i < count; ++i)
    text.argument(i);
  for (int i = 1; i < count; ++i) {
    std::string next = "%s" + std::to_string(i);
    text.body += next + " = weir.add " + last + ", %a" + std::to_string(i) + " : T\n";
    last = next;
  }
  text.types = "T";
  text.returned = last;
  EXPECT_EQ(check(text), count / mostKernelOps + 1);
}

/// "%c = weir.concat .." of the arguments from `first` on.
std::string concatenated(Text &text, const std::string &result, int first, int count) {
  std::string inputs, types;
  for (int i = first; i < first + count; ++i) {
    text.argument(i);
    inputs += (i > first ? ", %a" : "%a") + std::to_string(i);
    types += i > first ? ", T" : "T";
  }
  return result + " = weir.concat " + inputs + " {dimension = 0} : " + types + " -> tensor<" +
         std::to_string(count * columns) + "xf32>\n";
}

TEST(Fuse, AConcatenationOfManyTensorsIsNested) {
  // A tensor that is left over is no concatenation.
  for (auto [count, kernels] : {std::pair(1500, 13u), {129, 2u}, {257, 3u}}) {
    Text text;
    text.body = concatenated(text, "%c", 0, count);
    text.types = "tensor<" + std::to_string(count * columns) + "xf32>";
    text.returned = "%c";
    EXPECT_EQ(check(text), kernels) << count;
  }
}

TEST(Fuse, FewOpsOfManyOperandsAreSeveralKernels) {
  constexpr int sums = 14, each = 100;
  static_assert(sums * each > mostKernelOperands);
  Text text;
  text.types = "tensor<" + std::to_string(each * columns) + "xf32>";
  for (int i = 0; i < sums; ++i) {
    std::string number = std::to_string(i), before = std::to_string(i - 1);
    text.body += concatenated(text, "%c" + number, i * each, each);
    text.body += "%s" + number + " = weir.add %c" + number + ", " + (i ? "%s" + before : "%c0") +
                 " : " + text.types + "\n";
  }
  text.returned = "%s" + std::to_string(sums - 1);
  EXPECT_EQ(check(text), 2u);
}

} // namespace
