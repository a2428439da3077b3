//===- ChoiceTest.cpp - Plans as options and as files -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "planner/Choice.h"
#include "runtime/base/Error.h"
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace weir;
using namespace weir::planner;

namespace {

std::string placeFor(const std::string &text) {
  std::string path = (std::filesystem::temp_directory_path() /
                      ("weir-choice-" + std::to_string(getpid()) + ".toml"))
                         .string();
  std::ofstream(path) << text;
  return path;
}

const Choice full{.mesh = "pp=2,dp=2,tp=2",
                  .zero = 1,
                  .microbatches = 8,
                  .schedule = "interleaved",
                  .recompute = {"h.*.attn", "h.*.mlp"},
                  .sequenceParallel = false,
                  .contextParallel = "ring",
                  .offload = "optimizer",
                  .link = "5GB/s,20us",
                  .rates = "60GFLOP/s,8GB/s,tp=5GB/s,5GB/s,20us"};

TEST(Choice, IsOptionsOfTheCommandLine) {
  EXPECT_EQ(full.text(), "--mesh pp=2,dp=2,tp=2 --zero 1 --microbatches 8 --schedule interleaved "
                         "--recompute 'h.*.attn' --recompute 'h.*.mlp' --sequence-parallel off "
                         "--context-parallel ring --offload optimizer");
  EXPECT_EQ(Choice().text(), "");
}

TEST(Choice, IsTheSameBehindAFile) {
  for (const Choice &choice : {full, Choice()}) {
    PlanFile plan{choice, "odd \"names\" \\ here.weir", "cpu", "bf16"};
    PlanFile read = readPlanFile(placeFor(planFileText(plan, {"why"})));
    EXPECT_EQ(read.choice, choice);
    EXPECT_EQ(read.model, plan.model);
    EXPECT_EQ(read.target, "cpu");
    EXPECT_EQ(read.precision, "bf16");
  }
}

TEST(Choice, OfAWrongFileIsRefused) {
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
  EXPECT_EQ(wrong("[plan]\nlink = \"fast\"\n"),
            ":2:8: plan.link: expected bytes per second and a latency, such as \"50GB/s,5us\", but "
            "found \"fast\"");
  EXPECT_EQ(wrong("[plan]\nrates = \"fast\"\n").substr(0, 43),
            ":2:9: plan.rates: fast are no rates: expect");
}

} // namespace
