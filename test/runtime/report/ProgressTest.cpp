//===- ProgressTest.cpp - What someone sees while training ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/report/Progress.h"
#include "test/runtime/TestFiles.h"

namespace weir {
namespace {

std::string shown(bool live, int64_t steps) {
  TestFolder folder;
  std::string path = folder / "out";
  std::FILE *out = std::fopen(path.c_str(), "w");
  {
    Progress progress(out, live, "tokens", 0, steps);
    for (int64_t step = 1; step <= steps; ++step)
      progress.step({step,
                     {{"loss", 2.3125}, {"lr", 9.8e-4}, {"grad_norm", 1}, {"skipped", 0}},
                     0.0142,
                     768});
    progress.say("done");
  }
  std::fclose(out);
  return readAll(path);
}

TEST(Progress, PlainLinesNowAndThen) {
  std::string text = shown(false, 2000);
  EXPECT_TRUE(
      says(text, {"step 1/2000  loss 2.3125  lr 0.00098  14.2 ms/step  54,085 tokens/s  ETA 0:28\n",
                  "step 100/2000 ", "step 2000/2000 ", "ETA 0:00\ndone\n"}));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 22);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Progress, ALiveLineIsRewrittenAndFitsTheTerminal) {
  std::string text = shown(true, 2000);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_TRUE(text.ends_with("\r\x1b[Kdone\n"));
  for (size_t at = 0, next; (next = text.find("\x1b[K", at)) != std::string::npos; at = next + 3)
    EXPECT_LT(next - at, 81u);
}

TEST(Progress, AnyNumberOfSteps) {
  std::FILE *out = std::fopen("/dev/null", "w");
  for (int64_t steps : {int64_t{0}, int64_t{1}, INT64_MAX, INT64_MIN})
    Progress(out, false, "tokens", 0, steps).say("said");
  std::fclose(out);
}

TEST(Progress, AFileIsNotLive) {
  std::FILE *out = std::fopen("/dev/null", "w");
  EXPECT_FALSE(StatusLine::isLive(out));
  std::fclose(out);
}

} // namespace
} // namespace weir
