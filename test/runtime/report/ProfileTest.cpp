//===- ProfileTest.cpp - What the time of a step goes to ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/report/Profile.h"
#include "artifact/Actions.h"
#include "test/runtime/TestFiles.h"
#include "test/runtime/core/TestProgram.h"
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace weir {
namespace {

using Builder = TestProgram;

/// A step of actions that do nothing, each with the time it is to have taken.
class Profiles : public ::testing::Test {
protected:
  uint32_t kernel(const std::string &name, std::vector<std::string> ops, uint64_t flops,
                  uint64_t bytes, const std::string &suffix = "", uint32_t part = 0) {
    uint32_t index = test.kernel(name + suffix, 1, {});
    artifact::KernelT &kernel = *test.program.kernels[index];
    kernel.ops = std::move(ops);
    kernel.suffix = suffix;
    kernel.part = part;
    kernel.flops = flops;
    kernel.bytes = bytes;
    return index;
  }
  /// That takes `microseconds` a step and is of a line of the model.
  Builder::Action timed(Builder::Action action, uint32_t line, int64_t microseconds) {
    action->locations.push_back({0, line, 1});
    timesOf.push_back(microseconds);
    return action;
  }
  Builder::Action launch(uint32_t kernel, uint32_t line, int64_t microseconds) {
    return timed(Builder::launch(kernel, {}), line, microseconds);
  }
  Builder::Action product(int64_t m, uint32_t line, int64_t microseconds) {
    spec::Product product;
    product.m = m, product.n = 10, product.k = 50;
    product.aRow = 50, product.aColumn = 1, product.bRow = product.cRow = 10, product.bColumn = 1;
    product.tileM = m, product.tileN = 10;
    return timed(Builder::call(product, {}), line, microseconds);
  }

  /// Of ten steps, each action's time in each of them.
  Profile profile(double running = 1, double waiting = 0, double around = 0) {
    file = test.payload();
    const artifact::Program &program = *artifact::GetProgram(file.data());
    const artifact::Entry &step = *program.entries()->Get(1);
    Trace::Sums sums(artifact::actionsOf(step).size());
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] = {10, 10 * 1000 * timesOf.at(i)};
    return profileOf(program, step, sums,
                     {.steps = 10, .waiting = waiting, .running = running, .around = around});
  }
  static std::string text(const Profile &profile, size_t most = 30) {
    std::string text;
    for (const std::string &line : profileText(profile, most))
      text += line + "\n";
    return text;
  }

  Builder test;
  std::vector<int64_t> timesOf;
  std::vector<std::byte> file;
};

TEST_F(Profiles, ComesToAllOfTheStep) {
  test.add(launch(kernel("a", {"add"}, 1, 1), 3, 2000));
  test.add(product(20, 4, 5000));
  Profile all = profile(/*running=*/0.08, /*waiting=*/0.01, /*around=*/0.02);
  EXPECT_NEAR(all.actions(), 0.007, 1e-9);
  EXPECT_NEAR(all.dispatch, 0.001, 1e-9);
  EXPECT_NEAR(all.seconds(), (0.08 + 0.01 + 0.02) / 10, 1e-9);
  EXPECT_TRUE(
      says(text(all),
           {"Profile of 10 steps, all but the first: 11.000 ms a step\n", " 36.4%   4.000 ",
            "  no action         between actions 1.000, waiting for data 1.000, batch, results and "
            "reports 2.000\n",
            "100.0%  11.000 "}));
}

TEST_F(Profiles, LongestFirst) {
  test.add(product(20, 4, 10));
  test.add(launch(kernel("a", {"add"}, 1, 1), 3, 300));
  test.add(product(30, 4, 200));
  std::vector<Profile::Row> rows = profile().rows;
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].what, "a, map");
  EXPECT_EQ(rows[1].what, "product 30x10x50");
  EXPECT_EQ(rows[2].what, "product 20x10x50");
}

TEST_F(Profiles, LayersAreOneRow) {
  for (int layer = 0; layer < 3; ++layer)
    test.add(product(20, 4, 100));
  test.add(product(20, 5, 100)); // of another line
  std::vector<Profile::Row> rows = profile().rows;
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].runs, 3);
  EXPECT_NEAR(rows[0].seconds, 300e-6, 1e-12);
  EXPECT_EQ(rows[0].flops, 3 * 2 * 20 * 10 * 50);
  EXPECT_EQ(rows[0].at, (std::vector<std::string>{"test.weir:4"}));
  EXPECT_EQ(rows[1].at, (std::vector<std::string>{"test.weir:5"}));
}

TEST_F(Profiles, KernelsOfTheSameOpsAndLinesAreOneRow) {
  test.add(launch(kernel("small", {"mul", "sub"}, 10, 40), 3, 1));
  test.add(launch(kernel("large", {"mul", "sub"}, 1000, 4000), 3, 20));
  test.add(launch(kernel("other", {"mul", "add"}, 10, 40), 3, 1));
  test.add(launch(kernel("unknown", {}, 0, 0), 3, 1));
  test.add(launch(kernel("unheard", {}, 0, 0), 3, 1));
  std::vector<Profile::Row> rows = profile().rows;
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].what, "large and 1 like it, map");
  EXPECT_EQ(rows[0].kernels, (std::vector<std::string>{"small", "large"}));
  EXPECT_EQ(rows[0].runs, 2);
  EXPECT_EQ(rows[0].bytes, 4040);
}

TEST_F(Profiles, PartsOfAKernelRunTogether) {
  test.add(launch(kernel("a", {"reduce"}, 1000, 2000, "_rows0", 0), 3, 30));
  test.add(launch(kernel("a", {"reduce"}, 0, 0, "_columns1", 1), 3, 10));
  std::vector<Profile::Row> rows = profile().rows;
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].what, "a, map");
  EXPECT_EQ(rows[0].runs, 1);
  EXPECT_NEAR(rows[0].seconds, 40e-6, 1e-12);
  EXPECT_EQ(rows[0].flops, 1000);
}

TEST_F(Profiles, ALoopIsWhatItsBodyIs) {
  timesOf = {100}; // of the loop, the body's included
  test.add(Builder::loop(4, Builder::var(0), launch(kernel("a", {"add"}, 10, 20), 3, 90)));
  Profile all = profile(/*running=*/0.001);
  ASSERT_EQ(all.rows.size(), 1u);
  EXPECT_NEAR(all.rows[0].seconds, 90e-6, 1e-12);
  EXPECT_NEAR(all.dispatch, 10e-6, 1e-12);
}

TEST_F(Profiles, Rates) {
  test.add(launch(kernel("a", {"add"}, 3'000'000, 12'000'000), 3, 2000));
  test.add(launch(kernel("b", {"gather"}, 0, 5'000'000), 4, 1000));
  test.add(launch(kernel("c", {}, 0, 0), 5, 500));
  EXPECT_TRUE(
      says(text(profile(/*running=*/0.035)),
           {"2.000     1      1.5   6.0  a, map  ", "1.000     1        -   5.0  b, map  ",
            "0.500     1        -     -  c, map  ", "3.500     3      0.9   4.9  a step\n"}));
}

TEST_F(Profiles, TheShortOnesTogether) {
  for (uint32_t line = 1; line <= 5; ++line)
    test.add(product(20, line, 10 * line));
  std::string shown = text(profile(), 3);
  EXPECT_TRUE(says(shown, {"test.weir:5\n", "test.weir:3\n", "0.030     2", "  2 others\n"}));
  EXPECT_EQ(shown.find("test.weir:2"), std::string::npos);
  shown = text(profile(), 4);
  EXPECT_EQ(shown.find("others"), std::string::npos) << "one other is as long as its own row";
}

TEST_F(Profiles, SaysOfWhichSteps) {
  test.add(product(20, 1, 10));
  Profile one = profile();
  one.steps = 1;
  EXPECT_TRUE(says(text(one), {"Profile of 1 step, the second: "}));
  one.withFirst = true;
  EXPECT_TRUE(says(text(one), {"Profile of the first step, which takes longer than others: "}));
}

TEST_F(Profiles, Json) {
  test.add(launch(kernel("a", {"gather"}, 0, 4000), 3, 2000));
  nlohmann::json all = nlohmann::json::parse(profileJson(profile(0.03, 0.01, 0.02)));
  EXPECT_EQ(all["steps"], 10);
  EXPECT_NEAR(all["step_ms"].get<double>(), 6, 1e-9);
  const nlohmann::json &row = all["actions"].at(0);
  EXPECT_EQ(row["what"], "a, map");
  EXPECT_EQ(row["kernels"], nlohmann::json({"a"}));
  EXPECT_NEAR(row["ms"].get<double>(), 2, 1e-9);
  EXPECT_TRUE(row["flops"].is_null());
  EXPECT_EQ(row["bytes"], 4000);
  EXPECT_EQ(row["at"], nlohmann::json({"test.weir:3"}));
  EXPECT_NEAR(all["no_action"]["between_actions_ms"].get<double>(), 1, 1e-9);
  EXPECT_NEAR(all["no_action"]["waiting_for_data_ms"].get<double>(), 1, 1e-9);
  EXPECT_NEAR(all["no_action"]["batch_results_reports_ms"].get<double>(), 2, 1e-9);
}

} // namespace
} // namespace weir
