//===- Parts.h - The elaborator's parts around a parsed file ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_FRONTEND_ELABORATE_PARTS_H
#define WEIR_TEST_FRONTEND_ELABORATE_PARTS_H

#include "frontend/Parser.h"
#include "frontend/elaborate/Evaluator.h"
#include "frontend/elaborate/StaticOperators.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/BuiltinTypes.h"
#include <gtest/gtest.h>

namespace weir::elab {

/// Knows literals, the names of the innermost call, and operators on them.
class StaticEvaluator : public Evaluator {
public:
  using Evaluator::Evaluator;

  Value evaluate(const ast::Expr &expr) override {
    if (const auto *node = llvm::dyn_cast<ast::IntegerExpr>(&expr))
      return node->value;
    if (const auto *node = llvm::dyn_cast<ast::FloatingExpr>(&expr))
      return node->value;
    if (const auto *node = llvm::dyn_cast<ast::BooleanExpr>(&expr))
      return node->value;
    if (const auto *node = llvm::dyn_cast<ast::StringExpr>(&expr))
      return node->value;
    if (const auto *node = llvm::dyn_cast<ast::UnaryExpr>(&expr))
      return staticUnary(node->op, evaluate(*node->operand), node->range, reporter);
    if (const auto *node = llvm::dyn_cast<ast::BinaryExpr>(&expr))
      return staticBinary(node->op, evaluate(*node->lhs), evaluate(*node->rhs), node->range,
                          reporter);
    if (const auto *node = llvm::dyn_cast<ast::NameExpr>(&expr))
      if (Binding *binding = calls->find(node->name))
        return binding->value;
    reporter.unknown(expr.range, "unknown `" + std::string(expr.range.text()) + "`");
    return {};
  }
};

/// A model file, a frame in it as of the file, and what the parts need around them. `prelude` is a
/// second file.
class Parts : public testing::Test {
protected:
  void read(const std::string &text, const std::string &prelude = "") {
    parsed = parse(sources.add("test.weir", text), diagnostics);
    parsedPrelude = parse(sources.add("prelude.weir", prelude), diagnostics);
    ASSERT_FALSE(diagnostics.hasErrors()) << diagnostics.render();
    files = std::make_unique<Files>(*parsed, std::vector<const ast::Module *>{parsedPrelude.get()});
    reporter = std::make_unique<Reporter>(diagnostics, calls, parsed->file);
    evaluator = std::make_unique<StaticEvaluator>(*reporter, calls);
    outermost.file = &files->model;
    outermost.scope = &files->model.globals;
    calls = &outermost;
  }

  const ast::CallableItem &callable(const std::string &name) {
    const ast::CallableItem *found = files->findCallable(name, files->model);
    EXPECT_TRUE(found) << name;
    return *found;
  }
  /// Begins a call of a callable from the innermost one.
  void enter(Frame &frame, Scope &scope, const ast::CallableItem &callable, Range callSite = {}) {
    frame.caller = calls.get();
    frame.callable = &callable;
    frame.file = &files->fileOf(callable);
    frame.callSite = callSite;
    frame.scope = &scope;
    calls = &frame;
  }
  /// The range of the first occurrence of a text in the model file.
  Range rangeOf(const std::string &text) {
    size_t begin = parsed->file->text().find(text);
    EXPECT_NE(begin, std::string::npos) << text;
    return {parsed->file, uint32_t(begin), uint32_t(begin + text.size())};
  }
  /// A tensor that nothing computes.
  Tensor tensor(const std::vector<int64_t> &shape) {
    mlir::Type type = mlir::RankedTensorType::get(shape, mlir::Float32Type::get(&context));
    Tensor result{block.addArgument(type, mlir::UnknownLoc::get(&context)), {}};
    for (int64_t size : shape)
      result.dims.push_back(unnamed(size));
    return result;
  }
  std::vector<std::string> messages() {
    std::vector<std::string> texts;
    for (const Diagnostic *diagnostic : diagnostics.sorted())
      texts.push_back(diagnostic->message);
    return texts;
  }
  using Messages = std::vector<std::string>;

  mlir::MLIRContext context;
  mlir::Block block;
  SourceManager sources;
  Diagnostics diagnostics;
  std::unique_ptr<ast::Module> parsed, parsedPrelude;
  std::unique_ptr<Files> files;
  CallStack calls;
  Frame outermost;
  std::unique_ptr<Reporter> reporter;
  std::unique_ptr<StaticEvaluator> evaluator;
};

} // namespace weir::elab

#endif
