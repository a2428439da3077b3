//===- StatementsTest.cpp - Statements and recipes -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/frontend/parser/Parsed.h"

namespace weir {
namespace {

using namespace ast;

TEST(Statements, Every) {
  Parsed parsed("block b(x) {\n"
                "  param wte.weight: [n, w] = ones();  param bias: [c] = zeros()\n"
                "  state m = zeros_like(x); state s: [c] = zeros()\n"
                "  let e = encoder as enc; let g = encoder(width = 2) as h[0].g; let k = encoder\n"
                "  a, c = f(x)\n"
                "  a, c = c, a\n"
                "  next m = a\n"
                "  for i in 0..2 * n { a = e(a) }\n"
                "  if training { c = 1 } else if a == c { c = 2 }\n"
                "  else { c = 3; }\n"
                "  return a, c\n"
                "}");
  ASSERT_EQ(parsed.messages(), Messages());
  auto *block = parsed.item<CallableItem>();
  ASSERT_TRUE(block);
  const auto &body = block->body.statements;
  ASSERT_EQ(body.size(), 13u);
  auto *param = as<ParamStmt>(body[0].get());
  ASSERT_TRUE(param);
  EXPECT_EQ(param->name.text, "wte.weight");
  EXPECT_EQ(show(param->type.get()), "f32[n, w]");
  EXPECT_FALSE(as<StateStmt>(body[2].get())->type);
  EXPECT_TRUE(as<StateStmt>(body[3].get())->type);
  auto *let = as<LetStmt>(body[5].get());
  ASSERT_TRUE(let);
  EXPECT_EQ(let->callee.text + show(let->arguments), "encoder(width = 2)");
  EXPECT_EQ(show(*let->path), "h[0].g");
  EXPECT_FALSE(as<LetStmt>(body[6].get())->path);
  EXPECT_EQ(as<AssignStmt>(body[7].get())->values.size(), 1u);
  EXPECT_EQ(as<AssignStmt>(body[8].get())->targets[1].text, "c");
  EXPECT_EQ(as<AssignStmt>(body[8].get())->values.size(), 2u);
  EXPECT_EQ(as<NextStmt>(body[9].get())->name.text, "m");
  auto *loop = as<ForStmt>(body[10].get());
  ASSERT_TRUE(loop);
  EXPECT_EQ(show(loop->end.get()), "(2 * n)");
  EXPECT_EQ(loop->body.range.text(), "{ a = e(a) }");
  auto *branch = as<IfStmt>(body[11].get());
  ASSERT_TRUE(branch && branch->otherwise);
  auto *elseIf = as<IfStmt>(branch->otherwise->statements.at(0).get());
  ASSERT_TRUE(elseIf && elseIf->otherwise);
  EXPECT_EQ(as<ReturnStmt>(body[12].get())->values.size(), 2u);
}

// It begins an item as well as a statement: a line of it closes no brackets around it.
TEST(Statements, Require) {
  Parsed parsed("fn f(x, rate) {\n"
                "  require rate < 1 and rate >= 0, \"a share\"\n"
                "  if rate > 0 { require rate != 0.5, \"no half\"; }\n"
                "  return x\n"
                "}\n"
                "require 1 < 2, \"an item\"\n"
                "fn g(x) { return x }\n");
  ASSERT_EQ(parsed.messages(), Messages());
  auto *function = parsed.item<CallableItem>(0);
  ASSERT_TRUE(function && parsed.item<RequireItem>(1) && parsed.item<CallableItem>(2));
  ASSERT_EQ(function->body.statements.size(), 3u);
  auto *require = as<RequireStmt>(function->body.statements[0].get());
  ASSERT_TRUE(require);
  EXPECT_EQ(require->requirement.message, "a share");
  EXPECT_EQ(show(require->requirement.condition.get()), "((rate < 1) and (rate >= 0))");

  EXPECT_EQ(errorsIn("  require x > 1\n  y = 1"),
            (Messages{"2:16: expected `,` and the message, a string, found the end of the line"}));
  // Where a brace is missing, the next item says so.
  EXPECT_EQ(errorsOf("fn f(x) {\n  return x\nrequire 1 < 2, \"in f\"\nfn g(x) { return x }\n"),
            (Messages{"1:9: expected `}` to close the fn opened here"}));
}

TEST(Statements, Errors) {
  auto error = [](const std::string &text) {
    Messages messages = errorsIn(text + "\n  y = 1");
    return messages.size() == 1 ? messages[0] : std::to_string(messages.size()) + " errors";
  };
  EXPECT_EQ(error("retrun x"), "2:1: unknown statement `retrun`");
  EXPECT_EQ(error("f(x)"), "2:2: expected `=` after `f`, found `(`");
  EXPECT_EQ(error("x += 1"), "2:3: expected `=` after `x`, found `+`");
  EXPECT_EQ(error("x"), "2:2: expected `=` after `x`, found the end of the line");
  EXPECT_EQ(error("a, b, c = 1, 2"), "2:11: 2 values for 3 names");
  EXPECT_EQ(error("param in: [c] = ones()"),
            "2:7: expected the parameter's name, found the keyword `in`");
  EXPECT_EQ(error("param w = ones()"), "2:9: expected `:` and the parameter's type, found `=`");
  EXPECT_EQ(error("param w: [c]"), "2:13: expected `=` and the parameter's initial value, found "
                                   "the end of the line");
  EXPECT_EQ(error("for i in 3 { z = 1 }"),
            "2:12: expected `..` and the end of the range, found `{`");
  EXPECT_EQ(error("for i 0..3 { z = 1 }"), "2:7: expected `in`, found `0`");
  EXPECT_EQ(error("if { z = 1 } else { z = 2 }"), "2:4: expected an expression, found `{`");
  EXPECT_EQ(error("else { z = 2 }"), "2:1: `else` without an `if` before it");
  EXPECT_EQ(error("return"), "2:7: expected a value to return, found the end of the line");
  EXPECT_EQ(error("let e = f(x) as p"), "2:11: arguments of an instance are named");
  EXPECT_EQ(error("x = 1; fn f"), "2:8: expected a statement, found the keyword `fn`");
  EXPECT_EQ(error("x = {1}"), "2:5: expected an expression, found `{`");
  EXPECT_EQ(error("x = f(a,\n  b c,\n  d)"), "3:5: expected `,` or `)`, found `c`");
}

TEST(Statements, FaultyHeadsStillHaveTheirBodiesChecked) {
  EXPECT_EQ(errorsIn("for i in 3 {\n  y = = 2\n}\nz = )"),
            (Messages{"2:12: expected `..` and the end of the range, found `{`",
                      "3:7: expected an expression, found `=`",
                      "5:5: expected an expression, found `)`"}));
}

TEST(Recipe, EveryEntry) {
  Parsed parsed("train {\n"
                "  input window: i32[batch, context + 1]\n"
                "  steps 2000; epochs 3\n"
                "  a, b = f(window[:, :-1])\n"
                "  loss cross_entropy(a, b)\n"
                "  metric accuracy = accuracy(a, b)\n"
                "  clip global_norm(1.0)\n"
                "  lr = cosine(peak = 1e-3)\n"
                "  accumulate 4\n"
                "  update adamw(lr, decay = 0.1) where rank >= 2 and not name == \"wpe\"\n"
                "  update sgd(lr)\n"
                "}\n");
  ASSERT_EQ(parsed.messages(), Messages());
  auto *train = parsed.item<TrainItem>();
  ASSERT_TRUE(train);
  std::vector<Kind> kinds;
  for (const auto &entry : train->entries)
    kinds.push_back(entry->kind());
  EXPECT_EQ(kinds, (std::vector<Kind>{Kind::input, Kind::steps, Kind::epochs, Kind::assign,
                                      Kind::loss, Kind::metric, Kind::clip, Kind::learningRate,
                                      Kind::accumulate, Kind::update, Kind::update}));
  auto *update = as<UpdateEntry>(train->entries[9].get());
  EXPECT_EQ(show(update->optimizer.get()), "adamw(lr, decay = 0.1f)");
  EXPECT_EQ(show(update->where.get()), "((rank >= 2) and (not (name == 'wpe')))");
  EXPECT_FALSE(as<UpdateEntry>(train->entries[10].get())->where);
  auto *lr = as<ValueEntry>(train->entries[7].get());
  ASSERT_TRUE(lr);
  EXPECT_EQ(lr->keyword.text(), "lr");
}

TEST(Recipe, Errors) {
  EXPECT_EQ(errorsOf("train {\n  steps = 3\n  lss f(x)\n  lr 0.1\n  update sgd\n"
                     "  update sgd(lr) were rank > 1\n  param w: [c] = ones()\n}"),
            (Messages{"2:9: `steps` is followed by its value, without `=`",
                      "3:3: unknown statement `lss`", "4:6: expected `=` after `lr`, found `0.1`",
                      "5:13: expected `(` and the optimizer's arguments, found the end of the line",
                      "6:18: expected `where`, or the end of the line, found `were`",
                      "7:3: expected an entry of the recipe, found the keyword `param`"}));
}

} // namespace
} // namespace weir
