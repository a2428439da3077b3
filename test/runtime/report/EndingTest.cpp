//===- EndingTest.cpp -----------------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/report/Ending.h"
#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(Ending, SaysWhatAFileIsThatIsCalledOtherwise) {
  EXPECT_EQ(wrongEnding("-o", "a.b/out.csv", ".npy"),
            "warning: -o a.b/out.csv: Weir writes this file as .npy, regardless of its extension");
  EXPECT_EQ(
      wrongEnding("--metrics", "m.json", ".jsonl"),
      "warning: --metrics m.json: Weir writes this file as .jsonl, regardless of its extension");
  EXPECT_EQ(wrongEnding("-o", "OUT.Pt", ".npy"),
            "warning: -o OUT.Pt: Weir writes this file as .npy, regardless of its extension");
  for (const char *path :
       {"out.npy", "OUT.NPY", "out", "a.csv/out", "run.3", "/dev/stdout", "-", ".csv", ""})
    EXPECT_EQ(wrongEnding("-o", path, ".npy"), "") << path;
}

} // namespace
} // namespace weir
