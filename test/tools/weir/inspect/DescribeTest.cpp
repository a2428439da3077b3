//===- DescribeTest.cpp ---------------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/inspect/Describe.h"
#include "strategy/Fields.h"
#include "support/spec/Call.h"
#include "tools/weir/inspect/Inspect.h"
#include <gtest/gtest.h>
#include <sstream>
#include <string>

using namespace weir;

namespace {

std::unique_ptr<artifact::BufferT> buffer(uint64_t offset, uint64_t size, uint32_t first,
                                          uint32_t last, const std::string &label, uint32_t line) {
  auto b = std::make_unique<artifact::BufferT>();
  b->offset = offset;
  b->size = size;
  b->first = first;
  b->last = last;
  b->label = label;
  b->location = std::make_unique<artifact::Location>(0, line, 1);
  return b;
}

std::unique_ptr<artifact::ActionT> action(uint32_t line) {
  auto a = std::make_unique<artifact::ActionT>();
  a->locations = {artifact::Location(0, line, 1), artifact::Location(0, line, 9)};
  return a;
}

std::unique_ptr<artifact::ActionT> launch(uint32_t line) {
  auto a = action(line);
  artifact::LaunchT launch;
  launch.kernel = 0;
  a->work.Set(std::move(launch));
  return a;
}

std::unique_ptr<artifact::ActionT> product(uint32_t line) {
  auto a = action(line);
  spec::Product p;
  p.m = 2, p.n = 3, p.k = 5;
  p.aRow = 5, p.bRow = 3, p.cRow = 3, p.aColumn = p.bColumn = 1;
  p.tileM = p.tileN = 1;
  artifact::CallT call;
  call.kind = p.kind;
  call.fields = spec::encode(p);
  a->work.Set(std::move(call));
  return a;
}

/// One kernel, launched once and three times in a loop; two equal products; two buffers that
/// share a place and one beside.
nlohmann::ordered_json facts(const std::string &strategy = "") {
  artifact::ProgramT program;
  program.strategy = strategy;
  program.model = "net";
  program.devices.push_back(std::make_unique<artifact::DeviceT>());
  artifact::DeviceT &device = *program.devices.back();
  device.target = "x86-64-v3";
  device.persistent = 64;
  device.arena = 64 + 300;
  program.files = {"net.weir"};
  program.batch = 4;
  program.steps = 10;
  auto weight = std::make_unique<artifact::VariableT>();
  weight->name = "w";
  weight->shape = {4, 4};
  weight->size = 64;
  weight->location = std::make_unique<artifact::Location>(0, 2, 1);
  program.variables.push_back(std::move(weight));
  auto kernel = std::make_unique<artifact::KernelT>();
  kernel->symbol = "k0";
  kernel->shape = "map";
  kernel->tasks = 2;
  kernel->ops = {"mul", "tanh"};
  kernel->flops = 7;
  kernel->bytes = 11;
  program.kernels.push_back(std::move(kernel));

  auto entry = std::make_unique<artifact::EntryT>();
  entry->name = "step";
  entry->buffers.push_back(buffer(64, 100, 0, 1, "h", 5));
  entry->buffers.push_back(buffer(64, 50, 2, 3, "dh", 6));
  entry->buffers.push_back(buffer(164, 200, 1, 3, "logits", 7));
  entry->actions.push_back(launch(5));
  artifact::LoopT loop;
  loop.count = 3;
  loop.body.push_back(launch(3));
  auto rounds = action(4);
  rounds->work.Set(std::move(loop));
  entry->actions.push_back(std::move(rounds));
  entry->actions.push_back(product(7));
  entry->actions.push_back(product(8));
  program.entries.push_back(std::move(entry));

  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(artifact::Program::Pack(builder, &program));
  return describe(*flatbuffers::GetRoot<artifact::Program>(builder.GetBufferPointer()));
}

TEST(Describe, CountsLaunchesThroughLoops) {
  auto kernel = facts()["kernels"][0];
  EXPECT_EQ(kernel["launches"]["step"], 4);
  EXPECT_EQ(kernel["at"].dump(), R"(["net.weir:3","net.weir:5"])");
}

TEST(Describe, EqualCallsAreOneLine) {
  auto calls = facts()["calls"];
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0]["kind"], "product");
  EXPECT_EQ(calls[0]["fields"]["k"], 5);
  EXPECT_EQ(calls[0]["times"], 2);
  EXPECT_EQ(calls[0]["flops"], 60);
  EXPECT_EQ(calls[0]["at"].dump(), R"(["net.weir:7","net.weir:8"])");
}

TEST(Describe, FindsWhatIsAliveAtThePeak) {
  auto entry = facts()["memory"]["entries"][0];
  EXPECT_EQ(entry["scratch"], 300);
  EXPECT_EQ(entry["largest_live"], 300);
  ASSERT_EQ(entry["peak"].size(), 2u);
  EXPECT_EQ(entry["peak"][0]["label"], "logits");
  EXPECT_EQ(entry["peak"][0]["at"], "net.weir:7");
  EXPECT_EQ(entry["peak"][1]["label"], "h");
}

TEST(Describe, AddsUpAStep) {
  auto step = facts()["step"];
  EXPECT_EQ(step["launches"], 4);
  EXPECT_EQ(step["calls"], 2);
  EXPECT_EQ(step["flops"], 4 * 7 + 2 * 60);
}

TEST(Describe, SharesAddUpToOne) {
  auto all = facts();
  // 4 launches of 8 x 11 bytes, 2 products of 8 x 124.
  EXPECT_DOUBLE_EQ(all["kernels"][0]["share"], 4 * 88 / (4 * 88 + 2 * 992.0));
  EXPECT_DOUBLE_EQ(all["calls"][0]["share"], 2 * 992 / (4 * 88 + 2 * 992.0));
}

TEST(Describe, HasTheFieldsOfTheStrategy) {
  EXPECT_TRUE(facts()["strategy"].is_null()) << "it is not known";
  auto fields = facts("zero=1 color=red")["strategy"];
  ASSERT_EQ(fields.size(), 2u);
  EXPECT_EQ(fields[0]["field"], "zero");
  EXPECT_EQ(fields[0]["value"], "1");
  EXPECT_EQ(fields[0]["help"], std::string(strategy::field("zero").help));
  EXPECT_EQ(fields[1].dump(), R"({"field":"color","value":"red","help":""})");
}

std::string printed(const nlohmann::ordered_json &facts) {
  std::ostringstream out;
  printDescription(facts, out);
  return out.str();
}

TEST(PrintDescription, BeginsWithEightLines) {
  EXPECT_EQ(
      printed(facts()).substr(0, printed(facts()).find("\n\n")),
      "Model       net for x86-64-v3; an artifact is machine code: run only artifacts that you "
      "trust\n"
      "Configs     none\n"
      "Training    10 steps of 4 rows\n"
      "Parameters  16 values in 1 tensor, 64 bytes; block state 0, optimizer state 0\n"
      "Memory      364 bytes at the peak: 64 persistent and 300 scratch; in addition 0 per "
      "thread, 0 for batches\n"
      "A step      0.000 MFLOP, 0.000 MB read and written\n"
      "Kernels     1 compiled, 4 launches a step: 15.1% of its cost\n"
      "Calls       2 library calls a step: 84.9% of its cost");
}

TEST(PrintDescription, HasTheStrategyBehindThem) {
  const std::string text = printed(facts("mesh=dp=2 zero=1 color=red"));
  for (const char *line :
       {"\n\nStrategy: the fields that the compile set (see `weir help strategy`)\n",
        "\n  field  value  meaning\n", "\n  mesh   dp=2   Device mesh, such as dp=2,tp=2 (axes: ",
        "\n  zero   1      ZeRO: shard optimizer state (1), ", "\n  color  red\n\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  EXPECT_EQ(printed(facts()).find("Strategy:"), std::string::npos) << "it is not known";
}

TEST(PrintDescription, SaysEverything) {
  std::string text = printed(facts());
  for (const char *words :
       {"w     parameter  f32   4 x 4          64      1  net.weir:2",
        "15.1%  k0      map        2         4    0.0  0.0  mul tanh  net.weir:3,5",
        "84.9%  step       2  0.000  0.1  product 2x3x5  net.weir:7,8",
        "Alive at the peak (step, action 1)"})
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
}

TEST(PrintDescription, KernelsAreSortedByCost) {
  auto all = facts();
  auto small = all["kernels"][0], outside = small;
  small["symbol"] = "small";
  small["share"] = 0.01;
  outside["symbol"] = "outside";
  outside["share"] = 0;
  auto large = all["kernels"][0];
  all["kernels"] = {outside, small, large};
  std::string text = printed(all);
  EXPECT_LT(text.find("k0"), text.find("small"));
  EXPECT_LT(text.find("small"), text.find("outside"));
}

TEST(PrintDescription, FoldsRepeatedLayers) {
  auto all = facts();
  auto variables = nlohmann::ordered_json::array();
  auto add = [&](const char *name, int line) {
    auto variable = all["variables"][0];
    variable["name"] = name;
    variable["at"] = "net.weir:" + std::to_string(line);
    variables.push_back(variable);
  };
  for (const char *name : {"h.0.w", "h.1.w", "h.2.w", "h.10.w"})
    add(name, 2);
  add("h.3.w", 3); // another line of the model
  add("h.0.b", 2);
  for (const char *name : {"s.0.l.0", "s.0.l.1", "s.1.l.0", "s.1.l.1"})
    add(name, 4);
  all["variables"] = variables;
  std::string text = printed(all);
  for (const char *words :
       {"h.[0-2,10].w     parameter  f32   4 x 4          64      4  net.weir:2",
        "h.3.w            parameter  f32   4 x 4          64      1  net.weir:3",
        "h.0.b            parameter  f32   4 x 4          64      1  net.weir:2",
        "s.[0-1].l.[0-1]  parameter"})
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
}

} // namespace
