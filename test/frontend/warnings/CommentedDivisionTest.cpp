//===- CommentedDivisionTest.cpp - Which comments read as divisors ----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/warnings/CommentedDivision.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

/// Whether the file's one comment is warned of.
bool warned(const std::string &line) {
  SourceManager sources;
  const SourceFile &file =
      sources.add("x.weir", "config width = 8, heads = 2\nblock b(x: [n, d], k: int) {\n" + line +
                                "\n  return relu(x)\n}\n");
  Diagnostics diagnostics;
  warnCommentedDivision(file, diagnostics);
  EXPECT_LE(diagnostics.sorted().size(), 1u) << line;
  return !diagnostics.empty();
}

TEST(CommentedDivision, Divisors) {
  for (const char *line :
       {"  h = k // 2", "  h = k //2", "  h = k//2", "  h = k   // 2", "  h = (k + 1) // 2",
        "  h = width // heads", "  h = k // 2 + 1", "  h = k // heads * d", "  h = k // size(x, 0)",
        "  h = f(k // 2, 3)", "  h = split_dim(x, 1, [width // heads, heads])",
        "  h = x[:, :k // 2]", "  h = 7 // k", "  h = k // (heads)"})
    EXPECT_TRUE(warned(line)) << line;
}

TEST(CommentedDivision, Notes) {
  for (const char *line : {"  h = relu(x) // one channel",
                           "  h = k // 2 heads",
                           "  h = relu(x) // relu",
                           "  h = k // the width",
                           "  h = flatten(x) // 64 * 7 * 7",
                           "  h = x   // heads",
                           "  h = x // [n, d]",
                           "  h = x // 0 <= k",
                           "  h = k // first",
                           "  // 2",
                           "  h = x, // 2",
                           "  h = k // why?",
                           "  h = k // 28x28",
                           "  h = k //",
                           "  h = k // width, heads and the rest",
                           "  h = x // see relu(x) below",
                           "  h = k   // = 2",
                           "  h = \"a // 2\"",
                           "  h = k // 2. The rest",
                           "  h = max_pool2d(x, 2)   // 14",
                           "  param w: [n, 784]  // 784",
                           "  h = 1000   // 3000"})
    EXPECT_FALSE(warned(line)) << line;
}

} // namespace
} // namespace weir
