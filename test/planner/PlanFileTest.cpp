//===- PlanFileTest.cpp - Plans as options and as files -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "planner/PlanFile.h"
#include "strategy/Fields.h"
#include "support/Error.h"
#include "support/Text.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace weir;
using namespace weir::planner;

namespace {

std::string placeFor(const std::string &text) {
  std::string path =
      (std::filesystem::temp_directory_path() / ("weir-plan-" + std::to_string(getpid()) + ".toml"))
          .string();
  std::ofstream(path) << text;
  return path;
}

const Strategy full = strategy::parsed(
    "mesh=pp=2,dp=2,tp=2 zero=1 schedule=interleaved sequence-parallel=off context-parallel=ring "
    "microbatches=8 offload=optimizer recompute=h.*.attn recompute=h.*.mlp link=5GB/s,20us "
    "rates=60GFLOP/s,8GB/s,tp=5GB/s,5GB/s,20us");

TEST(PlanFile, IsOptionsOfTheCommandLine) {
  EXPECT_EQ(strategy::planText(full),
            "--mesh pp=2,dp=2,tp=2 --zero 1 --schedule interleaved --sequence-parallel off "
            "--context-parallel ring --microbatches 8 --offload optimizer --recompute 'h.*.attn' "
            "--recompute 'h.*.mlp'");
  EXPECT_EQ(strategy::planText(Strategy()), "");
}

/// A strategy that gives every field there is, so that no plan file forgets one.
Strategy everyField() {
  Strategy all = full;
  for (const strategy::Field &field : strategy::fields())
    for (const char *text : {"dp=2", "2", "off", "on", "bf16", "1024", "optimizer", "a.*"})
      if (field.by != strategy::Field::By::compiler && !field.isGiven(all) &&
          text != field.standard)
        field.set(all, text);
  return all;
}

TEST(PlanFile, IsTheSameStrategyBehindAFile) {
  for (const strategy::Field &field : strategy::fields())
    EXPECT_EQ(field.isGiven(everyField()), field.by != strategy::Field::By::compiler) << field.name;
  for (const Strategy &one : {full, Strategy(), everyField()}) {
    PlanFile plan{one, "odd \"names\" \\ here.weir", "cpu"};
    PlanFile read = readPlanFile(placeFor(planFileText(plan, {"why"})));
    EXPECT_EQ(strategy::textOf(read.strategy), strategy::textOf(one));
    EXPECT_EQ(read.model, plan.model);
    EXPECT_EQ(read.target, "cpu");
  }
}

TEST(PlanFile, HasFieldsInTheOrderOfOptionsAndTextsAsTomlHasThem) {
  PlanFile plan{strategy::parsed("mesh=dp=2,tp=2 zero=1 sequence-parallel=off microbatches=8 "
                                 "recompute=h.*.attn recompute=h.*.mlp"),
                "it's \"é\" \\\t\x01.weir", "cpu"};
  EXPECT_EQ(planFileText(plan, {"weir plan, for 4 x cpu"}), R"(# weir plan, for 4 x cpu
[plan]
model = "it's \"é\" \\\t\u0001.weir"
target = "cpu"
mesh = "dp=2,tp=2"
zero = 1
sequence-parallel = false
microbatches = 8
recompute = ["h.*.attn", "h.*.mlp"]
)");
}

TEST(PlanFile, OfAWrongFileIsRefused) {
  auto wrong = [](const std::string &text) -> std::string {
    std::string path = placeFor(text);
    try {
      readPlanFile(path);
    } catch (const Failure &failure) {
      return std::string(failure.what()).substr(path.size());
    }
    return "";
  };
  EXPECT_EQ(wrong("mesh = \"dp=2\"\n"), ":1:1: plan is missing: expected a table [plan], as `weir "
                                        "plan -o` writes it");
  EXPECT_EQ(wrong("[plan]\nmesh = \"dp\"\n").substr(0, 20), ":2:8: plan.mesh: 'dp");
  EXPECT_EQ(wrong("[plan]\nzer = 1\n"),
            ":2:7: plan.zer: there is no such key; did you mean 'zero'?");
  for (const char *value : {"\"1\"", "1.0", "true", "4", "-1"})
    EXPECT_EQ(wrong(concat("[plan]\nzero = ", value, "\n")),
              concat(":2:8: plan.zero: expected a whole number from 0 to 3, but found ", value));
  EXPECT_EQ(wrong("[plan]\nmemory = [1]\n"),
            ":2:10: plan.memory: expected a whole number from 1, but found a list");
  EXPECT_EQ(wrong("[plan]\nmicrobatches = 0\n"), "");
  EXPECT_EQ(wrong("[plan]\nlink = \"fast\"\n"),
            ":2:8: plan.link: expected bytes per second and the latency of an exchange, such as "
            "50GB/s or 50GB/s,5us, but found fast");
  EXPECT_EQ(wrong("[plan]\nrates = \"fast\"\n").substr(0, 43),
            ":2:9: plan.rates: cannot read the rates fas");
}

} // namespace
