//===- VocabularyTest.cpp - UTF-8 and its numbers -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/data/Vocabulary.h"
#include <gtest/gtest.h>

namespace weir {
namespace {

int32_t decode(std::string_view text) {
  size_t at = 0;
  int32_t code = decodeUtf8(text, at);
  return code >= 0 && at != text.size() ? -2 : code;
}

TEST(Utf8, RoundTrip) {
  for (uint32_t code : {0u, 0x41u, 0x7Fu, 0x80u, 0x7FFu, 0x800u, 0xFFFFu, 0x10000u, 0x10FFFFu}) {
    std::string text;
    appendUtf8(text, code);
    EXPECT_EQ(decode(text), static_cast<int32_t>(code));
  }
}

TEST(Utf8, RefusesWhatIsNoCharacter) {
  for (std::string_view text :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xC3", "\xE2\x82", "\xC3\x41"})
    EXPECT_EQ(decode(text), -1) << text;
}

TEST(Vocabulary, SortedAndUnique) {
  Vocabulary vocabulary({0x20AC, 'b', 'a', 'b'});
  EXPECT_EQ(vocabulary.text(), "ab€");
  EXPECT_EQ(vocabulary.number('b'), 1);
  EXPECT_EQ(vocabulary.number(0x20AC), 2);
  EXPECT_EQ(vocabulary.number('c'), -1);
  EXPECT_EQ(vocabulary.number(0x20AD), -1);
}

} // namespace
} // namespace weir
