//===- AnyInputTest.cpp - Mistakes, and what nobody would write ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/frontend/parser/Parsed.h"

#include <filesystem>
#include <random>

namespace weir {
namespace {

using namespace ast;

TEST(Recovery, FiveMistakesGiveFiveDiagnostics) {
  EXPECT_EQ(errorsOf("config a = 1, = 2\n"
                     "block b(x: [n) -> [n] {\n"
                     "  y = f(x, 1\n"
                     "  for i in 0..3 {\n"
                     "    y = y + * 2\n"
                     "  }\n"
                     "  return y\n"
                     "}\n"
                     "blok c(x) {\n"
                     "  if x { y = 1 }\n"
                     "  return y\n"
                     "}\n"
                     "const z = 1\n"),
            (Messages{"1:15: expected the config's name, found `=`",
                      "2:12: expected `]` to close the type opened here",
                      "3:8: expected `)` to close the call opened here",
                      "5:13: expected an expression, found `*`",
                      "9:1: expected config, require, const, fn, block, optimizer, model, train or "
                      "plan, found `blok`"}));
}

TEST(Recovery, UnclosedCallTakesOnlyItsLine) {
  EXPECT_EQ(errorsIn("a = f(x, 1\nb = g(a)\nc = = 1"),
            (Messages{"2:6: expected `)` to close the call opened here",
                      "4:5: expected an expression, found `=`"}));
}

TEST(Recovery, MissingBrace) {
  EXPECT_EQ(errorsOf("block b(x) {\n  for i in 0..3 {\n  y = 1\n  return y\n}\n"
                     "block c(x) {\n  return x +\n}\n"),
            (Messages{"1:12: expected `}` to close the block opened here",
                      "7:13: expected an expression, found the end of the line"}));
  EXPECT_EQ(errorsOf("block b(x) {\n  y = f(\n"),
            (Messages{"2:9: expected an expression, found the end of the file"}));
}

TEST(Recovery, BraceTooMany) {
  EXPECT_EQ(errorsOf("block b(x) {\n  return x\n}\n}\nconst a = 1\n"),
            (Messages{"4:1: `}` closes nothing"}));
  EXPECT_EQ(errorsOf("block b(x) {\n  y = x }\n  return y\n}\nconst a = = 1\n").size(), 2u);
}

std::string repeat(const std::string &text, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i)
    out += text;
  return out;
}

TEST(AnyInput, DeepNestingIsReportedOnce) {
  const size_t many = 100000;
  for (const char *opener : {"(", "[", "-", "f(", "x[", "not ", "2 ^ ", "f(a, ", "f(x) as p["}) {
    Messages messages = errorsOf("const x = " + repeat(opener, many) + "\nconst y = )");
    ASSERT_EQ(messages.size(), 2u) << opener;
    EXPECT_TRUE(messages[0].ends_with(": expression is nested more than 200 deep")) << messages[0];
    EXPECT_EQ(messages[1], "2:11: expected an expression, found `)`");
  }
  auto ofStatements = [&](const std::string &opener) {
    Messages messages = errorsOf("block b(x) {" + repeat(opener, many) + "}");
    EXPECT_EQ(messages.size(), 1u) << opener << testing::PrintToString(messages);
    EXPECT_TRUE(messages.at(0).ends_with(": statements are nested too deep")) << messages[0];
  };
  ofStatements("if a {");
  ofStatements("for i in 0..1 {\n");
  ofStatements("if a { } else ");
  EXPECT_EQ(errorsOf("const x = " + repeat("(", 150) + "1" + repeat(")", 150)), Messages());
}

TEST(AnyInput, LongChainsAreReported) {
  EXPECT_EQ(errorsOf("const x = 1" + repeat(" + 1", 900)), Messages());
  EXPECT_EQ(errorsOf("const x = 1" + repeat(" + 1", 100000)),
            (Messages{"1:11: expression is too long"}));
  EXPECT_EQ(errorsOf("const x = y" + repeat("[0]", 100000)),
            (Messages{"1:11: expression is too long"}));
  EXPECT_EQ(errorsOf("const x = [1" + repeat(", 1", 100000) + "]"), Messages());
}

TEST(AnyInput, MismatchedBracketsStayLinear) {
  errorsOf("const x = " + repeat("(", 300000) + repeat("]", 300000));
  errorsOf(repeat("}", 300000) + repeat("{", 300000));
  errorsOf(repeat("fn f(x) {\n", 50000));
}

/// Ranges of everything stay inside the file and rendering takes whatever comes.
void survive(const std::string &text) {
  Parsed parsed(text);
  for (const Diagnostic *diagnostic : parsed.diagnostics.sorted()) {
    ASSERT_LE(diagnostic->range.begin, diagnostic->range.end);
    ASSERT_LE(diagnostic->range.end, text.size());
  }
  EXPECT_EQ(parsed.diagnostics.render().empty(), parsed.diagnostics.empty());
  EXPECT_EQ(parsed.diagnostics.renderJson().empty(), parsed.diagnostics.empty());
}

TEST(AnyInput, RandomBytesAndTokens) {
  std::mt19937 random(1);
  const char *const words[] = {
      "config ", "require ", "fn ",    "block ",   "train ", "param ", "state ", "next ", "for ",
      "if ",     "return ",  "let ",   "else ",    "in ",    "as ",    "new ",   "not ",  "and ",
      "x ",      "f",        "(",      ")",        "[",      "]",      "{",      "}",     ",",
      ";",       ":",        ".",      "..",       "->",     "=",      "+",      "-",     "*",
      "^",       "@",        "==",     "<",        "1 ",     "2.5 ",   "\"s\" ", "\n",    "loss ",
      "update ", "i32",      "where ", "\xC3\xA9", "// c\n"};
  for (int round = 0; round < 3000; ++round) {
    std::string bytes, tokens;
    for (unsigned i = random() % 60; i > 0; --i) {
      bytes += static_cast<char>(random());
      tokens += words[random() % std::size(words)];
    }
    survive(bytes);
    survive(tokens);
    survive("block b(x) {\n" + tokens + "\n}\n");
    survive("train {\n" + tokens + "\n}\n");
  }
}

TEST(AnyInput, EveryCutAndEveryMissingByteOfAModel) {
  for (const auto &model : std::filesystem::directory_iterator(WEIR_SOURCE_DIR "/models")) {
    std::string name = model.path();
    SourceManager sources;
    std::string error;
    const SourceFile *file = sources.load(name, error);
    ASSERT_TRUE(file) << error;
    std::string text(file->text());
    EXPECT_EQ(errorsOf(text), Messages());
    for (size_t i = 0; i < text.size(); ++i) {
      survive(text.substr(0, i));
      std::string without = text;
      without.erase(i, 1);
      Messages messages = errorsOf(without);
      EXPECT_LE(messages.size(), 2u) << "without byte " << i << " of " << name;
    }
  }
}

} // namespace
} // namespace weir
