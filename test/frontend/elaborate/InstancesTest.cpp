//===- InstancesTest.cpp - What calls of one instance share ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls of one instance are calls of several instances whose parameters happen to be equal: the
// loss is the same, and the gradient of a shared parameter is the sum of theirs. Evaluated on the
// reference interpreter.
//
//===----------------------------------------------------------------------===//

#include "frontend/Parser.h"
#include "frontend/elaborate/Elaborate.h"
#include "ir/reference/Interpreter.h"
#include "ir/weir/program/Variable.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"

#include <cmath>
#include <gtest/gtest.h>

namespace weir {
namespace {

/// Blocks in blocks, in a loop and behind a `let`; `part` is the body of what is called twice.
const char blocks[] = R"(
block stack(x: [.., n]) -> [.., n] {
  for i in 0..2 { x = tanh(linear(x, n) as h[i]) }
  return x
}
block part(x: [.., n]) -> [.., n] {
  let s = stack as s
  return s(x) + layer_norm(s(2 * x)) as ln
}
)";

const char recipe[] = R"(
train {
  input x: [4, 3]
  steps 1
  loss mse(m(x), x)
  update sgd(lr = 0.1)
}
)";

/// A number in [-1, 1] for each element, other ones for each name.
Tensor numbers(const std::string &name, const Shape &shape) {
  Tensor result(shape);
  double start = 0;
  for (char letter : name)
    start = std::fmod(31 * start + letter, 1000);
  for (size_t i = 0; i < result.values.size(); ++i)
    result.values[i] = std::sin(double(i + 1) * 1.7 + start);
  return result;
}

using Outputs = std::map<std::string, Tensor>;

/// The outputs of one step with gradients, where the parameter `name` is numbers(shared(name)).
Outputs step(const std::string &model, std::string (*shared)(std::string)) {
  mlir::DialectRegistry registry;
  registerReferenceInterpreter(registry);
  mlir::MLIRContext context(registry);
  SourceManager sources;
  Diagnostics diagnostics;
  ElaborateResult result;
  auto parsed = parse(sources.add("test.weir", blocks + model + recipe), diagnostics);
  if (!diagnostics.hasErrors())
    result = elaborate(*parsed, {}, sources, context, diagnostics, {/*gradients=*/true});
  EXPECT_FALSE(diagnostics.hasErrors()) << diagnostics.render();
  if (!result.module)
    return {};
  mlir::PassManager manager(&context);
  manager.addNestedPass<mlir::func::FuncOp>(createAccumulateGradients());
  manager.addNestedPass<mlir::func::FuncOp>(createAutodiff());
  EXPECT_TRUE(mlir::succeeded(manager.run(*result.module)));

  Interpreter interpreter;
  result.module->walk([&](VariableOp variable) {
    std::string name = variable.getName().str();
    Shape shape(llvm::cast<mlir::RankedTensorType>(variable.getType()).getShape());
    interpreter.variables[name] =
        variable.getRole() == Role::parameter ? numbers(shared(name), shape) : Tensor(shape);
  });
  auto function = result.module->lookupSymbol<mlir::func::FuncOp>("step");
  auto outputs = interpreter.run(function, {numbers("x", Shape{4, 3})});
  EXPECT_TRUE(mlir::succeeded(outputs));
  Outputs named;
  if (mlir::succeeded(outputs))
    for (auto [i, output] : llvm::enumerate(*outputs))
      named.try_emplace(function.getResultAttrOfType<mlir::StringAttr>(i, "weir.output").str(),
                        output);
  return named;
}

TEST(Instances, GradientsOfAllCallsAddUp) {
  Outputs one = step("model m(x: [b, n]) -> [b, n] {\n  let e = part as e\n"
                     "  return e(x) * e(0.5 * x)\n}",
                     [](std::string name) { return name; });
  Outputs two = step("model m(x: [b, n]) -> [b, n] {\n"
                     "  return part(x) as e * part(0.5 * x) as f\n}",
                     [](std::string name) { return "e" + name.substr(1); });
  ASSERT_TRUE(one.count("loss"));
  ASSERT_TRUE(two.count("loss"));
  EXPECT_NEAR(one.at("loss").values[0], two.at("loss").values[0], 1e-12);
  int gradients = 0;
  for (auto &[name, sum] : one) {
    const std::string prefix = "gradient/e";
    if (!llvm::StringRef(name).starts_with(prefix))
      continue;
    ++gradients;
    const Tensor &first = two.at(name);
    const Tensor &second = two.at("gradient/f" + name.substr(prefix.size()));
    for (size_t i = 0; i < sum.values.size(); ++i)
      EXPECT_NEAR(sum.values[i], first.values[i] + second.values[i], 1e-12) << name;
  }
  EXPECT_EQ(gradients, 6) << "weight and bias of h.0, h.1 and ln";
}

} // namespace
} // namespace weir
