//===- ModelsTest.cpp - The model of memory beside the arena --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/targets/Targets.h"
#include "frontend/Diagnostics.h"
#include "frontend/elaborate/Elaborate.h"
#include "ir/plan/PlanOps.h"
#include "passes/Pipeline.h"
#include "passes/buffers/ReadStep.h"
#include "passes/remat/Order.h"
#include "strategy/Fields.h"
#include "support/Text.h"
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>

using namespace weir;

namespace {

struct Case {
  std::string model, target;
  std::map<std::string, std::string> sets;
  std::string strategy = "";
  std::string folder = WEIR_MODELS;
  int64_t rank = 0;
};

void PrintTo(const Case &one, std::ostream *out) {
  *out << one.model << " for " << one.target << " " << one.strategy << " " << one.rank;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char *target : {"cpu:x86-64-v4", "cuda:sm_90"}) {
    all.push_back({"unread-input", target, {}, "", WEIR_TEST_MODELS});
    all.push_back({"unread-input", target, {}, "microbatches=4", WEIR_TEST_MODELS});
    all.push_back({"variables-returned", target, {}, "", WEIR_TEST_MODELS});
  }
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
  for (const char *model : {"gpt-char", "mixer", "llama"})
    for (const char *target : {"cpu:x86-64-v4", "cuda:sm_90"})
      all.push_back({model, target, {}, "microbatches=4"});
  std::map<std::string, std::string> tiny = {
      {"layers", "2"}, {"width", "32"}, {"context", "16"}, {"batch", "8"}};
  for (const char *model : {"gpt-char", "resnet", "moe"})
    for (const char *target : {"cpu:x86-64-v4", "cuda:sm_90"})
      for (const char *what :
           {"optimizer", "activations,optimizer", "parameters", "activations,parameters"})
        all.push_back({model, target, {}, concat("offload=", what)});
  for (const char *model : {"gpt-char", "unet"})
    for (const char *target : {"cpu:x86-64-v4", "cuda:sm_90"})
      all.push_back({model, target, {}, "offload=activations"});
  all.push_back(
      {"gpt-char", "cpu:x86-64-v4", tiny, "microbatches=4 offload=activations,parameters"});
  for (int64_t zero : {0, 1, 3})
    for (const char *mesh : {"dp=2", "dp=2,tp=2"})
      all.push_back({"gpt-char", "cpu:x86-64-v4", tiny, concat("mesh=", mesh, " zero=", zero)});
  for (const char *more : {"", " microbatches=2", " precision=bf16"})
    all.push_back(
        {"llama", "cpu:x86-64-v4", tiny, concat("mesh=dp=2 zero=3 recompute=layers.*", more)});
  std::map<std::string, std::string> four = tiny;
  four["layers"] = "4";
  for (int64_t rank : {0, 1}) {
    auto onStages = [&](const char *model, const std::map<std::string, std::string> &sets,
                        const std::string &besides) {
      all.push_back(
          {model, "cpu:x86-64-v4", sets, concat("mesh=pp=2 ", besides), WEIR_MODELS, rank});
    };
    for (const char *schedule : {"gpipe", "1f1b", "interleaved", "zero-bubble"})
      onStages("gpt-char", four, concat("microbatches=4 schedule=", schedule));
    for (const char *what : {"optimizer", "parameters"})
      onStages("gpt-char", four, concat("microbatches=4 schedule=interleaved offload=", what));
    for (const char *model : {"unet", "moe", "llama"})
      onStages(model, {}, "microbatches=4");
    onStages("gpt-char", four, "");
    all.push_back({"llama", "cpu:x86-64-v4", four,
                   "mesh=pp=2,dp=2 zero=3 microbatches=4 recompute=layers.*", WEIR_MODELS,
                   2 * rank});
  }
  for (int64_t rank : {0, 7})
    all.push_back({"gpt-char", "cpu:x86-64-v4", four,
                   "mesh=pp=2,dp=2,tp=2 zero=2 schedule=zero-bubble microbatches=4", WEIR_MODELS,
                   rank});
  for (int64_t microbatches : {1, 2, 8}) // of one row each, at last
    all.push_back({"gpt-char", "cpu:x86-64-v4", tiny, concat("microbatches=", microbatches)});
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

/// A model at the end of fusion, and its estimates, in so much memory.
struct Fused {
  explicit Fused(const Case &one, int64_t memory = 0)
      : options{.target = makeTarget(one.target),
                .strategy = strategy::parsed(one.strategy),
                .memoryReport = &report,
                .rank = one.rank,
                .without = withoutOverlap} {
    if (memory)
      options.strategy.memory = memory;
    mlir::DialectRegistry registry;
    registerTargetDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadDialect<plan::PlanDialect>();
    context.loadAllAvailableDialects();
    std::string path = one.folder + "/" + one.model + ".weir";
    module = elaborate(path, one.sets, sources, context, diagnostics).module;
    fits = module && mlir::succeeded(runPassGroups(*module, options, "fuse"));
  }

  /// Bytes of parameters and state; plans the entries.
  int64_t plan() {
    EXPECT_TRUE(mlir::succeeded(runPassGroups(*module, options, "plan", "plan")));
    return (*module)->getAttrOfType<mlir::IntegerAttr>(plan::persistentAttrName).getInt();
  }

  // What goes on beside kernels takes what room there is; how much the step needs is the model's.
  static constexpr llvm::StringRef withoutOverlap[] = {"overlap-transfers", "overlap-collectives"};

  mlir::MLIRContext context;
  SourceManager sources;
  Diagnostics diagnostics;
  MemoryReport report;
  PipelineOptions options;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  bool fits = false;
};

int64_t aligned(int64_t bytes) { return int64_t(llvm::alignTo(bytes, plan::alignment)); }

TEST_P(OfModels, TakesWhatTheArenaDoes) {
  const Case &one = GetParam();
  Fused fused(one);
  ASSERT_TRUE(fused.fits);
  buffers::KernelFacts facts(*fused.options.target);
  std::map<std::string, int64_t> estimates;
  for (auto entry : fused.module->getOps<mlir::func::FuncOp>()) {
    auto step = buffers::readStep(entry, facts);
    ASSERT_TRUE(mlir::succeeded(step));
    int64_t bytes = estimates[entry.getSymName().str()] = buffers::measure(step->step).bytes;
    EXPECT_LE(remat::leastInAnyOrder(step->step), bytes) << entry.getSymName().str();
  }
  int64_t persistent = fused.plan();
  for (auto entry : fused.module->getOps<plan::EntryOp>()) {
    int64_t scratch = scratchOf(entry, persistent),
            estimate = estimates.at(entry.getSymName().str());
    std::printf("%s @%s: estimated %lld, takes %lld bytes\n", one.model.c_str(),
                entry.getSymName().str().c_str(), (long long)estimate, (long long)scratch);
    // The last buffer need not end where the next one would begin.
    EXPECT_EQ(estimate, aligned(scratch)) << entry.getSymName().str();
  }
}

TEST_P(OfModels, TakesWhatWasChosenInLessMemory) {
  const Case &one = GetParam();
  Fused whole(one);
  ASSERT_TRUE(whole.fits);
  int64_t all = whole.report.bytes, fixed = whole.report.persistent;
  const std::vector<int> few = {87, 65}, each = {90, 87, 80, 65};
  for (int percent : std::getenv("WEIR_TEST_ALL") ? each : few) {
    Fused less(one, fixed + (all - fixed) * percent / 100);
    if (!less.fits)
      continue;
    int64_t most = 0, before = less.plan();
    for (auto entry : less.module->getOps<plan::EntryOp>())
      most = std::max(most, scratchOf(entry, before));
    EXPECT_EQ(less.report.bytes, less.report.persistent + aligned(most)) << percent;
    EXPECT_LE(less.report.bytes, *less.options.strategy.memory);
  }
}

INSTANTIATE_TEST_SUITE_P(All, OfModels, testing::ValuesIn(cases()), [](const auto &info) {
  std::string name = std::to_string(info.index) + "_" + info.param.model + "_" + info.param.target;
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
});

} // namespace
