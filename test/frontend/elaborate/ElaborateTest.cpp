//===- ElaborateTest.cpp - Programs that models become --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Elaborate.h"
#include "frontend/Parser.h"
#include "ir/weir/Locations.h"
#include "ir/weir/Program.h"
#include "ir/weir/WeirDialect.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/product/Product.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Gradient.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Variable.h"
#include "ir/weir/random/Random.h"
#include "ir/weir/recipe/Recipe.h"
#include "ir/weir/structure/Structure.h"

#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace weir {
namespace {

struct Program {
  mlir::MLIRContext context;
  SourceManager sources;
  Diagnostics diagnostics;
  ElaborateResult result;

  explicit Program(const std::string &text, const std::map<std::string, std::string> &sets = {},
                   const ElaborateOptions &options = {}) {
    auto model = parse(sources.add("test.weir", text), diagnostics);
    if (!diagnostics.hasErrors())
      result = elaborate(*model, sets, sources, context, diagnostics, options);
    EXPECT_FALSE(diagnostics.hasErrors()) << diagnostics.render();
  }

  mlir::func::FuncOp entry(const char *name) {
    return result.module->lookupSymbol<mlir::func::FuncOp>(name);
  }
  template <typename Op> std::vector<Op> all(const char *entryName) {
    std::vector<Op> ops;
    entry(entryName).walk([&](Op op) { ops.push_back(op); });
    return ops;
  }
  std::string print() {
    std::string text;
    llvm::raw_string_ostream stream(text);
    result.module->print(stream);
    return text;
  }
};

std::string modelFile(const std::string &name) {
  std::ifstream stream(std::string(WEIR_SOURCE_DIR) + "/models/" + name);
  EXPECT_TRUE(stream.good()) << name;
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// A recipe around a model `m(x: [b, 8]) -> [b, 8]`.
std::string trained(const std::string &model, const std::string &extra = "") {
  return model + "\ntrain {\n  input x: [4, 8]\n  steps 10\n  loss mse(m(x), x)\n" + extra +
         "  update sgd(lr = 0.1)\n}\n";
}

TEST(Elaborate, ShippedModelsElaborate) {
  for (const auto &file : std::filesystem::directory_iterator(WEIR_SOURCE_DIR "/models")) {
    std::string name = file.path().filename();
    Program program(modelFile(name));
    ASSERT_TRUE(program.result.module) << name;
    // Noise is drawn for each of its images.
    bool tied = name == "unet.weir";
    for (const char *entry : {"init", "step", "eval", "eval_one", "predict"})
      EXPECT_EQ(bool(program.entry(entry)), entry != std::string("eval_one") || !tied)
          << name << ": " << entry;
  }
}

TEST(Elaborate, WhatAProgramLacksIsNamed) {
  auto lacks = [](const std::function<void(Program &)> &spoil) {
    Program program(trained("model m(x: [b, 8]) -> [b, 8] {\n  return linear(x, 8)\n}"));
    EXPECT_EQ(missingPart(*program.result.module), "");
    spoil(program);
    return missingPart(*program.result.module);
  };
  auto rename = [](Program &program, const char *entry, unsigned result) {
    program.entry(entry).setResultAttr(result, "weir.output",
                                       mlir::StringAttr::get(&program.context, "other"));
  };
  auto eraseWrites = [](Program &program, const char *entry) {
    for (WriteOp write : program.all<WriteOp>(entry))
      if (write.getVariable() != "run/step")
        write.erase();
  };
  EXPECT_EQ(lacks([&](Program &program) { rename(program, "eval", 1); }),
            "`eval` has a loss whose term 0 lacks its sum or count");
  EXPECT_EQ(lacks([&](Program &program) {
              rename(program, "step", 0);
              rename(program, "step", 1);
            }),
            "`step` has no loss");
  EXPECT_EQ(lacks([&](Program &program) { rename(program, "eval_one", 1); }),
            "`eval_one` has a loss whose term 0 lacks its sum or count");
  EXPECT_EQ(lacks([](Program &program) { program.entry("eval").erase(); }), "there is no `eval`");
  EXPECT_EQ(lacks([&](Program &program) { eraseWrites(program, "init"); }),
            "`linear.weight` has no initial value");
  EXPECT_EQ(lacks([&](Program &program) { eraseWrites(program, "step"); }),
            "no parameter is updated");
}

TEST(Elaborate, SameInputsGiveTheSameText) {
  EXPECT_EQ(Program(modelFile("gpt-char.weir")).print(),
            Program(modelFile("gpt-char.weir")).print());
}

TEST(Elaborate, ParametersHaveTheNamesAndShapesOfCheckpoints) {
  Program program(modelFile("gpt-char.weir"));
  auto variable = program.result.module->lookupSymbol<VariableOp>("h.0.attn.c_attn.weight");
  ASSERT_TRUE(variable);
  EXPECT_EQ(variable.getRole(), Role::parameter);
  EXPECT_EQ(llvm::cast<mlir::RankedTensorType>(variable.getType()).getShape(),
            llvm::ArrayRef<int64_t>({384, 128}));
  auto moment = program.result.module->lookupSymbol<VariableOp>("adamw.m/h.0.attn.c_attn.weight");
  ASSERT_TRUE(moment);
  EXPECT_EQ(moment.getRole(), Role::optimizer);
  EXPECT_TRUE(program.result.module->lookupSymbol<VariableOp>("run/step"));
}

TEST(Elaborate, InputsThatSelectRowsAreLimited) {
  Program program(modelFile("gpt-char.weir"), {{"vocab", "50"}});
  for (const char *entry : {"step", "eval", "eval_one", "predict"}) {
    auto limit = program.entry(entry).getArgAttrOfType<mlir::IntegerAttr>(0, "weir.limit");
    auto config = program.entry(entry).getArgAttrOfType<mlir::StringAttr>(0, "weir.limit_config");
    ASSERT_TRUE(limit && config) << entry;
    EXPECT_EQ(limit.getInt(), 50);
    EXPECT_EQ(config.getValue(), "vocab");
  }
}

TEST(Elaborate, BatchOfOneAndPrediction) {
  Program program(modelFile("mnist-mlp.weir"));
  EXPECT_EQ(shapeOf(program.entry("eval").getArgument(0))[0], 64);
  EXPECT_EQ(shapeOf(program.entry("eval_one").getArgument(0))[0], 1);
  mlir::func::FuncOp predict = program.entry("predict");
  ASSERT_EQ(predict.getNumArguments(), 1u);
  EXPECT_EQ(shapeOf(predict.getArgument(0)), llvm::ArrayRef<int64_t>({1, 28, 28}));
  EXPECT_EQ(predict.getArgAttrOfType<mlir::StringAttr>(0, "weir.input").getValue(), "images");
  EXPECT_EQ(predict.getResultAttrOfType<mlir::StringAttr>(0, "weir.output").getValue(), "output");
}

TEST(Elaborate, PreludeCodePointsBackToTheModel) {
  Program program(
      trained("model m(x: [b, w]) -> [b, w] {\n  y = relu(x)\n  return linear(y, w)\n}"));
  MatmulOp product = program.all<MatmulOp>("step").front();
  EXPECT_EQ(instancePath(product.getLoc()), "linear");
  auto named = llvm::dyn_cast<mlir::NameLoc>(product.getLoc());
  ASSERT_TRUE(named);
  auto call = llvm::dyn_cast<mlir::CallSiteLoc>(named.getChildLoc());
  ASSERT_TRUE(call);
  EXPECT_EQ(llvm::cast<mlir::FileLineColLoc>(call.getCallee()).getFilename(),
            "prelude/layers.weir");
  EXPECT_EQ(modelLine(product.getLoc()).getFilename(), "test.weir");
  EXPECT_EQ(modelLine(product.getLoc()).getLine(), 3u);
  EXPECT_EQ(modelLine(program.all<MaxOp>("step").front().getLoc()).getLine(), 2u);
}

TEST(Elaborate, UsersOwnCopyOfALayerGivesTheSameProgram) {
  const char *own =
      "block mine(x: [.., c], eps = 1e-5) -> [.., c] {\n  param weight: [c] = ones()\n"
      "  param bias: [c] = zeros()\n  return normalize(x, eps = eps) * weight + bias\n}\n";
  Program a(trained("model m(x: [b, w]) -> [b, w] { return layer_norm(x) as ln }"));
  Program b(trained(std::string(own) + "model m(x: [b, w]) -> [b, w] { return mine(x) as ln }"));
  EXPECT_EQ(a.print(), b.print());
}

TEST(Elaborate, AnInstanceCalledTwiceHasOneSetOfParameters) {
  Program program(trained("model m(x: [b, w]) -> [b, w] {\n  let e = linear(bias = false) as enc\n "
                          " return e(e(x, w), w)\n}"));
  unsigned parameters = 0;
  program.result.module->walk(
      [&](VariableOp op) { parameters += op.getRole() == Role::parameter; });
  EXPECT_EQ(parameters, 1u);
  EXPECT_EQ(program.all<MatmulOp>("step").size(), 2u);
}

std::set<std::string> parameterNames(Program &program) {
  std::set<std::string> names;
  program.result.module->walk([&](VariableOp op) {
    if (op.getRole() == Role::parameter)
      names.insert(op.getName().str());
  });
  return names;
}

TEST(Elaborate, BlocksInAnInstanceCalledTwiceAreShared) {
  Program program(trained("block inner(x: [.., n], turns: int) -> [.., n] {\n"
                          "  for i in 0..turns { x = linear(x, n, bias = false) as h[i] }\n"
                          "  return x\n}\n"
                          "block enc(x: [.., n]) -> [.., n] {\n"
                          "  let i = inner(turns = 2) as i\n"
                          "  return layer_norm(i(i(x)))\n}\n"
                          "model m(x: [b, w]) -> [b, w] {\n  let e = enc as e\n"
                          "  for turn in 0..2 { x = e(x) }\n"
                          "  return x + mean(e(split_dim(x, 1, [1, w])), axes = [1])\n}",
                          "  accumulate 2\n"));
  EXPECT_EQ(parameterNames(program),
            (std::set<std::string>{"e.i.h.0.weight", "e.i.h.1.weight", "e.layer_norm.bias",
                                   "e.layer_norm.weight"}));
  // Three calls of e, two of i in each, two layers in that.
  EXPECT_EQ(program.all<MatmulOp>("predict").size(), 12u);
}

TEST(Elaborate, ALaterCallOfAnInstanceMayReachOtherBlocks) {
  Program program(
      trained("block enc(x: [.., n], turns: int, wide = 8) -> [.., n] {\n"
              "  let l = linear(out = wide, bias = false) as l\n"
              "  x = l(x)\n"
              "  if turns == 1 { x = linear(x, n, bias = false) as h[0] }\n"
              "  else { for i in 0..turns { x = linear(x, n, bias = false) as h[i] } }\n"
              "  return x\n}\n"
              "model m(x: [b, w]) -> [b, w] {\n  let e = enc as e\n"
              "  return e(x, 1) + e(x, 3) + e(x, 0)\n}"));
  EXPECT_EQ(parameterNames(program),
            (std::set<std::string>{"e.h.0.weight", "e.h.1.weight", "e.h.2.weight", "e.l.weight"}));
}

TEST(Elaborate, DrawsOfTwoCallsOfAnInstanceHaveDifferentKeys) {
  Program program(trained("block enc(x: [b, w]) -> [b, w] { return dropout(linear(x, w), 0.5) }\n"
                          "model m(x: [b, w]) -> [b, w] {\n  let e = enc as e\n"
                          "  return e(e(x))\n}"));
  auto draws = program.all<RandomOp>("step");
  ASSERT_EQ(draws.size(), 2u);
  EXPECT_NE(draws[0].getKey(), draws[1].getKey());
}

TEST(Elaborate, OneCallOfAnInstanceMayGiveItsStateTheNextValue) {
  Program program(trained("block inner(x: [b, w], keep: bool) -> [b, w] {\n"
                          "  state s: [w] = zeros()\n"
                          "  if keep { next s = mean(x, axes = [0]) }\n"
                          "  return linear(x - s, w)\n}\n"
                          "block enc(x: [b, w], keep = false) -> [b, w] { return inner(x, keep) }\n"
                          "model m(x: [b, w]) -> [b, w] {\n  let e = enc as e\n"
                          "  return e(x) + e(2 * x, keep = true) + e(3 * x)\n}",
                          "  accumulate 2\n"));
  auto ops = program.all<MicrobatchesOp>("step");
  ASSERT_EQ(ops.size(), 1u);
  EXPECT_EQ(ops[0].getCarried().size(), 1u);
  EXPECT_TRUE(program.result.module->lookupSymbol<VariableOp>("e.inner.s"));
}

TEST(Elaborate, TrainingIsStatic) {
  Program program(trained("model m(x: [b, w]) -> [b, w] { return dropout(linear(x, w), 0.5) }"));
  EXPECT_EQ(program.all<RandomOp>("step").size(), 1u);
  EXPECT_TRUE(program.all<RandomOp>("eval").empty());
  EXPECT_TRUE(program.all<RandomOp>("predict").empty());
}

TEST(Elaborate, DrawsOfDifferentPlacesHaveDifferentKeys) {
  Program program(
      trained("block d(x: [b, w]) -> [b, w] { return dropout(dropout(x, 0.5), 0.5) }\n"
              "model m(x: [b, w]) -> [b, w] {\n  return d(d(linear(x, w)) as one) as two\n}"));
  std::set<int64_t> keys;
  for (RandomOp op : program.all<RandomOp>("step"))
    keys.insert(op.getKey());
  EXPECT_EQ(keys.size(), 4u);
}

TEST(Elaborate, StateIsWrittenInAStepOnlyAndGuarded) {
  const char *model = "model m(x: [b, w]) -> [b, w] {\n  state mean: [w] = zeros()\n  next mean = "
                      "mean(x, axes = [0])\n"
                      "  return linear(x - mean, w)\n}";
  Program program(trained(model));
  auto writes = [&](const char *entry) {
    std::vector<WriteOp> found;
    for (WriteOp op : program.all<WriteOp>(entry))
      if (op.getVariable() == "mean")
        found.push_back(op);
    return found;
  };
  ASSERT_EQ(writes("step").size(), 1u);
  mlir::Value condition = writes("step").front().getCondition();
  EXPECT_TRUE(condition && condition.getDefiningOp<AllFiniteOp>());
  EXPECT_TRUE(writes("eval").empty());
}

TEST(Elaborate, MicrobatchesTakeSlicesOfMoreRows) {
  Program program(trained("model m(x: [b, w]) -> [b, w] {\n  state s: [w] = zeros()\n  next s = s "
                          "+ 1\n  return linear(x, w)\n}",
                          "  accumulate 3\n"));
  auto ops = program.all<MicrobatchesOp>("step");
  ASSERT_EQ(ops.size(), 1u);
  EXPECT_EQ(ops[0].getCount(), 3u);
  EXPECT_EQ(ops[0].getCarried().size(), 1u);
  EXPECT_EQ(shapeOf(program.entry("step").getArgument(0))[0], 12);
  EXPECT_EQ(shapeOf(program.entry("eval").getArgument(0))[0], 4);
  // The sum of the loss, the state; the gradients are taken of all microbatches.
  EXPECT_EQ(ops[0].getNumResults(), 2u);
  EXPECT_EQ(program.all<GradientOp>("step").front()->getParentOp(), program.entry("step"));
}

TEST(Elaborate, ALossIsRecordedTermByTerm) {
  const char *model = "fn positive(y: [b, w], x: [b, w]) -> ratio {\n  mask = f32(x > 0)\n"
                      "  return ratio(sum((x - y) ^ 2 * mask), sum(mask))\n}\n"
                      "model m(x: [b, w]) -> [b, w] { return linear(x, w) }\n"
                      "train {\n  input x: [4, 8]\n  steps 1\n  accumulate 2\n  y = m(x)\n"
                      "  loss positive(y, x) + 0.5 * mse(y, x)\n  update sgd(lr = 0.1)\n}";
  Program program(model);
  auto microbatches = program.all<MicrobatchesOp>("step");
  auto losses = program.all<LossOp>("step");
  ASSERT_EQ(microbatches.size(), 1u);
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses[0].getWeights(), llvm::ArrayRef<double>({1, 0.5}));
  for (mlir::Value sum : losses[0].getSums())
    EXPECT_EQ(sum.getDefiningOp(), microbatches[0]);
  // What depends on the data is counted with the sums; the rest is that of the whole step.
  EXPECT_EQ(losses[0].getCounts()[0].getDefiningOp(), microbatches[0]);
  auto known = losses[0].getCounts()[1].getDefiningOp<ConstantOp>();
  ASSERT_TRUE(known);
  EXPECT_EQ(llvm::cast<mlir::FloatAttr>(known.getValue()).getValueAsDouble(), 2 * 4 * 8);
}

TEST(Elaborate, AStateMayBeginAsAnother) {
  for (const char *microbatches : {"", "  accumulate 3\n"}) {
    Program program(trained("model m(x: [b, w]) -> [b, w] {\n  state s: [w] = ones()\n"
                            "  state t = s\n  next t = t + s\n  return linear(x, w) - t\n}",
                            microbatches));
    EXPECT_TRUE(program.result.module);
  }
}

TEST(Elaborate, RulesTakeParametersInOrder) {
  Program program("model m(x: [b, w]) -> [b, w] { return linear(x, w) }\n"
                  "train {\n  input x: [4, 8]\n  steps 1\n  loss mse(m(x), x)\n"
                  "  update frozen() where ends_with(name, \"bias\")\n  update sgd(lr = 0.1, "
                  "momentum = 0.9)\n}");
  std::set<std::string> written;
  for (WriteOp op : program.all<WriteOp>("step"))
    written.insert(op.getVariable().str());
  EXPECT_EQ(written, (std::set<std::string>{"linear.weight", "sgd.m/linear.weight", "run/step"}));
  EXPECT_EQ(program.all<GradientOp>("step").front().getSources().size(), 1u);
}

/// The outputs of the step that are gradients: name and what is given.
std::map<std::string, mlir::Value> gradientOutputs(Program &program) {
  mlir::func::FuncOp step = program.entry("step");
  auto result = llvm::cast<mlir::func::ReturnOp>(step.getBody().front().getTerminator());
  std::map<std::string, mlir::Value> found;
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    auto name = step.getResultAttrOfType<mlir::StringAttr>(i, "weir.output").getValue();
    if (!name.consume_front("gradient/"))
      continue;
    EXPECT_EQ(step.getResultAttrOfType<mlir::StringAttr>(i, "weir.part").getValue(), "tensor");
    found[name.str()] = result.getOperand(i);
  }
  return found;
}

TEST(Elaborate, GradientsAreOutputsWhereAskedFor) {
  for (const char *microbatches : {"", "  accumulate 3\n"}) {
    std::string text =
        trained("model m(x: [b, w]) -> [b, w] { return linear(x, w) }",
                std::string(microbatches) + "  clip global_norm(1.0)\n"
                                            "  update frozen() where ends_with(name, \"bias\")\n");
    Program plain(text), asked(text, {}, {/*gradients=*/true});
    EXPECT_TRUE(gradientOutputs(plain).empty());
    auto found = gradientOutputs(asked);
    ASSERT_EQ(found.size(), 1u) << "what is frozen has no gradient";
    mlir::Value gradient = found.at("linear.weight");
    // Neither clipped nor of one microbatch.
    auto op = gradient.getDefiningOp<GradientOp>();
    ASSERT_TRUE(op);
    EXPECT_EQ(op->getParentOp(), asked.entry("step"));
    EXPECT_EQ(asked.entry("eval").getNumResults(), plain.entry("eval").getNumResults());
  }
}

TEST(Elaborate, AStateMayBeginAsTheParameter) {
  Program program(
      "optimizer slow(p, g) {\n  state s = p\n  next s = 0.9 * s + 0.1 * p\n  next p = p - g\n}\n"
      "model m(x: [b, w]) -> [b, w] { return linear(x, w, bias = false) }\n"
      "train {\n  input x: [4, 8]\n  steps 1\n  loss mse(m(x), x)\n  update slow()\n}");
  auto writes = program.all<WriteOp>("init");
  ASSERT_EQ(writes.size(), 2u);
  EXPECT_EQ(writes[0].getValue(), writes[1].getValue());
}

} // namespace
} // namespace weir
