//===- ExpressionsTest.cpp - Expressions -----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/frontend/parser/Parsed.h"

namespace weir {
namespace {

using namespace ast;

std::string expr(const std::string &text) {
  Parsed parsed("const x = " + text);
  auto *item = parsed.item<ConstItem>();
  if (!parsed.diagnostics.empty() || !item)
    return parsed.diagnostics.render();
  EXPECT_EQ(item->entries[0].value->range.text(), text);
  return show(item->entries[0].value.get());
}

TEST(Expressions, Precedence) {
  EXPECT_EQ(expr("a + b * c - d"), "((a + (b * c)) - d)");
  EXPECT_EQ(expr("a * b @ c / d % e"), "((((a * b) @ c) / d) % e)");
  EXPECT_EQ(expr("-x ^ 2"), "(- (x ^ 2))");
  EXPECT_EQ(expr("2 ^ -x ^ 2"), "(2 ^ (- (x ^ 2)))");
  EXPECT_EQ(expr("a ^ b ^ c"), "(a ^ (b ^ c))");
  EXPECT_EQ(expr("-a * b"), "((- a) * b)");
  EXPECT_EQ(expr("a or b and not c == d"), "(a or (b and (not (c == d))))");
  EXPECT_EQ(expr("not a and b"), "((not a) and b)");
  EXPECT_EQ(expr("not not a"), "(not (not a))");
  EXPECT_EQ(expr("a + 1 <= b * 2"), "((a + 1) <= (b * 2))");
  EXPECT_EQ(expr("(a + b) * c"), "((a + b) * c)");
  EXPECT_EQ(expr("x - -1"), "(x - (- 1))");
  EXPECT_EQ(expr("(a < b) == (c != d)"), "((a < b) == (c != d))");
}

TEST(Expressions, Literals) {
  EXPECT_EQ(expr("0"), "0");
  EXPECT_EQ(expr("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(expr("1e-5"), "1e-05f");
  EXPECT_EQ(expr("2.5E+3"), "2500f");
  EXPECT_EQ(expr("true"), "true");
  EXPECT_EQ(expr("\"a \\\"b\\\"\\n\\\\\""), "'a \"b\"\n\\'");
  EXPECT_EQ(expr("[0, 2, 3]"), "[0, 2, 3]");
  EXPECT_EQ(expr("[]"), "[]");
  EXPECT_EQ(expr("[1, [2],\n 3,]"), "[1, [2], 3]");
}

TEST(Expressions, CallsAndPaths) {
  EXPECT_EQ(expr("f()"), "f()");
  EXPECT_EQ(expr("f(a, 1, axis = -1, t = x[:t],)"), "f(a, 1, axis = (- 1), t = x[:t])");
  EXPECT_EQ(expr("f(a == b)"), "f((a == b))");
  EXPECT_EQ(expr("x + f(g(x) as h[i].ln_1) as h[i + 1].attn"),
            "(x + f(g(x) as h[i].ln_1) as h[(i + 1)].attn)");
  EXPECT_EQ(expr("(f(x) as ln_f) @ w"), "(f(x) as ln_f @ w)");
  EXPECT_EQ(expr("-f(x) as p ^ 2"), "(- (f(x) as p ^ 2))");
  EXPECT_EQ(expr("wte.weight"), "wte.weight");
  // In a path a keyword is a name.
  EXPECT_EQ(expr("f(x) as model.layers[i].in.not"), "f(x) as model.layers[i].in.not");
  EXPECT_EQ(expr("f(x) as block[0] + state.next[1:]"), "(f(x) as block[0] + state.next[1:])");
  EXPECT_EQ(expr("not a.in and model.x"), "((not a.in) and model.x)");
}

TEST(Expressions, Indices) {
  EXPECT_EQ(expr("x[:t]"), "x[:t]");
  EXPECT_EQ(expr("x[:, :-1]"), "x[:, :(- 1)]");
  EXPECT_EQ(expr("x[:, 1:]"), "x[:, 1:]");
  EXPECT_EQ(expr("x[:, new, new]"), "x[:, new, new]");
  EXPECT_EQ(expr("x[.., 0]"), "x[.., 0]");
  EXPECT_EQ(expr("wte.weight[tokens][2:3]"), "wte.weight[tokens][2:3]");
  EXPECT_EQ(expr("(a - b)[:, new]"), "(a - b)[:, new]");
}

TEST(Expressions, ErrorsSayWhatWasExpectedAndFound) {
  auto error = [](const std::string &text) {
    Messages messages = errorsOf("const x = " + text + "\nconst y = 1\n");
    return messages.size() == 1 ? messages[0] : std::to_string(messages.size()) + " errors";
  };
  EXPECT_EQ(error(""), "1:10: expected an expression, found the end of the line");
  EXPECT_EQ(error("1 +"), "1:14: expected an expression, found the end of the line");
  EXPECT_EQ(error("a b"), "1:13: expected the end of the line or `;`, found `b`");
  EXPECT_EQ(error("f(a b)"), "1:15: expected `,` or `)`, found `b`");
  EXPECT_EQ(error("f(a, b"), "1:12: expected `)` to close the call opened here");
  EXPECT_EQ(error("x[1, 2"), "1:12: expected `]` to close the index opened here");
  EXPECT_EQ(error("(1 + 2"), "1:11: expected `)` to close the bracket opened here");
  EXPECT_EQ(error("f(a]"), "1:12: expected `)` to close the call opened here");
  EXPECT_EQ(error("x[]"), "1:13: expected an index, found `]`");
  EXPECT_EQ(error("x[::2]"), "1:14: a slice has no step");
  EXPECT_EQ(error("f(a = 1, 2)"), "1:20: expected a named argument, `name = value`, found `2`");
  EXPECT_EQ(error("a < b < c"), "1:17: comparisons do not chain");
  EXPECT_EQ(error("a + not b"), "1:15: `not` needs brackets here");
  EXPECT_EQ(error("(a, b)"), "1:13: a tuple is no value");
  EXPECT_EQ(error("x as y"), "1:13: `as` must follow a call");
  EXPECT_EQ(error("f(x) as 3"), "1:19: expected a path after `as`, found `3`");
  EXPECT_EQ(error("f(x) as\nfn g() { return 1 }"),
            "1:18: expected a path after `as`, found the end of the line");
  EXPECT_EQ(error("f(x)(y)"), "1:15: only a name can be called");
  EXPECT_EQ(error("f(x).y"), "1:15: tensors have no methods or attributes");
  EXPECT_EQ(error("a + new"), "1:15: `new` belongs inside an index");
  EXPECT_EQ(error("model + 1"), "1:11: expected an expression, found the keyword `model`");
  EXPECT_EQ(error("3x"), "1:11: `3x` is neither a number nor a name");
  EXPECT_EQ(error("9223372036854775808"), "1:11: integer is beyond the 64-bit range");
  EXPECT_EQ(error("1e999"), "1:11: number is beyond the range of a 64-bit float");
  EXPECT_EQ(error("\"abc"), "1:11: expected `\"` to close the string opened here");
  EXPECT_EQ(error("\"\\q\""), "1:12: unknown escape; a string has \\n, \\t, \\\" and \\\\");
  EXPECT_EQ(error("a $ b"), "1:13: `$` means nothing here");
  EXPECT_EQ(error("a && b"), "1:13: `&&` means nothing here");
  EXPECT_EQ(error("1 # one"), "1:13: `#` means nothing here");
}

} // namespace
} // namespace weir
