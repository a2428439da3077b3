//===- ResumeCheckTest.cpp - Going on as a run was begun ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/resume/ResumeCheck.h"
#include "runtime/checkpoint/Fingerprint.h"
#include "runtime/run/Train.h"
#include "support/Text.h"
#include "test/runtime/run/TestModel.h"
#include <CLI/CLI.hpp>
#include <algorithm>

namespace weir {
namespace {

using Change = std::function<void(RunOptions &, artifact::ProgramT &)>;

class ResumeCheck : public ::testing::Test {
protected:
  ResumeCheck() {
    for (int i = 0; i < 200; ++i)
      text += static_cast<char>("abcde"[i * i % 7 % 5]);
    path = folder.write("text.txt", text);
    begin();
  }
  void begin() {
    std::filesystem::remove_all(folder / "kept");
    RunOptions options = whole();
    options.steps = 10;
    run(options, {});
  }
  RunOptions whole() {
    RunOptions options;
    options.data = {"window=" + path};
    options.holdout = 0.1;
    options.device.threads = 1;
    options.checkpoint = folder / "kept";
    return options;
  }
  void run(const RunOptions &options, const std::function<void(artifact::ProgramT &)> &edit) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    struct Captured {
      std::string &err;
      ~Captured() {
        ::testing::internal::GetCapturedStdout();
        err = ::testing::internal::GetCapturedStderr();
      }
    } captured{err};
    runTraining(testModel("weights", "gradient/weights",
                          [&](artifact::ProgramT &program) {
                            program.training_digest = 17;
                            auto config = std::make_unique<artifact::ConfigT>();
                            config->name = "batch";
                            config->value = "2";
                            program.configs.push_back(std::move(config));
                            if (edit)
                              edit(program);
                          }),
                options);
  }
  /// What goes on with the change says; it may be refused.
  std::string resume(const Change &change, std::vector<std::string> allowed = {},
                     std::optional<Exit> refused = {}) {
    RunOptions options = whole();
    options.resume = options.extend = true;
    options.steps = steps++;
    options.change = std::move(allowed);
    artifact::ProgramT ignored;
    ignored.configs.push_back(std::make_unique<artifact::ConfigT>());
    ignored.devices.push_back(std::make_unique<artifact::DeviceT>());
    change(options, ignored);
    auto go = [&] {
      run(options, [&](artifact::ProgramT &program) {
        RunOptions again;
        change(again, program);
      });
    };
    if (refused)
      return messageOf(*refused, go);
    go();
    return err;
  }
  TestFolder folder;
  std::string text, path, err;
  int64_t steps = 11;
};

TEST_F(ResumeCheck, WhatDiffersIsRefusedAndMayBeAllowed) {
  std::string other = text;
  std::reverse(other.begin(), other.end());
  std::string others = folder.write("others.txt", other),
              longer = folder.write("l.txt", text + "a");
  struct Case {
    std::vector<std::string> facts;
    Exit exit;
    Change change;
    std::initializer_list<std::string> said;
  };
  const Case cases[] = {
      {{"data"},
       Exit::usage,
       [&](RunOptions &o, auto &) { o.data = {"window=" + others}; },
       {"'window'", "text.txt (200 bytes, text)",
        "others.txt (200 bytes, text, with other content)"}},
      {{"data"},
       Exit::usage,
       [&](RunOptions &o, auto &) { o.data = {"window=" + longer}; },
       {"l.txt (201 bytes"}},
      {{"holdout"},
       Exit::usage,
       [](RunOptions &o, auto &) { o.holdout = 0; },
       {"--holdout 0.1, now it is no --holdout, which trains on data that was held out"}},
      {{"holdout"},
       Exit::usage,
       [](RunOptions &o, auto &) { o.holdout = 0.2; },
       {"--holdout 0.1, now it is --holdout 0.2"}},
      {{"holdout"},
       Exit::usage,
       [](RunOptions &o, auto &) { o.holdout = 0.1000000001; },
       {"--holdout 0.1, now it is --holdout 0.1000000001"}},
      {{"order"},
       Exit::usage,
       [](RunOptions &o, auto &) { o.noShuffle = true; },
       {"were shuffled, now it is --no-shuffle"}},
      {{"loss-scale"},
       Exit::model,
       [](auto &, artifact::ProgramT &p) { p.loss_scale = "1024"; },
       {"loss-scale: none -> 1024\n"}},
      {{"param-dtype"},
       Exit::model,
       [](auto &, artifact::ProgramT &p) { p.master = artifact::DType::bf16; },
       {"param-dtype: f32 -> bf16\n"}},
      // The loss scale follows from the precision.
      {{"precision"},
       Exit::model,
       [](auto &, artifact::ProgramT &p) {
         p.precision = artifact::Precision::f16;
         p.loss_scale = "1024";
       },
       {"\n  precision: f32 -> f16\nUse the settings"}},
      {{"model"},
       Exit::model,
       [](auto &, artifact::ProgramT &p) { p.training_digest = 18; },
       {"'four' computes something different", "same names and shapes"}},
      {{"model", "configs"},
       Exit::model,
       [](auto &, artifact::ProgramT &p) {
         p.training_digest = 18;
         p.configs[0]->value = "4";
       },
       {"batch was 2, now it is 4", "the model may have changed as well"}},
  };
  for (const Case &one : cases) {
    begin();
    std::string message = resume(one.change, {}, one.exit);
    EXPECT_TRUE(says(message, {"step-00000010: the run was started with different settings",
                               "--change " + join(one.facts, ",")}));
    EXPECT_TRUE(says(message, one.said));
    resume(one.change, {one.facts[0] == "order" ? "data" : "order"}, one.exit);
    resume(one.change, {one.facts.begin() + 1, one.facts.end()}, one.exit);
    EXPECT_TRUE(says(resume(one.change, one.facts), {"--change " + one.facts[0]}));
    // From now on it is how the run was begun.
    EXPECT_FALSE(says(resume(one.change), {"--change"}));
  }
}

TEST_F(ResumeCheck, AllDifferencesAreSaidAtOnce) {
  auto change = [](RunOptions &o, artifact::ProgramT &p) {
    o.holdout = 0;
    o.noShuffle = true;
    p.training_digest = 18;
  };
  EXPECT_TRUE(says(resume(change, {}, Exit::model),
                   {"model: ", "holdout: ", "order: ", "--change model,holdout,order"}));
  EXPECT_TRUE(says(resume(change, {"model", "order"}, Exit::usage), {"--change holdout"}));
}

TEST_F(ResumeCheck, AStrategyIsComparedByField) {
  auto with = [](const char *strategy) {
    return [=](auto &, artifact::ProgramT &p) { p.strategy = strategy; };
  };
  // The checkpoint does not know its own.
  EXPECT_FALSE(says(resume(with("zero=1 loss-scale=none")), {"strategy"}));
  EXPECT_TRUE(says(resume(with("mesh=dp=2 zero=2 recompute=a recompute=b color=red")),
                   {"step-00000011: the run was started with another strategy: ",
                    "mesh: one device -> dp=2; zero: 1 -> 2; recompute: the model's -> a,b; "
                    "color: its default -> red\n"}));
  EXPECT_FALSE(
      says(resume(with("mesh=dp=2 zero=2 recompute=a recompute=b color=red")), {"strategy"}));
  EXPECT_TRUE(says(resume(with("mesh=dp=2 color=red"), {"zero", "recompute"}),
                   {"--change zero: 2 -> 0\n", "--change recompute: a,b -> the model's\n"}));
  // Nor does this artifact.
  EXPECT_FALSE(says(resume(with("")), {"strategy"}));
  std::string message = resume(
      [](auto &, artifact::ProgramT &p) {
        p.strategy = "zero=3 loss-scale=8";
        p.loss_scale = "8";
      },
      {}, Exit::model);
  EXPECT_TRUE(says(message, {"\n  loss-scale: none -> 8\nUse the settings of the run, or allow "
                             "these differences: --change loss-scale"}));
}

TEST_F(ResumeCheck, WhatDoesNotMatterIsNotRefused) {
  std::string moved = folder.write("moved.txt", text);
  const Change changes[] = {
      [](auto &, auto &) {},
      [](RunOptions &o, auto &) { o.device.threads = 2; },
      [&](RunOptions &o, auto &) { o.data = {"window=" + moved}; },
      [](auto &, artifact::ProgramT &p) { p.devices[0]->arena += 64; },
      [](auto &, artifact::ProgramT &p) { p.configs[0]->value = "3"; }, // the program is the same
      [](auto &, artifact::ProgramT &p) { p.steps = 7; },
  };
  for (const Change &change : changes)
    EXPECT_FALSE(says(resume(change), {"--change"})) << err;
}

TEST_F(ResumeCheck, AnOlderCheckpointOrArtifactSaysWhatIsNotCompared) {
  EXPECT_TRUE(says(resume([](auto &, artifact::ProgramT &p) { p.training_digest = 0; }),
                   {"not compared: model\n"}));
  // As older versions wrote it.
  std::string last = folder / "kept/step-00000011";
  Manifest manifest = Manifest::read(readAll(last + "/manifest.json"));
  manifest.training.clear();
  manifest.holdout.reset();
  manifest.shuffle.reset();
  for (auto &[input, data] : manifest.data)
    data.fingerprint.clear();
  std::ofstream(last + "/manifest.json") << manifest.write();
  EXPECT_TRUE(says(resume([](RunOptions &o, auto &) { o.holdout = 0; }),
                   {"not compared: model, data, holdout, order\n"}));
  EXPECT_FALSE(says(resume([](RunOptions &o, auto &) { o.holdout = 0; }), {"not compared"}));
}

TEST(ChangeOption, NamesAreKnown) {
  auto parse = [](const std::string &value) {
    CLI::App app;
    RunOptions options;
    addRunOptions(app, options);
    app.parse(std::vector<std::string>{value, "--change", "--resume", "kept", "--checkpoint"});
    return options.change;
  };
  for (const char *empty : {"holdout,,data", ",data", "data,"})
    EXPECT_THROW(parse(empty), CLI::ParseError) << empty;
  EXPECT_EQ(parse("data,order"), (std::vector<std::string>{"data", "order"}));
  for (const std::string &name : changeableFacts())
    EXPECT_EQ(parse(name), std::vector<std::string>{name});
  EXPECT_EQ(parse("master,data"), (std::vector<std::string>{"param-dtype", "data"}));
  for (const char *unrecorded : {"memory", "threads"})
    EXPECT_THROW(parse(unrecorded), CLI::ParseError) << unrecorded;
  try {
    parse("data,hold-out");
    FAIL();
  } catch (const CLI::ParseError &error) {
    EXPECT_TRUE(says(error.what(), {"model, configs, data, holdout, order, mesh, hosts, zero, ",
                                    ", precision, param-dtype, loss-scale, ", "found 'hold-out'",
                                    "did you mean 'holdout'?"}));
  }
}

TEST(Fingerprint, SamplesLargeFilesFromEndToEnd) {
  std::vector<std::byte> bytes(sampledBlocks * blockBytes * 2 + 12345);
  std::string before = fingerprint(bytes, 1), whole = fingerprint(bytes);
  EXPECT_EQ(before.size(), 16u);
  for (size_t at : {size_t{0}, bytes.size() - 1, blockBytes - 1, bytes.size() - blockBytes}) {
    bytes[at] = std::byte{1};
    EXPECT_NE(fingerprint(bytes, 1), before) << at;
    EXPECT_NE(fingerprint(bytes), whole) << at;
    bytes[at] = std::byte{0};
  }
  EXPECT_EQ(fingerprint(bytes, 1), before);
  EXPECT_EQ(fingerprint({}), fingerprint({}, 5));
}

} // namespace
} // namespace weir
