//===- MetricsFileTest.cpp - The lines of --metrics -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/report/MetricsFile.h"
#include "test/runtime/TestFiles.h"
#include <cmath>

namespace weir {
namespace {

StepRecord record(int64_t step) { return {step, {{"loss", 0.5}, {"lr", 1e-3}}, 0.004, 80}; }

const std::string lineOf(int64_t step) {
  return "{\"step\":" + std::to_string(step) +
         ",\"loss\":0.5,\"lr\":0.001,\"step_ms\":4,\"tokens_per_second\":20000}\n";
}

TEST(MetricsFile, OneFlatObjectPerLine) {
  TestFolder folder;
  std::string path = folder / "m.jsonl";
  {
    MetricsFile metrics(path, 0);
    metrics.step(record(1), "tokens");
    metrics.event("eval", 1, {{"heldout_loss", 1.25}}, 2);
    metrics.event("done", 1, {{"heldout_loss", std::nan("")}}, 3);
  }
  EXPECT_EQ(readAll(path),
            lineOf(1) + "{\"event\":\"eval\",\"step\":1,\"heldout_loss\":1.25,\"seconds\":2}\n" +
                "{\"event\":\"done\",\"step\":1,\"heldout_loss\":null,\"seconds\":3}\n");
}

TEST(MetricsFile, UtilizationWhereItIsKnown) {
  TestFolder folder;
  std::string path = folder / "m.jsonl";
  {
    MetricsFile metrics(path, 0);
    StepRecord known = record(1);
    known.mfu = 0.25, known.hfu = 0.5;
    metrics.step(known, "tokens");
    metrics.step(record(2), "tokens");
  }
  std::string line = lineOf(1);
  EXPECT_EQ(readAll(path),
            line.substr(0, line.size() - 2) + ",\"mfu\":0.25,\"hfu\":0.5}\n" + lineOf(2));
}

TEST(MetricsFile, BeginsAnew) {
  TestFolder folder;
  std::string path = folder.write("m.jsonl", lineOf(1));
  MetricsFile metrics(path, 0);
  EXPECT_EQ(readAll(path), "");
}

TEST(MetricsFile, GoesOnBehindTheStepsThatAreKept) {
  TestFolder folder;
  std::string event = "{\"event\":\"eval\",\"step\":2,\"heldout_loss\":1,\"seconds\":1}\n";
  std::string path =
      folder.write("m.jsonl", lineOf(1) + lineOf(2) + event + lineOf(3) + "{\"step\":4,\"lo");
  {
    MetricsFile metrics(path, 2);
    metrics.step(record(3), "tokens");
  }
  EXPECT_EQ(readAll(path), lineOf(1) + lineOf(2) + event + lineOf(3));
}

TEST(MetricsFile, CutLineAtTheEndIsDropped) {
  TestFolder folder;
  std::string path = folder.write("m.jsonl", lineOf(1) + "{\"step\":2}");
  MetricsFile metrics(path, 5);
  EXPECT_EQ(readAll(path), lineOf(1));
}

TEST(MetricsFile, WhatIsNoneOfItsOwnLinesEndsIt) {
  TestFolder folder;
  for (const char *line :
       {"{\"step\":1,\"event\":null}", "{\"step\":1,\"event\":1}", "{\"step\":\"1\"}",
        "{\"step\":18446744073709551615}", "{\"step\":9223372036854775808}", "[1]", "step"}) {
    std::string path = folder.write("m.jsonl", lineOf(1) + line + "\n" + lineOf(2));
    MetricsFile metrics(path, 5);
    EXPECT_EQ(readAll(path), lineOf(1)) << line;
  }
}

TEST(MetricsFile, ADeviceIsNotRead) {
  MetricsFile metrics("/dev/zero", 5); // would have no end
  metrics.step(record(6), "tokens");
}

TEST(MetricsFile, WhatCannotBeWritten) {
  TestFolder folder;
  EXPECT_TRUE(says(messageOf(Exit::storage, [&] { MetricsFile(folder / "absent/m.jsonl", 0); }),
                   {"absent/m.jsonl"}));
  EXPECT_TRUE(says(messageOf(Exit::storage,
                             [] {
                               MetricsFile full("/dev/full", 0);
                               full.event("done", 1, {}, 1);
                             }),
                   {"/dev/full", "No space"}));
}

} // namespace
} // namespace weir
