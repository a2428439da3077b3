//===- UnusedTest.cpp - What a file says and nothing uses -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/warnings/Unused.h"
#include "frontend/Parser.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

using Messages = std::vector<std::string>;

/// `line: name: message` of each warning.
Messages warnings(const std::string &text) {
  SourceManager sources;
  const SourceFile &file = sources.add("x.weir", text);
  Diagnostics diagnostics;
  auto module = parse(file, diagnostics);
  EXPECT_EQ(diagnostics.render(), "") << text;
  warnUnused(*module, diagnostics);
  Messages out;
  for (const Diagnostic *diagnostic : diagnostics.sorted())
    out.push_back(std::to_string(file.locate(diagnostic->range.begin).line) + ": " +
                  nameOf(*diagnostic->warning) + ": " + diagnostic->message);
  return out;
}

/// Of the statements of a fn's body, which begins on line 2.
Messages inBody(const std::string &body) { return warnings("fn f(x, k) {\n" + body + "\n}\n"); }

Messages unusedAt(std::initializer_list<std::pair<int, const char *>> places) {
  Messages out;
  for (auto [line, name] : places)
    out.push_back(std::to_string(line) + ": unused-binding: the value bound to `" + name +
                  "` here is never used");
  return out;
}

TEST(Unused, Bindings) {
  EXPECT_EQ(inBody("y = x\nreturn x + k"), unusedAt({{2, "y"}}));
  EXPECT_EQ(inBody("y = x\ny = k\nreturn x + y"), unusedAt({{2, "y"}}));
  EXPECT_EQ(inBody("x = x + k\nx = x + 1\nreturn x"), Messages());
  EXPECT_EQ(inBody("_y = x\nreturn x + k"), Messages());
  // Results that come together are used together.
  EXPECT_EQ(inBody("a, b = moments(x)\nreturn a + k"), Messages());
  EXPECT_EQ(inBody("a, b = moments(x)\nreturn x + k"), unusedAt({{2, "a"}, {2, "b"}}));
  EXPECT_EQ(inBody("a, b = x, k\nreturn a"), unusedAt({{2, "b"}}));
  EXPECT_EQ(inBody("let e = enc as e\nreturn x + k"), unusedAt({{2, "e"}}));
  EXPECT_EQ(inBody("let e = enc as e\nreturn e(x, k)"), Messages());
}

TEST(Unused, LoopsAndBranches) {
  // What a round binds, the next one reads.
  EXPECT_EQ(inBody("a = k\nfor i in 0..3 {\nx = x + a\na = 2 * a\n}\nreturn x"), Messages());
  EXPECT_EQ(inBody("for i in 0..3 {\na = x + k\n}\nreturn x"), unusedAt({{3, "a"}}));
  EXPECT_EQ(inBody("y = 1\nfor i in 0..k { y = x }\nreturn y"), Messages());
  EXPECT_EQ(inBody("if k { y = x } else { y = 2 * x }\nreturn y"), Messages());
  EXPECT_EQ(inBody("y = x\nif k { y = 2 * x }\nreturn y"), Messages());
  EXPECT_EQ(inBody("y = x\nif k { y = 1\n} else { y = 2 }\nreturn y"), unusedAt({{2, "y"}}));
  EXPECT_EQ(inBody("y = x\nif k { return y }\ny = 3\nreturn y"), Messages());
  EXPECT_EQ(inBody("for i in 0..3 { x = b(x) as h[i + k] }\nreturn x"), Messages());
  EXPECT_EQ(inBody("d = k\nrequire d > 0, \"positive\"\nreturn x"), Messages());
}

// One pass, however deep loops and branches are in each other.
TEST(Unused, Nesting) {
  std::string open, close;
  for (int i = 0; i < 25; ++i) {
    open += "for i in 0..2 { if k {\n";
    close += "} }\n";
  }
  EXPECT_EQ(inBody(open + "x = x + k; a = 1\n" + close + "return x"), unusedAt({{27, "a"}}));
}

TEST(Unused, Arguments) {
  EXPECT_EQ(warnings("fn f(x: [n, d], d: int, e = 1, _g = 2) { return x }"),
            (Messages{"1: unused-argument: the argument `e` of `f` is never used"}));
  EXPECT_EQ(warnings("optimizer o(p, g, lr: f32) { next p = p - lr * g }"), Messages());
  EXPECT_EQ(warnings("optimizer o(p, g, lr: f32) { next p = g }"),
            (Messages{"1: unused-argument: the argument `lr` of `o` is never used"}));
  EXPECT_EQ(warnings("optimizer o(p, g) { }"), Messages());
}

TEST(Unused, States) {
  EXPECT_EQ(inBody("state s = zeros_like(x)\nnext s = s + k\nreturn x"),
            (Messages{"2: unused-state: the state `s` is never read but for its own next value"}));
  EXPECT_EQ(inBody("state s = zeros_like(x)\nreturn x + k"),
            (Messages{"2: unused-state: the state `s` is never read"}));
  EXPECT_EQ(inBody("state s = zeros_like(x)\nreturn x + k + s"),
            (Messages{"2: unused-state: the state `s` always keeps its first value"}));
  EXPECT_EQ(inBody("state s = zeros_like(x)\nif k { next s = x\nreturn x }\nreturn x + s"),
            Messages());
}

TEST(Unused, TheRecipe) {
  const std::string models = "config n = 2\nmodel a(x: [b, n]) -> [b, n] { return x }\n"
                             "model c(x: [b, n]) -> [b, n] { return x }\n";
  const std::string end = "  steps 1\n  loss mse(y, x)\n  lr = 0.1\n  update sgd(lr)\n}\n";
  EXPECT_EQ(warnings(models + "train {\n  input x: [4, n]\n  y = c(a(x))\n" + end), Messages());
  EXPECT_EQ(
      warnings(models + "train {\n  input x: [4, n]\n  input z: [4]\n  y = a(x)\n  w = y\n" + end),
      (Messages{"3: unused-definition: the model `c` is called by nothing that the recipe "
                "reaches",
                "6: unused-input: the input `z` is never used",
                "8: unused-binding: the value bound to `w` here is never used"}));
  EXPECT_EQ(warnings("const k = 3, j = k\nmodel a(x: [b, n]) -> [b, n] { return x }\n"
                     "train {\n  input x: [4, 2]\n  steps 1\n  loss mse(a(x), x)\n  lr = 0.1\n"
                     "  update sgd(0.1)\n}\n"),
            (Messages{"1: unused-config: the const `j` is never used",
                      "7: unused-binding: the learning rate `lr` is given to no optimizer"}));
}

TEST(Unused, ConfigsAndConstsCallDefinitions) {
  EXPECT_EQ(
      warnings("fn f(n: int) { return 1 / n }\nfn g(n) { return n }\nconfig n = 2\n"
               "const k = f(n)\nrequire g(n) > 1, \"more\"\n"
               "model m(x: [b, c]) -> [b, c] { return k * x }\n"
               "train {\n  input x: [4, 2]\n  steps 1\n  loss mse(m(x), x)\n  update sgd(1)\n}\n"),
      Messages());
}

TEST(Unused, OneNameDoesNotExcuseAnother) {
  EXPECT_EQ(inBody("a, _b = f(x)\nreturn x + k"), unusedAt({{2, "a"}}));
  EXPECT_EQ(inBody("a, _b = f(x)\nreturn x + k + a"), Messages());
}

// What only something unused calls is unused as well.
TEST(Unused, Definitions) {
  EXPECT_EQ(
      warnings("fn f(x) { return x }\nfn g(x) { return f(x) }\nblock e(x) { return x }\n"
               "model m(x: [b, n]) -> [b, n] { let i = e as i; return i(x) }\n"
               "optimizer o(p, g) { next p = p - g }\noptimizer q(p, g) { next p = p - g }\n"
               "train {\n  input x: [4, 2]\n  steps 1\n  loss mse(m(x), x)\n  update o()\n}\n"),
      (Messages{"1: unused-definition: the fn `f` is called by nothing that the recipe reaches",
                "2: unused-definition: the fn `g` is called by nothing that the recipe reaches",
                "6: unused-definition: the optimizer `q` is called by nothing that the recipe "
                "reaches"}));
}

} // namespace
} // namespace weir
