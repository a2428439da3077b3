//===- VerifyTest.cpp - What a verification says ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/Verify.h"
#include "frontend/elaborate/Elaborate.h"
#include "ir/plan/PlanOps.h"
#include "ir/reference/PlanInterpreter.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/elementwise/Unary.h"
#include "ir/weir/product/Product.h"
#include "ir/weir/structure/Structure.h"
#include "test/verify/SmallModel.h"
#include "verify/Compare.h"
#include "verify/Cost.h"
#include "verify/Gradients.h"
#include "verify/Outcome.h"
#include "llvm/Support/FileSystem.h"
#include <gtest/gtest.h>

using namespace weir;
using namespace weir::test;
using namespace mlir;

namespace {

TEST(Verify, AFaultlessCompileIsFaultless) {
  for (auto [microbatches, full] : {std::pair(1, false), {1, true}, {2, false}, {2, true}}) {
    FailureOr<VerifyReport> report = verified(microbatches, full);
    ASSERT_TRUE(succeeded(report));
    EXPECT_FALSE(report->fault) << report->fault->message;
    EXPECT_GE(report->passes, 10u);
    EXPECT_EQ(report->gradients, 7u);
    EXPECT_GT(report->kernels, 20u);
    EXPECT_LT(report->largestResult, 1e-5);
  }
}

TEST(Verify, WhatIsNotKnownIsNotKnownInAByteEither) {
  bool seen = false;
  FailureOr<VerifyReport> report = verified(1, false, [&](llvm::StringRef pass, ModuleOp plan) {
    if (pass != "lower-to-plan")
      return;
    plan::AllocOp mask = buffer(plan, "compare", 102);
    ASSERT_TRUE(mask);
    CellMemory memory(plan, false);
    Builder builder(plan.getContext());
    for (Type element : {Type(builder.getI1Type()), Type(builder.getIntegerType(8, false))}) {
      std::vector<double> stored = {1, NAN, 0, 1}, loaded(4);
      memory.store(mask, element, 0, stored);
      memory.load(mask, element, 0, loaded);
      EXPECT_TRUE(std::isnan(loaded[1]));
      loaded[1] = stored[1] = 0;
      EXPECT_EQ(loaded, stored);
    }
    seen = true;
  });
  EXPECT_TRUE(succeeded(report) && seen);
}

TEST(Verify, AStepWithoutALossIsRefused) {
  FailureOr<VerifyReport> report = verified(1, false, nullptr, [](ModuleOp module) {
    auto step = module.lookupSymbol<func::FuncOp>("step");
    for (unsigned i = 0; i < step.getNumResults(); ++i)
      if (step.getResultAttrOfType<StringAttr>(i, "weir.output").getValue() == "loss")
        step.setResultAttr(i, "weir.output", StringAttr::get(module.getContext(), "cost"));
  });
  ASSERT_TRUE(succeeded(report) && report->fault);
  EXPECT_EQ(report->fault->message, "`step` has no loss: there is nothing to verify");
}

TEST(Verify, AnEntryThatAPassLosesIsMissed) {
  for (bool full : {false, true}) {
    FailureOr<VerifyReport> report = verified(1, full, [](llvm::StringRef pass, ModuleOp module) {
      if (pass == "simplify")
        module.lookupSymbol<func::FuncOp>("predict").erase();
    });
    ASSERT_TRUE(succeeded(report) && report->fault);
    EXPECT_TRUE(llvm::StringRef(report->fault->message)
                    .starts_with("after simplify: @predict differs: it is there no more"))
        << report->fault->message;
  }
}

TEST(Verify, ARowThatIsNoPartOfItsBatchIsCaught) {
  FailureOr<VerifyReport> report = verified(1, false, nullptr, [](ModuleOp module) {
    auto one = module.lookupSymbol<func::FuncOp>("eval_one");
    auto exp = *one.getOps<ExpOp>().begin();
    exp.getResult().replaceAllUsesWith(exp.getInput());
  });
  ASSERT_TRUE(succeeded(report) && report->fault);
  EXPECT_TRUE(llvm::StringRef(report->fault->message)
                  .starts_with("after elaborate: `loss.sum` of @eval_one differs: over the 6 rows "
                               "of a batch it should be "))
      << report->fault->message;
}

// What rounding leaves of the gradient of `shift`, which is zero, is no excuse for a large one's.
TEST(Verify, ALargeLossHidesNoWrongGradient) {
  constexpr const char *model = R"(config microbatches = 1
model net(x: [b, 9]) -> [b, 5] {
  param shift: [1] = zeros()
  return linear(x, 5) as head + shift
}
train {
  input  x: [6, 9]
  input  labels: i32[6]
  steps  100
  accumulate microbatches
  loss   cross_entropy(net(x), labels) + ratio(1e6 * sum(abs(x)), sum(abs(x)))
  update sgd(1e-2)
}
)";
  for (bool wrong : {false, true}) {
    bool planted = false;
    auto tamper = [&](llvm::StringRef pass, ModuleOp module) {
      if (pass != "autodiff" || !wrong)
        return;
      auto gradient = first<MatmulOp>(
          module, [](MatmulOp op) { return isGradient(op) && hasShape(op, {5, 9}); });
      ASSERT_TRUE(gradient);
      OpBuilder builder(gradient->getContext());
      builder.setInsertionPointAfter(gradient);
      Value by = ConstantOp::create(builder, gradient.getLoc(),
                                    cast<RankedTensorType>(gradient.getType()), 1.05);
      auto more = MulOp::create(builder, gradient.getLoc(), gradient, by);
      gradient.getResult().replaceAllUsesExcept(more, more);
      planted = true;
    };
    FailureOr<VerifyReport> report = verified(1, false, tamper, nullptr, model);
    ASSERT_TRUE(succeeded(report));
    EXPECT_EQ(planted, wrong);
    ASSERT_EQ(bool(report->fault), wrong) << (wrong ? "" : report->fault->message);
    EXPECT_EQ(report->fault ? report->fault->result : "",
              wrong ? "the gradient of `head.weight` in @step" : "");
  }
}

// A loss of 1e30 is the same whatever its parameters are.
TEST(Verify, ALossThatHidesItsGradientsIsNotVerified) {
  FailureOr<VerifyReport> report = verified(1, false, nullptr, nullptr, R"(config microbatches = 1
model net(x: [b, 9]) -> [b, 5] {
  return linear(x, 5) as head
}
train {
  input  x: [6, 9]
  input  labels: i32[6]
  steps  100
  accumulate microbatches
  loss   cross_entropy(net(x), labels) + ratio(1e30 * sum(abs(x)), sum(abs(x)))
  update sgd(1e-2)
}
)");
  ASSERT_TRUE(succeeded(report));
  EXPECT_FALSE(report->fault) << report->fault->message;
  EXPECT_EQ(report->unknownGradients, 2u);
  EXPECT_TRUE(llvm::StringRef(report->unverifiable)
                  .starts_with("none of the 2 gradients can be compared with central differences: "
                               "`head.weight`, `head.bias`: the loss is 1.0e+30"))
      << report->unverifiable;
}

// Its sine turns by a hundredth of a radian within the shortest step: 2e-5 of its slope.
TEST(Verify, ALossThatBendsWithinAStepIsNoFault) {
  FailureOr<VerifyReport> report = verified(1, false, nullptr, nullptr, R"(config microbatches = 1
model net(x: [b, 9]) -> [b, 9] {
  param w: [1] = ones()
  return sin(1e6 * w) * x
}
train {
  input  x: [6, 9]
  steps  100
  accumulate microbatches
  loss   mse(net(x), x)
  update sgd(1e-2)
}
)");
  ASSERT_TRUE(succeeded(report));
  EXPECT_FALSE(report->fault) << report->fault->message;
}

TEST(Verify, WorkIsToldPartByPart) {
  ModelFile file(smallModel);
  for (bool full : {false, true}) {
    MLIRContext context(reference());
    context.disableMultithreading();
    SourceManager sources;
    Diagnostics diagnostics;
    ElaborateResult result = elaborate(file.path, {}, sources, context, diagnostics);
    ASSERT_TRUE(result.module);
    double total = verifyCost(*result.module, full).total(), done = 0;
    VerifyOptions options;
    options.target = "cpu";
    options.full = full;
    options.worked = [&](double seconds) { done += seconds; };
    ASSERT_TRUE(succeeded(verifyProgram(*result.module, options)));
    EXPECT_NEAR(done, total, 0.05 * total);
  }
}

// What has to be interpreted, not how fast this machine does it.
TEST(Verify, ShippedModelsAreWithinReachAtTheirOwnSizes) {
  std::error_code error;
  unsigned seen = 0;
  for (llvm::sys::fs::directory_iterator file(WEIR_SOURCE_DIR "/models", error), end;
       file != end && !error; file.increment(error)) {
    if (!StringRef(file->path()).ends_with(".weir"))
      continue;
    MLIRContext context;
    SourceManager sources;
    Diagnostics diagnostics;
    ElaborateResult result = elaborate(file->path(), {}, sources, context, diagnostics);
    ASSERT_TRUE(result.module) << file->path();
    EXPECT_LE(2 * verifyCost(*result.module, false).total(), 180) << file->path();
    ++seen;
  }
  ASSERT_FALSE(error) << error.message();
  EXPECT_GE(seen, 11u);
}

// The gradient of `shift` is zero but for rounding, which Adam's first step divides by itself.
TEST(Verify, AnUpdateIsAsFreeAsItsGradient) {
  ModelFile file(R"(model net(x: [b, 9]) -> [b, 5] {
  param shift: [1] = zeros()
  return linear(x, 5) as head + shift
}
train {
  input  x: [6, 9]
  input  labels: i32[6]
  steps  100
  loss   cross_entropy(net(x), labels)
  update adamw(1e-2, eps = 1e-12)
}
)");
  MLIRContext context(reference());
  SourceManager sources;
  Diagnostics diagnostics;
  ElaborateResult result = elaborate(file.path, {}, sources, context, diagnostics);
  ASSERT_TRUE(result.module);
  nameEntryPorts(*result.module);
  OwningOpRef<ModuleOp> twin = differentiated(*result.module, {});
  for (Moment moment : {Moment::start, Moment::middle}) {
    FailureOr<RandomInputs> feed = makeRandomInputs(*result.module, 1, moment);
    ASSERT_TRUE(succeeded(feed));
    Interpreter interpreter;
    FailureOr<Outcome> truth =
        interpret(*twin, *feed, interpreter, [](StringRef entry) { return entry == "step"; });
    ASSERT_TRUE(succeeded(truth));
    FailureOr<Outcome> allowance = gradientAllowance(*twin, *feed, *truth, passTolerance);
    ASSERT_TRUE(succeeded(allowance));
    for (const Result &result : allowance->at("step")) {
      double least = moment == Moment::start && result.name == "shift" ? 5e-3 : 0;
      double most = moment == Moment::start && result.name == "shift" ? 5e-2 : 1e-5;
      for (double value : result.value.values) {
        EXPECT_GE(value, least) << result.name;
        EXPECT_LE(value, most) << result.name;
      }
    }
  }
}

} // namespace
