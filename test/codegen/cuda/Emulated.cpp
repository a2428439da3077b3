//===- Emulated.cpp - Programs on the emulated GPU ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/codegen/cuda/Emulated.h"

#include "ir/reference/Interpreter.h"
#include "ir/weir/Program.h"
#include "mlir/Parser/Parser.h"
#include "passes/Pipeline.h"
#include "runtime/cuda/CudaDevice.h"
#include "support/Error.h"
#include "test/passes/autodiff/GradientCheck.h"
#include "verify/Compiled.h"

#include <cmath>

using namespace mlir;
using namespace weir::test;

namespace weir {

std::string replaced(std::string text, const std::string &name, const std::string &value) {
  for (size_t at; (at = text.find(name)) != std::string::npos;)
    text.replace(at, name.size(), value);
  return text;
}

void expectAsInterpreted(const std::string &program, const std::string &target, double most,
                         double least) {
  try {
    cuda::emulatedFolder();
  } catch (const Failure &failure) {
    GTEST_SKIP() << failure.what();
  }
  MLIRContext context;
  prepareContext(context);
  auto module = parseSourceString<ModuleOp>(program, &context);
  ASSERT_TRUE(module) << program;
  auto f = module->lookupSymbol<func::FuncOp>("f");
  Tensors inputs = variedInputs(f);
  for (Tensor &input : inputs)
    for (double &value : input.values)
      value = float(value); // which rounds on to what a cast rounds to
  auto expected = Interpreter().run(f, inputs);
  ASSERT_TRUE(succeeded(expected));
  completeProgram(*module);
  auto artifact = compileModule(*module, target);
  ASSERT_TRUE(succeeded(artifact));
  Tensors results =
      CompiledProgram(std::move(*artifact), {.threads = 1, .kind = "emulated"}).run("f", inputs);
  ASSERT_EQ(results.size(), expected->size());
  for (size_t i = 0; i < results.size(); ++i) {
    double difference = 0, size = 0;
    for (size_t j = 0; j < results[i].values.size(); ++j) {
      double truth = (*expected)[i].values[j];
      difference += std::pow(results[i].values[j] - truth, 2);
      size += truth * truth;
    }
    size = std::max(std::sqrt(size), 1e-3);
    EXPECT_LE(std::sqrt(difference), most * size) << "result " << i;
    EXPECT_GE(std::sqrt(difference), least * size) << "result " << i;
  }
}

} // namespace weir
