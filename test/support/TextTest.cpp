//===- TextTest.cpp - Texts that may be printed ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/Text.h"
#include "support/Utf8.h"
#include <cmath>
#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(Printable, LeavesCharactersAndSpellsControls) {
  EXPECT_EQ(printable("h.0.attn, \u00e9\u4e16\U0001f600\n\tnext"),
            "h.0.attn, \u00e9\u4e16\U0001f600\n\tnext");
  EXPECT_EQ(printable("\x1b[2J\r\x07\x7f"), "\\x1b[2J\\x0d\\x07\\x7f");
  EXPECT_EQ(printable("a\u009b\u202e\u2066"), "a\\x9b\\u202e\\u2066");
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable(""), "");
}

TEST(ShownName, IsOneLineAndShort) {
  EXPECT_EQ(shownName("w"), "w");
  EXPECT_EQ(shownName("a\nb\tc"), "a\\nb\\tc");
  EXPECT_EQ(shownName(std::string(1000, 'a'), 5), "aaaaa\u2026 (1000 bytes)");
  EXPECT_EQ(shownName("aaaa\u00e9\u00e9", 5), "aaaa\u2026 (8 bytes)");
}

TEST(JoinFew, SaysHowManyMore) {
  EXPECT_EQ(joinFew({}), "");
  EXPECT_EQ(joinFew({"a", "b"}, "; ", 2), "a; b");
  EXPECT_EQ(joinFew({"a", "b", "c"}, "; ", 2), "a; b; c");
  EXPECT_EQ(joinFew({"a", "b", "c", "d"}, "; ", 2), "a; b; and 2 more");
}

TEST(Text, LowerCaseIsOfAsciiAlone) {
  EXPECT_EQ(lowerCase("A_Z.NPY09"), "a_z.npy09");
  EXPECT_EQ(lowerCase("\xC3\x84.Pt[@"), "\xC3\x84.pt[@");
}

TEST(Text, NoNumberHasASign) {
  EXPECT_EQ(concat("loss ", -std::nan(""), ", ", -std::nanf(""), ", ", -HUGE_VAL),
            "loss nan, nan, -inf");
}

} // namespace
} // namespace weir
