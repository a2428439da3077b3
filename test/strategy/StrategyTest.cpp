//===- StrategyTest.cpp - Fields, texts and rules of a strategy ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "strategy/Fields.h"
#include "strategy/Rules.h"
#include "support/Text.h"
#include <gtest/gtest.h>
#include <set>

using namespace weir;
using namespace weir::strategy;

namespace {

std::string wrongWith(const std::string &text) {
  Strategy strategy;
  return valueOf(text, strategy);
}

TEST(Strategy, IsNothingByDefault) {
  EXPECT_EQ(textOf(Strategy()), "");
  for (const Field &field : fields())
    EXPECT_FALSE(field.isGiven(Strategy())) << field.name;
}

TEST(Strategy, EveryFieldHasANameAndHelp) {
  std::set<std::string_view> names;
  for (const Field &field : fields()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    EXPECT_FALSE(field.help.empty()) << field.name;
    EXPECT_FALSE(field.standard.empty()) << field.name;
  }
}

TEST(Strategy, IsTheSameBehindItsText) {
  for (const char *text :
       {"mesh=pp=2,dp=3:1,tp=2 zero=3 schedule=interleaved:4 sequence-parallel=off",
        "mesh=cp=2 context-parallel=ring", "deterministic=on hosts=dp=2 mesh=dp=8,tp=8",
        "precision=f8_block param-dtype=bf16 loss-scale=dynamic:1024 tp-reduce-dtype=bf16 "
        "grad-reduce-dtype=bf16",
        "memory=1000000 threads=4 microbatches=8 offload=activations,parameters recompute=h.* "
        "recompute=*.mlp",
        "overlap=off link=50GB/s,5us rates=400TFLOP/s,3TB/s,tp=50GB/s,40GB/s,5us"}) {
    Strategy strategy = parsed(text);
    EXPECT_EQ(parsed(textOf(strategy)), strategy) << text;
    EXPECT_EQ(textOf(parsed(textOf(strategy))), textOf(strategy)) << text;
  }
  EXPECT_EQ(textOf(parsed("zero=0")), "zero=0"); // what is given stays so
}

TEST(Strategy, ARecordHasWhatDiffersFromTheDefaults) {
  EXPECT_EQ(recordedText(Strategy()), "");
  EXPECT_EQ(recordedText(parsed("zero=0 overlap=on precision=f32 schedule=1f1b")), "");
  EXPECT_EQ(recordedText(parsed("zero=1 mesh=dp=2 memory=1000 threads=4 recompute=a recompute=b")),
            "mesh=dp=2 zero=1 recompute=a recompute=b"); // without what describes the machine
  for (const Field &field : fields())
    EXPECT_TRUE(field.isDefault(Strategy())) << field.name;
}

TEST(Strategy, ARecordOfALaterVersionIsReadAsFarAsItIsKnown) {
  const std::string later = "mesh=dp=2 color=red schedule=dualpipe zero=1 word";
  EXPECT_EQ(textOf(recordedStrategy(later)), "mesh=dp=2 zero=1");
  std::vector<RecordedField> fields = recordedFields(later);
  ASSERT_EQ(fields.size(), 4u);
  EXPECT_EQ(fields[0].name + "|" + fields[0].value, "mesh|dp=2");
  EXPECT_EQ(fields[1].name + "|" + fields[1].value, "color|red");
  EXPECT_EQ(findField("color"), nullptr);
  EXPECT_TRUE(recordedFields("").empty());
}

TEST(Strategy, AWrongTextSaysWhatIsExpected) {
  EXPECT_EQ(wrongWith("zer=1").substr(0, 71),
            "unknown strategy field zer; did you mean 'zero'?; expected one of mesh,");
  EXPECT_EQ(wrongWith("zero"), "zero: expected zero=VALUE");
  EXPECT_EQ(wrongWith("zero=4"), "zero: expected a whole number from 0 to 3, but found 4");
  EXPECT_EQ(wrongWith("microbatches=-2"),
            "microbatches: expected a whole number from 1, but found -2");
  EXPECT_EQ(wrongWith("mesh=xp=2").substr(0, 27), "mesh: xp is not a mesh axis");
  EXPECT_EQ(wrongWith("precision=f64"),
            "precision: expected f32, bf16, f16, f8, f8_block or tf32, but found f64");
  EXPECT_EQ(wrongWith("param-dtype=f16"), "param-dtype: expected f32 or bf16, but found f16");
  EXPECT_EQ(wrongWith("grad-reduce-dtype=f8"),
            "grad-reduce-dtype: expected f32, bf16 or f16, but found f8");
  EXPECT_EQ(wrongWith("offload=all"),
            "offload: expected activations, optimizer or parameters, but found all");
  EXPECT_EQ(wrongWith("overlap=no"), "overlap: expected on or off, but found no");
  EXPECT_EQ(wrongWith("overlap="), "overlap: expected on or off, but found \"\"");
  EXPECT_EQ(wrongWith("param-dtype="), "param-dtype: expected f32 or bf16, but found \"\"");
  EXPECT_EQ(wrongWith("context-parallel=heads"),
            "context-parallel: expected all-to-all, gather or ring, but found heads");
  EXPECT_NE(wrongWith("loss-scale=1000"), "");
  EXPECT_NE(wrongWith("link=fast"), "");
  EXPECT_NE(wrongWith("rates=fast"), "");
}

TEST(Strategy, AFieldIsGivenOnceAndAListAsOftenAsWanted) {
  EXPECT_EQ(wrongWith("zero=1 zero=2"), "zero is given twice: expected it once");
  EXPECT_EQ(wrongWith("zero=1 overlap=off zero=1"), "zero is given twice: expected it once");
  EXPECT_EQ(wrongWith("recompute=a recompute=b"), "");
}

TEST(Strategy, EveryWordOfATextIsAField) {
  EXPECT_EQ(wrongWith("=1"), "expected NAME=VALUE, but found =1");
  EXPECT_EQ(wrongWith("zero = 1"), "zero: expected zero=VALUE");
  EXPECT_EQ(wrongWith("ZERO=1").substr(0, 54),
            "unknown strategy field ZERO; did you mean 'zero'?; exp");
}

TEST(Strategy, APatternIsAWordOfTheText) {
  const std::string expected =
      "expected paths of blocks without spaces or quotation marks, such as "
      "h.*.mlp, but found ";
  EXPECT_EQ(wrongWith("recompute="), "recompute: " + expected + "\"\"");
  for (const char *pattern : {"a b", "a\tb", "\"a\"", "a\\"}) {
    Strategy strategy;
    EXPECT_EQ(field("recompute").set(strategy, pattern), expected + "\"" + pattern + "\"");
    EXPECT_EQ(strategy, Strategy());
  }
}

TEST(Strategy, SchedulesHaveAsManyStagesAsTheirNamesSay) {
  auto chunks = [](const std::string &name) { return parsed("schedule=" + name).schedule->chunks; };
  EXPECT_EQ(chunks("interleaved"), 2);
  EXPECT_EQ(chunks("interleaved:2"), 2);
  EXPECT_EQ(chunks("interleaved:64"), 64);
  EXPECT_EQ(chunks("1f1b"), 1);
  for (const char *name :
       {"dualpipe", "interleaved:", "interleaved:1", "interleaved:-2", "interleaved:2x",
        "interleaved:65", "interleaved:99999999999999999999", "1f1b:2", ":2", ""})
    EXPECT_NE(wrongWith(std::string("schedule=") + name), "") << name;
}

TEST(Strategy, APlanLeavesWhatAUserSays) {
  Strategy to = parsed("precision=bf16 zero=1 microbatches=4");
  copyGiven(to, parsed("mesh=dp=2 zero=3"));
  EXPECT_EQ(textOf(to), "mesh=dp=2 zero=3 precision=bf16 microbatches=4");
  EXPECT_EQ(textOf(withoutPlan(to)), "precision=bf16");
  EXPECT_EQ(textOf(planOf(to)), "mesh=dp=2 zero=3 microbatches=4");
  EXPECT_EQ(planText(to), "--mesh dp=2 --zero 3 --microbatches 4");
}

TEST(Strategy, DeterministicIsCarriedOutByAMeshOfFixedSize) {
  Strategy out = parsed("mesh=tp=2,pp=2,dp=1 deterministic=on").carriedOut("cpu");
  EXPECT_EQ(out.mesh.text(), "pp=2,dp=8,tp=8");
  EXPECT_EQ(out.hosts.text(), "tp=2,pp=2,dp=1");
  EXPECT_EQ(*out.zero, 3);
  EXPECT_FALSE(*out.overlap);
  EXPECT_FALSE(parsed("mesh=dp=1").carriedOut("cpu:x86-64-v3").hasMesh());
  EXPECT_TRUE(parsed("mesh=dp=1").carriedOut("cuda:sm_90").hasMesh());
}

/// A strategy that breaks each rule, so that none is dead.
TEST(Rules, EachCanBeBroken) {
  struct Broken {
    const char *rule, *text;
    Context context = {.target = "cpu"};
  };
  auto mesh = [](const char *text) { return std::get<Mesh>(Mesh::parse(text)); };
  const Broken all[] = {
      {"meshes-differ-in-size", "mesh=dp=2", {.target = "cpu", .others = {mesh("tp=2")}}},
      {"other-meshes-keep-rules",
       "mesh=dp=2 offload=activations memory=1000",
       {.target = "cpu", .others = {mesh("pp=4")}}},
      {"link-has-mesh", "link=1GB/s"},
      {"rates-have-axes", "mesh=dp=2 rates=1TFLOP/s,1GB/s,tp=1GB/s,1GB/s,1us"},
      {"overlap-has-mesh", "overlap=off"},
      {"schedule-has-stages", "mesh=dp=2 schedule=gpipe"},
      {"stages-go-with", "mesh=pp=2", {.target = "cuda:sm_90"}},
      {"deterministic-on-cpus", "deterministic=on", {.target = "cuda:sm_90"}},
      {"deterministic-mesh", "deterministic=on mesh=dp=3"},
      {"deterministic-memory", "deterministic=on memory=1000"},
      {"deterministic-chooses-sequence-parallel",
       "deterministic=on mesh=tp=2 sequence-parallel=off"},
      {"memory-of-one-rank", "mesh=dp=2 memory=1", {.target = "cpu", .memoryIsHere = true}},
      {"context-parallel-has-axis", "mesh=dp=2 context-parallel=ring"},
      {"tp-reduce-dtype-has-axis", "mesh=dp=2 tp-reduce-dtype=bf16 precision=bf16"},
      {"reduce-dtypes-are-of-precision", "mesh=dp=2 grad-reduce-dtype=bf16"},
      {"sequence-parallel-has-axis", "mesh=dp=2 sequence-parallel=on"},
      {"zero-has-axis", "mesh=tp=2 zero=1"},
      {"automatic-has-budget", "", {.target = "cpu", .choosesOffload = true}},
  };
  EXPECT_EQ(std::size(all), rules().size());
  for (size_t i = 0; i < rules().size(); ++i) {
    EXPECT_EQ(rules()[i].name, all[i].rule);
    EXPECT_NE(brokenRule(parsed(all[i].text), rules()[i].name, all[i].context), "") << all[i].rule;
    EXPECT_NE(brokenRule(parsed(all[i].text), all[i].context), "") << all[i].rule;
  }
  EXPECT_EQ(brokenRule(parsed("mesh=pp=2,dp=2,tp=2 zero=3 schedule=gpipe"), {.target = "cpu"}), "");
}

/// A field that only some of several meshes have a use for.
TEST(Rules, AFieldIsForTheMeshesThatHaveAUseForIt) {
  const Mesh other = std::get<Mesh>(Mesh::parse("dp=4"));
  EXPECT_EQ(brokenRule(parsed("mesh=pp=2 schedule=gpipe"), {.target = "cpu", .others = {other}}),
            "");
}

} // namespace
