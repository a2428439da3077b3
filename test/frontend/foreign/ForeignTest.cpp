//===- ForeignTest.cpp - Every row of the table of foreign names ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/foreign/Foreign.h"
#include "frontend/Parser.h"
#include "frontend/elaborate/Builtins.h"
#include "frontend/elaborate/Elaborate.h"
#include "frontend/prelude/Prelude.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

const char head[] = "x: [b, 6], y: [b, 6], h: [b, 2, 5, 3], images: [b, 3, 8, 8], ids: i32[b]";
const char arguments[] = "x, y, h, images, ids";

/// A model with a block of its own for each statement.
std::string program(const std::vector<std::string> &statements) {
  std::string text, calls;
  for (size_t i = 0; i < statements.size(); ++i) {
    std::string name = "row" + std::to_string(i);
    text += "block " + name + "(" + head + ") -> [b, 6] { " + statements[i] + "; return x }\n";
    calls += "  x = " + name + "(" + arguments + ")\n";
  }
  return text + "model m(" + head + ") -> [b, 6] {\n  param w: [6] = ones()\n" + calls +
         "  return x + w\n}\ntrain {\n  input x: [4, 6]; input y: [4, 6]; input h: [4, 2, 5, 3]\n"
         "  input images: [4, 3, 8, 8]; input ids: i32[4]\n  steps 10\n"
         "  loss mse(m(" +
         arguments + "), y)\n  update sgd(lr = 0.1)\n}\n";
}

/// The errors of each statement, which are one a line.
std::vector<std::vector<Diagnostic>> errorsOf(const std::vector<std::string> &statements) {
  std::vector<std::vector<Diagnostic>> errors(statements.size());
  SourceManager sources;
  Diagnostics diagnostics;
  mlir::MLIRContext context;
  std::string text = program(statements);
  const SourceFile &file = sources.add("rows.weir", text);
  auto module = parse(file, diagnostics);
  if (!diagnostics.hasErrors())
    elaborate(*module, {}, sources, context, diagnostics);
  for (const Diagnostic *diagnostic : diagnostics.sorted()) {
    if (diagnostic->severity != Severity::error)
      continue;
    unsigned line = diagnostic->range.file == &file ? file.locate(diagnostic->range.begin).line : 0;
    EXPECT_TRUE(line >= 1 && line <= statements.size()) << diagnostic->message;
    if (line >= 1 && line <= statements.size())
      errors[line - 1].push_back(*diagnostic);
  }
  return errors;
}

TEST(Foreign, WhatToWriteInsteadIsRight) {
  std::vector<std::string> statements, codes;
  for (const ForeignName &row : foreignNames())
    if (*row.code) {
      codes.push_back(row.code);
      statements.push_back(std::string("z = ") + row.code);
    }
  EXPECT_GE(foreignNames().size(), 100u);
  auto errors = errorsOf(statements);
  for (size_t i = 0; i < codes.size(); ++i)
    for (const Diagnostic &error : errors[i])
      ADD_FAILURE() << codes[i] << ": " << error.message;
}

/// How each use of a name is written wrongly.
std::string misuse(const ForeignName &row) {
  std::string name = row.name;
  switch (row.use) {
  case Foreign::call:
    return "z = " + name + "(x, y)";
  case Foreign::argument:
    if (size_t dot = name.find('.'); dot != name.npos)
      return "z = " + name.substr(0, dot) + (name.starts_with("max_pool") ? "(images, " : "(x, ") +
             name.substr(dot + 1) + " = 1)";
    return "z = exp(x, " + name + " = 1)";
  case Foreign::value:
    return "z = " + name;
  case Foreign::statement:
    return name + " z";
  }
  return "";
}

TEST(Foreign, EveryRowIsFound) {
  for (Foreign use : {Foreign::call, Foreign::argument, Foreign::value, Foreign::statement}) {
    std::vector<const ForeignName *> rows;
    for (const ForeignName &row : foreignNames())
      if (row.use == use)
        rows.push_back(&row);
    // More errors than are kept would be counted alone.
    constexpr size_t atOnce = 50;
    static_assert(atOnce < Diagnostics::maxKept);
    for (size_t first = 0; first < rows.size(); first += atOnce) {
      std::vector<std::string> statements;
      for (size_t i = first; i < std::min(first + atOnce, rows.size()); ++i)
        statements.push_back(misuse(*rows[i]));
      auto errors = errorsOf(statements);
      for (size_t i = 0; i < statements.size(); ++i) {
        ASSERT_EQ(errors[i].size(), 1u) << statements[i];
        EXPECT_EQ(errors[i][0].helps, std::vector<std::string>{rows[first + i]->help()})
            << statements[i];
      }
    }
  }
}

TEST(Foreign, MethodsModulesAndAttributes) {
  std::vector<std::pair<std::string, std::string>> cases = {
      {"z = x.sum()", "tensors have no methods, such as `.sum`; write `sum(x)`"},
      {"z = x.mean(1)", "tensors have no methods, such as `.mean`; write `mean(x, …)`"},
      {"z = x.reshape(2, 3)", "tensors have no methods, such as `.reshape`; write `split_dim(x, 1, "
                              "[2, 3])`; `split_dim` and `merge_dims` say what becomes of which "
                              "dimension"},
      {"z = torch.relu(x)", "unknown function or block `torch.relu`; write `relu(…)`"},
      {"z = F.scaled_dot_product_attention(h, h, h)",
       "unknown function or block `F.scaled_dot_product_attention`; write `attention(h, h, h, "
       "causal "
       "= true)`"},
      {"z = x.shape", "tensors have no attributes, such as `.shape`; write `size(x, 0)`; a "
                      "signature names dimensions as well: `x: [b, t]`"},
      {"z = math.pi * x", "unknown name `math.pi`; write `pi`"},
      {"z = Relu(x)", "unknown function or block `Relu`; did you mean `relu`?"},
  };
  std::vector<std::string> statements;
  for (const auto &[statement, expected] : cases)
    statements.push_back(statement);
  auto errors = errorsOf(statements);
  for (size_t i = 0; i < cases.size(); ++i) {
    ASSERT_EQ(errors[i].size(), 1u) << cases[i].first;
    std::string said = errors[i][0].message;
    for (const std::string &help : errors[i][0].helps)
      said += "; " + help;
    EXPECT_EQ(said, cases[i].second);
  }
}

TEST(Foreign, Syntax) {
  std::vector<std::pair<std::string, std::string>> cases = {
      {"z = x ** 2", "a power is written `x ^ 2`"},
      {"z = relu(x).sum()", "write `sum(…)`, with the tensor as its first argument"},
      {"z = (x + y).T", "write `transpose(x)`"},
      {"z = x if y else h", "`select(condition, a, b)` chooses between values"},
      {"z = lambda x: x", "`fn name(x) { … }` stands outside of bodies"},
      {"x[0] = y", "no value changes: `select` and `concat` make another"},
      {"z = 'a'", "a string is in double quotes"},
      {"for i in range(4): z = x", "`for i in 0..4 { … }` is a loop, `iota(4)` a tensor"},
      {"if true: z = x", "bodies are in braces: `{ … }`"},
      {"x += y", "write `x = x + …`"},
  };
  for (const auto &[statement, help] : cases) {
    auto errors = errorsOf({statement});
    ASSERT_EQ(errors[0].size(), 1u) << statement;
    EXPECT_EQ(errors[0][0].helps, std::vector<std::string>{help}) << statement;
  }
  EXPECT_EQ(errorsOf({"z = x[..., 0]"})[0].at(0).message,
            "dimensions that stay are written `..`, with two dots");
}

// A name that Weir has as well would never be looked up.
TEST(Foreign, NoRowIsWeirsOwn) {
  SourceManager sources;
  Diagnostics diagnostics;
  std::set<std::string> own;
  for (const std::string &name : elab::builtinNames())
    own.insert(name);
  for (const PreludeFile &file : preludeFiles()) {
    auto module = parse(sources.add(file.name, file.text), diagnostics);
    for (const ast::ItemPtr &item : module->items)
      if (const auto *callable = llvm::dyn_cast<ast::CallableItem>(item.get()))
        own.insert(callable->name.text);
  }
  std::set<std::pair<Foreign, std::string>> seen;
  for (const ForeignName &row : foreignNames()) {
    EXPECT_TRUE(row.use != Foreign::call || !own.count(row.name)) << row.name;
    EXPECT_TRUE(seen.emplace(row.use, row.name).second) << row.name << " twice";
    EXPECT_FALSE(row.help().empty()) << row.name;
  }
}

} // namespace
} // namespace weir
