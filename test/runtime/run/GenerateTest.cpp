//===- GenerateTest.cpp - Sampling ----------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/Generate.h"
#include "runtime/run/Train.h"
#include "test/runtime/run/TestModel.h"
#include <CLI/CLI.hpp>
#include <cmath>

namespace weir {
namespace {

TEST(SampleLogits, TakesTheLikeliest) {
  std::vector<float> logits{1, 3, 2, 3};
  EXPECT_EQ(sampleLogits(logits, 0, 0, 123), 1u);
  EXPECT_EQ(sampleLogits(logits, 1, 1, ~uint64_t{0}), 1u);
  EXPECT_EQ(sampleLogits(logits, 1, 0, ~uint64_t{0}), 0u);
  EXPECT_EQ(sampleLogits(logits, 1, 2, ~uint64_t{0}), 3u);
}

TEST(SampleLogits, DrawsByTheirWeights) {
  // e^(ln 3) : 1 is three to one.
  std::vector<float> logits{std::log(3.0f), 0};
  EXPECT_EQ(sampleLogits(logits, 1, 0, uint64_t{0xBF} << 56), 0u);
  EXPECT_EQ(sampleLogits(logits, 1, 0, uint64_t{0xC1} << 56), 1u);
}

class Generate : public ::testing::Test {
protected:
  std::string generate(const GenerateOptions &options) {
    ::testing::internal::CaptureStdout();
    struct Captured {
      std::string &text;
      ~Captured() { text = ::testing::internal::GetCapturedStdout(); }
    };
    {
      Captured captured{out};
      runGenerate(testModel(), options);
    }
    return out;
  }
  GenerateOptions train(const std::string &data) {
    RunOptions run;
    run.data = {"window=" + data};
    run.steps = 1;
    run.device.threads = 1;
    run.checkpoint = folder / "kept";
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    runTraining(testModel(), run);
    ::testing::internal::GetCapturedStdout();
    ::testing::internal::GetCapturedStderr();
    GenerateOptions options;
    options.checkpoint = run.checkpoint;
    options.device.threads = 1;
    options.tokens = 7;
    options.temperature = 0;
    return options;
  }
  TestFolder folder;
  std::string out;
};

TEST_F(Generate, Text) {
  GenerateOptions options = train(folder.write("t.txt", "abcdeabcdeabcde"));
  options.prompt = "b";
  EXPECT_EQ(generate(options), "bcdeabcd\n");
  options.prompt = "abcde";
  EXPECT_EQ(generate(options), "abcdeabcdeab\n");
  options.temperature = 2;
  std::string first = generate(options);
  EXPECT_EQ(generate(options), first);
  options.seed = 2;
  EXPECT_NE(generate(options), first);
  options.prompt = "ax";
  EXPECT_TRUE(says(messageOf(Exit::usage, [&] { generate(options); }), {"'x'", "5 characters"}));
  options.prompt = "";
  EXPECT_TRUE(says(messageOf(Exit::usage, [&] { generate(options); }), {"empty"}));
}

TEST_F(Generate, Tokens) {
  GenerateOptions options = train(folder.write("t.bin", raw(uint16_t{0}) + raw(uint16_t{1}) +
                                                            raw(uint16_t{2}) + raw(uint16_t{3})));
  options.prompt = "3 4";
  EXPECT_EQ(generate(options), "3 4 0 1 2 3 4 0 1 \n");
  options.prompt = "three";
  EXPECT_TRUE(says(messageOf(Exit::usage, [&] { generate(options); }), {"numbers"}));
  options.prompt = "12";
  EXPECT_TRUE(says(messageOf(Exit::usage, [&] { generate(options); }), {"[0, 10)"}));
}

TEST_F(Generate, WithoutAPrompt) {
  GenerateOptions options = train(folder.write("t.txt", "bcdbcdbcd"));
  options.tokens = 2;
  EXPECT_EQ(generate(options).substr(0, 2), "bc");
}

TEST_F(Generate, WithoutAPromptFromANewLine) {
  GenerateOptions options = train(folder.write("t.txt", "a\tb\na\tb\na\tb\n"));
  options.tokens = 2;
  // '\t', '\n', 'a', 'b' are 0 to 3.
  EXPECT_EQ(generate(options), "\nab\n");
}

TEST_F(Generate, WithoutAPromptFromTheFirstToken) {
  GenerateOptions options = train(folder.write("t.bin", raw(uint16_t{3}) + raw(uint16_t{1}) +
                                                            raw(uint16_t{2}) + raw(uint16_t{3})));
  options.tokens = 2;
  EXPECT_EQ(generate(options), "0 1 2 \n");
}

TEST(GenerateOptions, TemperatureIsFinite) {
  for (const char *bad : {"nan", "-nan", "inf", "-1", "1e999", "warm", "101"}) {
    CLI::App app;
    GenerateOptions options;
    addGenerateOptions(app, options);
    EXPECT_THROW(app.parse(std::vector<std::string>{bad, "--temperature", "kept", "--checkpoint"}),
                 CLI::ParseError)
        << bad;
  }
  CLI::App app;
  GenerateOptions options;
  addGenerateOptions(app, options);
  app.parse(std::vector<std::string>{"0.5", "--temperature", "kept", "--checkpoint"});
  EXPECT_EQ(options.temperature, 0.5);
}

TEST_F(Generate, WithoutACheckpoint) {
  GenerateOptions options;
  options.checkpoint = folder / "absent";
  EXPECT_TRUE(says(messageOf(Exit::storage, [&] { generate(options); }),
                   {"absent", "there is no such directory"}));
}

} // namespace
} // namespace weir
