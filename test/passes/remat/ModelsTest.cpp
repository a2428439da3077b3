//===- ModelsTest.cpp - The model of memory beside the arena --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/targets/Targets.h"
#include "frontend/Diagnostics.h"
#include "frontend/elaborate/Elaborate.h"
#include "passes/Pipeline.h"
#include "passes/remat/ReadStep.h"
#include <cstdio>
#include <filesystem>
#include <gtest/gtest.h>

using namespace weir;

namespace {

struct Case {
  std::string model, target;
  std::map<std::string, std::string> sets;
};

void PrintTo(const Case &one, std::ostream *out) { *out << one.model << " for " << one.target; }

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto &file : std::filesystem::directory_iterator(WEIR_MODELS))
    if (file.path().extension() == ".weir")
      for (const char *target : {"cpu:x86-64-v4", "cuda:sm_90"})
        all.push_back({file.path().stem().string(), target, {}});
  std::sort(all.begin(), all.end(), [](const Case &a, const Case &b) {
    return std::pair(a.model, a.target) < std::pair(b.model, b.target);
  });
  all.push_back({"gpt-char",
                 "cpu:x86-64-v4",
                 {{"layers", "6"}, {"width", "384"}, {"heads", "6"}, {"context", "256"}}});
  return all;
}

class OfModels : public testing::TestWithParam<Case> {};

/// The bytes of scratch that an entry of a plan takes.
int64_t scratchOf(plan::EntryOp entry, int64_t persistent) {
  int64_t end = persistent;
  entry.walk([&](plan::AllocOp buffer) {
    if (buffer.getResult().getType().getSpace() == plan::Space::scratch && buffer.getOffset())
      end = std::max(end, int64_t(*buffer.getOffset() + buffer.getSize()));
  });
  return end - persistent;
}

TEST_P(OfModels, TakesWhatTheArenaDoes) {
  const Case &one = GetParam();
  mlir::DialectRegistry registry;
  registerTargetDialects(registry);
  mlir::MLIRContext context(registry);
  context.loadDialect<plan::PlanDialect>();
  context.loadAllAvailableDialects();
  SourceManager sources;
  Diagnostics diagnostics;
  ElaborateResult elaborated = elaborate(std::string(WEIR_MODELS) + "/" + one.model + ".weir",
                                         one.sets, sources, context, diagnostics);
  ASSERT_TRUE(elaborated.module);
  PipelineOptions options{.target = makeTarget(one.target)};
  ASSERT_TRUE(mlir::succeeded(runPhases(*elaborated.module, options, "fuse")));
  remat::KernelFacts facts(*options.target);
  std::map<std::string, int64_t> estimates;
  for (auto entry : elaborated.module->getOps<mlir::func::FuncOp>()) {
    auto step = remat::readStep(entry, facts);
    ASSERT_TRUE(mlir::succeeded(step));
    estimates[entry.getSymName().str()] = remat::measure(step->step).bytes;
  }
  ASSERT_TRUE(mlir::succeeded(runPhases(*elaborated.module, options, "plan", "plan")));
  int64_t persistent =
      (*elaborated.module)->getAttrOfType<mlir::IntegerAttr>(plan::persistentAttrName).getInt();
  for (auto entry : elaborated.module->getOps<plan::EntryOp>()) {
    int64_t scratch = scratchOf(entry, persistent),
            estimate = estimates.at(entry.getSymName().str());
    std::printf("%s @%s: estimated %lld, takes %lld bytes\n", one.model.c_str(),
                entry.getSymName().str().c_str(), (long long)estimate, (long long)scratch);
    // The last buffer need not end where the next one would begin.
    EXPECT_EQ(estimate, int64_t(llvm::alignTo(scratch, plan::alignment)))
        << entry.getSymName().str();
  }
}

INSTANTIATE_TEST_SUITE_P(All, OfModels, testing::ValuesIn(cases()));

} // namespace
