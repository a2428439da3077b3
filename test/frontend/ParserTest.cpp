//===- ParserTest.cpp -----------------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/Parser.h"

#include <gtest/gtest.h>

#include <random>

namespace weir {
namespace {

using namespace ast;

template <typename To> const To *as(const Node *node) {
  return node && To::classof(node) ? static_cast<const To *>(node) : nullptr;
}

//===----------------------------------------------------------------------===//
// Trees as text, fully bracketed
//===----------------------------------------------------------------------===//

std::string show(const Expr *expr);

std::string show(const Path &path) {
  std::string out;
  for (const Path::Component &component : path.components) {
    out += (out.empty() ? "" : ".") + component.name.text;
    for (const ExprPtr &index : component.indices)
      out += "[" + show(index.get()) + "]";
  }
  return out;
}

std::string show(const std::vector<Argument> &arguments) {
  std::string out;
  for (const Argument &argument : arguments) {
    out += out.empty() ? "" : ", ";
    out += (argument.name ? argument.name->text + " = " : "") + show(argument.value.get());
  }
  return "(" + out + ")";
}

std::string show(const IndexItem &item) {
  switch (item.kind) {
  case IndexItem::Kind::newAxis:
    return "new";
  case IndexItem::Kind::ellipsis:
    return "..";
  case IndexItem::Kind::value:
    return show(item.value.get());
  case IndexItem::Kind::slice:
    return (item.begin ? show(item.begin.get()) : "") + ":" +
           (item.end ? show(item.end.get()) : "");
  }
  return "?";
}

template <typename List, typename Show> std::string showList(const List &list, Show showOne) {
  std::string out;
  for (const auto &element : list)
    out += (out.empty() ? "" : ", ") + showOne(element);
  return "[" + out + "]";
}

std::string show(const Expr *expr) {
  auto showPtr = [](const ExprPtr &element) { return show(element.get()); };
  if (auto *node = as<IntegerExpr>(expr))
    return std::to_string(node->value);
  if (auto *node = as<FloatingExpr>(expr)) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", node->value);
    return std::string(text) + "f";
  }
  if (auto *node = as<BooleanExpr>(expr))
    return node->value ? "true" : "false";
  if (auto *node = as<StringExpr>(expr))
    return "'" + node->value + "'";
  if (auto *node = as<NameExpr>(expr))
    return node->name;
  if (auto *node = as<ListExpr>(expr))
    return showList(node->elements, showPtr);
  if (auto *node = as<CallExpr>(expr))
    return node->callee.text + show(node->arguments) +
           (node->path ? " as " + show(*node->path) : "");
  if (auto *node = as<IndexExpr>(expr))
    return show(node->base.get()) +
           showList(node->items, [](const IndexItem &item) { return show(item); });
  if (auto *node = as<UnaryExpr>(expr))
    return std::string("(") + spelling(node->op) + " " + show(node->operand.get()) + ")";
  if (auto *node = as<BinaryExpr>(expr))
    return "(" + show(node->lhs.get()) + " " + spelling(node->op) + " " + show(node->rhs.get()) +
           ")";
  return as<EllipsisExpr>(expr) ? ".." : "?";
}

std::string show(const Type *type) {
  if (!type)
    return "";
  if (auto *scalar = as<ScalarType>(type))
    return spelling(scalar->scalar);
  auto *tensor = as<TensorType>(type);
  return spelling(tensor->element) +
         showList(tensor->dims, [](const ExprPtr &dim) { return show(dim.get()); });
}

struct Parsed {
  explicit Parsed(std::string text) : file(sources.add("a.weir", std::move(text))) {
    module = parse(file, diagnostics);
  }
  template <typename To> const To *item(size_t index = 0) const {
    return index < module->items.size() ? as<To>(module->items[index].get()) : nullptr;
  }
  /// `line:column: message` of each diagnostic.
  std::vector<std::string> messages() const {
    std::vector<std::string> out;
    for (const Diagnostic *diagnostic : diagnostics.sorted()) {
      LineColumn place = diagnostic->range.file->locate(diagnostic->range.begin);
      out.push_back(std::to_string(place.line) + ":" + std::to_string(place.column) + ": " +
                    diagnostic->message);
    }
    return out;
  }

  SourceManager sources;
  const SourceFile &file;
  Diagnostics diagnostics;
  std::unique_ptr<Module> module;
};

using Messages = std::vector<std::string>;

Messages errorsOf(const std::string &text) { return Parsed(text).messages(); }
/// Of statements inside a block that begins on the line before them.
Messages errorsIn(const std::string &statements) {
  return errorsOf("block b(x) {\n" + statements + "\n}\n");
}

std::string expr(const std::string &text) {
  Parsed parsed("const x = " + text);
  auto *item = parsed.item<ConstItem>();
  if (!parsed.diagnostics.empty() || !item)
    return parsed.diagnostics.render();
  EXPECT_EQ(item->entries[0].value->range.text(), text);
  return show(item->entries[0].value.get());
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

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
  EXPECT_EQ(error("f(x)(y)"), "1:15: only a name can be called");
  EXPECT_EQ(error("f(x).y"), "1:15: only the parts of a name are joined by `.`");
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

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

TEST(Items, ConfigConstRequire) {
  Parsed parsed("config a = 1, b = 2.5,\n       c = true; const d = f(1)\n"
                "require a % 2 == 0, \"a must be even\" // why\n");
  ASSERT_EQ(parsed.messages(), Messages());
  auto *config = parsed.item<ConfigItem>(0);
  ASSERT_TRUE(config);
  ASSERT_EQ(config->entries.size(), 3u);
  EXPECT_EQ(config->entries[2].name.text, "c");
  EXPECT_EQ(show(config->entries[1].value.get()), "2.5f");
  ASSERT_TRUE(parsed.item<ConstItem>(1));
  auto *require = parsed.item<RequireItem>(2);
  ASSERT_TRUE(require);
  EXPECT_EQ(require->message, "a must be even");
  EXPECT_EQ(show(require->condition.get()), "((a % 2) == 0)");
}

TEST(Items, Signatures) {
  Parsed parsed("fn f(x: [b, .., 4 * w], ids: i32[b, t], m: bool[..], im: u8[2], s: [], p,\n"
                "     rate: float, n: int = 2, on: bool = true, lr: f32, eps = 1e-5)\n"
                "    -> ([..], [c], ratio) {\n  return x, m, s\n}\n");
  ASSERT_EQ(parsed.messages(), Messages());
  auto *fn = parsed.item<CallableItem>();
  ASSERT_TRUE(fn);
  EXPECT_EQ(fn->callableKind, CallableKind::function);
  std::string shown;
  for (const Parameter &parameter : fn->parameters)
    shown += parameter.name.text + ":" + show(parameter.type.get()) +
             (parameter.defaultValue ? "=" + show(parameter.defaultValue.get()) : "") + " ";
  EXPECT_EQ(shown, "x:f32[b, .., (4 * w)] ids:i32[b, t] m:bool[..] im:u8[2] s:f32[] p: "
                   "rate:float n:int=2 on:bool=true lr:f32 eps:=1e-05f ");
  ASSERT_EQ(fn->results.size(), 3u);
  EXPECT_EQ(show(fn->results[0].get()), "f32[..]");
  EXPECT_EQ(show(fn->results[2].get()), "ratio");
}

TEST(Items, SignatureErrors) {
  auto error = [](const std::string &text) {
    Messages messages = errorsOf(text + " {\n  return x\n}\nconst y = 1\n");
    return messages.size() == 1 ? messages[0] : std::to_string(messages.size()) + " errors";
  };
  EXPECT_EQ(error("fn (x)"), "1:4: expected the fn's name, found `(`");
  EXPECT_EQ(error("block b"), "1:9: expected `(` and the parameters, found `{`");
  EXPECT_EQ(error("fn f(x: [n, c)"), "1:9: expected `]` to close the type opened here");
  EXPECT_EQ(error("fn f(x: [n, c]"), "1:5: expected `)` to close the parameters opened here");
  EXPECT_EQ(error("fn f(x: i23[n])"), "1:9: unknown element type `i23`");
  EXPECT_EQ(error("fn f(x: flot)"), "1:9: unknown type `flot`");
  EXPECT_EQ(error("fn f(x: [.., n, ..])"), "1:17: a tensor type has at most one `..`");
  EXPECT_EQ(error("fn f(x) -> "), "1:13: expected a type, found `{`");
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// The recipe
//===----------------------------------------------------------------------===//

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

TEST(Items, PlanIsNotSupportedYet) {
  EXPECT_EQ(errorsOf("plan {\n  mesh 2\n}\nconst a = 1"),
            (Messages{"1:1: a `plan` block is not supported yet"}));
}

//===----------------------------------------------------------------------===//
// Recovery
//===----------------------------------------------------------------------===//

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
                      "9:1: expected config, require, const, fn, block, optimizer, model or train, "
                      "found `blok`"}));
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

//===----------------------------------------------------------------------===//
// Any input
//===----------------------------------------------------------------------===//

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
  for (const char *name : {"gpt-char", "mnist-mlp", "mnist-cnn"}) {
    SourceManager sources;
    std::string error;
    const SourceFile *file =
        sources.load(WEIR_SOURCE_DIR "/models/" + std::string(name) + ".weir", error);
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

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

TEST(Diagnostics, Rendering) {
  SourceManager sources;
  const SourceFile &file = sources.add("models/x.weir", "\xC3\xA9 = 1\n\tx = foo(a, bar)\r\n");
  Diagnostics diagnostics;
  diagnostics.error({&file, 19, 22}, "unknown name `bar`")
      .note({&file, 0, 2}, "bound here")
      .suggest(std::string("baz"));
  diagnostics.error({&file, 19, 22}, "unknown name `bar`").note({&file, 0, 2}, "again");
  diagnostics.warning({&file, 0, 2}, "odd name");
  diagnostics.error({}, "no config `q`");
  EXPECT_EQ(diagnostics.errorCount(), 2u);
  EXPECT_EQ(diagnostics.render(), "models/x.weir:1:1: warning: odd name\n"
                                  "    1 | \xC3\xA9 = 1\n"
                                  "      | ^\n"
                                  "models/x.weir:2:13: error: unknown name `bar`\n"
                                  "    2 | \tx = foo(a, bar)\n"
                                  "      | \t           ^~~\n"
                                  "models/x.weir:1:1: note: bound here\n"
                                  "    1 | \xC3\xA9 = 1\n"
                                  "      | ^\n"
                                  "  help: did you mean `baz`?\n"
                                  "error: no config `q`\n");
  EXPECT_EQ(diagnostics.renderJson().substr(0, 116),
            "{\"severity\":\"warning\",\"message\":\"odd name\",\"file\":\"models/x.weir\","
            "\"line\":1,\"column\":1,\"endLine\":1,\"endColumn\":2,\"not");
  EXPECT_NE(diagnostics.render(true).find("\033[1;31merror:\033[0m"), std::string::npos);
}

TEST(Diagnostics, Nearest) {
  EXPECT_EQ(nearest("crossentropy", {"accuracy", "cross_entropy"}), "cross_entropy");
  EXPECT_EQ(nearest("fro", {"if", "for"}), "for");
  EXPECT_EQ(nearest("wdith", {"width", "batch"}), "width");
  EXPECT_EQ(nearest("x", {"y"}), std::nullopt);
  EXPECT_EQ(nearest("batch", {"width"}), std::nullopt);
  EXPECT_EQ(nearest("batch", {"batch"}), std::nullopt);
}

} // namespace
} // namespace weir
