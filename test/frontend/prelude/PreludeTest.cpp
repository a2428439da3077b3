//===- PreludeTest.cpp - Gradients of every prelude definition ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A case is a model around one call. Its step, without what follows the loss, and its eval are
// functions of the inputs and the parameters, whose gradients are proven as an op's are: in
// training and out of it, inputs and parameters alike.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/program/Access.h"
#include "test/frontend/prelude/PreludeCases.h"
#include "test/frontend/prelude/PreludeProgram.h"
#include "test/passes/autodiff/GradientCheck.h"
#include <gtest/gtest.h>
#include <set>

using namespace weir;
using namespace weir::test;

namespace {

std::string modelOf(const GradientCase &one) {
  // Something to train, where the call has no parameters. Its gradient is not zero even where the
  // result does not change with the average of x, or its scale.
  bool ofFloats = one.inputs.find("x: [") != std::string::npos;
  std::string moved = ofFloats ? "x = moved(x)\n  " : "";
  std::string move = one.linear ? "x + shift" : "x + shift * sin(x)";
  bool isLoss = one.weights.empty();
  std::string loss;
  if (!isLoss)
    loss = "loss ratio(sum(" + one.call + " * u), 1)";
  else if (one.definition == "accuracy") // has no gradient, and is no loss
    loss = "loss ratio(sum(x), 1)\n  metric value = " + one.call;
  else
    loss = "loss " + one.call;
  return "block moved(x: [..]) -> [..] {\n  param shift: [1] = zeros()\n  return " + move +
         "\n}\ntrain {\n  " + one.inputs + "\n  " +
         (isLoss ? "" : "input u: [" + one.weights + "]\n  ") + "steps 3\n  " + moved + loss +
         "\n  update sgd(lr = 0.5)\n}\n";
}

/// Leaves the function the sums of its loss and metrics, and what they need.
void keepSums(mlir::func::FuncOp function) {
  mlir::Block &body = function.getBody().front();
  llvm::SmallVector<mlir::Value> kept;
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands()))
    if (function.getResultAttrOfType<mlir::StringAttr>(i, "weir.part").getValue() == "sum")
      kept.push_back(value);
  function.removeResAttrsAttr();
  body.getTerminator()->setOperands(kept);
  function.setFunctionType(mlir::FunctionType::get(function.getContext(), body.getArgumentTypes(),
                                                   mlir::ValueRange(kept).getTypes()));
  for (mlir::Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (llvm::isa<WriteOp>(op) || mlir::isOpTriviallyDead(&op))
      op.erase();
}

class PreludeGradients : public testing::TestWithParam<std::string> {};

TEST_P(PreludeGradients, areProven) {
  for (const GradientCase &one : gradientCases()) {
    if (one.definition != GetParam())
      continue;
    SCOPED_TRACE(one.call + " of " + one.inputs);
    PreludeProgram program(modelOf(one));
    ASSERT_TRUE(program.module);
    for (const char *name : {"init", "eval_one"})
      if (mlir::func::FuncOp entry = program.entry(name)) // eval_one: where rows are not tied
        entry.erase();
    std::vector<GradientSubject> subjects;
    for (const char *name : {"step", "eval"}) {
      keepSums(program.entry(name));
      subjects.push_back({name, one.linear ? ~0u : 0, one.compiledTolerance});
    }
    EXPECT_EQ(lines(checkGradients(*program.module, subjects)), "");
  }
}

std::vector<std::string> checkedDefinitions() {
  std::set<std::string> definitions;
  for (const GradientCase &one : gradientCases())
    definitions.insert(one.definition);
  return {definitions.begin(), definitions.end()};
}

INSTANTIATE_TEST_SUITE_P(Every, PreludeGradients, testing::ValuesIn(checkedDefinitions()),
                         [](const auto &info) { return info.param; });

//===----------------------------------------------------------------------===//
// No definition without a case
//===----------------------------------------------------------------------===//

std::vector<std::pair<std::string, std::string>> allCalls() {
  std::vector<std::pair<std::string, std::string>> calls;
  for (const GradientCase &one : gradientCases())
    calls.emplace_back(one.definition, one.call);
  for (const OptimizerCase &one : optimizerCases())
    calls.emplace_back(one.definition, one.call);
  for (const ScheduleCase &one : scheduleCases())
    calls.emplace_back(one.definition, one.call);
  return calls;
}

TEST(PreludeListing, everyDefinitionAndOptionHasACase) {
  EXPECT_GT(preludeDefinitions().size(), 20u);
  EXPECT_EQ(lines(uncovered(preludeDefinitions(), allCalls())), "");
}

TEST(PreludeListing, whatHasNoCaseIsReported) {
  std::vector<Definition> definitions = preludeDefinitions();
  definitions.push_back({"weight_norm", {"eps"}});
  definitions.push_back({"linear", {"groups"}});
  llvm::erase_if(definitions, [](const Definition &one) { return one.name == "mse"; });
  EXPECT_EQ(lines(uncovered(definitions, allCalls())),
            "weight_norm has no case\nno case of linear sets groups\n"
            "mse has cases, but is not in the prelude\n");
}

} // namespace
