//===- Parsed.h - A parsed text, its tree and its messages -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_FRONTEND_PARSER_PARSED_H
#define WEIR_TEST_FRONTEND_PARSER_PARSED_H

#include "frontend/Parser.h"

#include <gtest/gtest.h>

namespace weir {

template <typename To> const To *as(const ast::Node *node) {
  return node && To::classof(node) ? static_cast<const To *>(node) : nullptr;
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
  std::unique_ptr<ast::Module> module;
};

using Messages = std::vector<std::string>;

inline Messages errorsOf(const std::string &text) { return Parsed(text).messages(); }
/// Of statements inside a block that begins on the line before them.
inline Messages errorsIn(const std::string &statements) {
  return errorsOf("block b(x) {\n" + statements + "\n}\n");
}

/// Trees as text, fully bracketed.
std::string show(const ast::Expr *expr);
std::string show(const ast::Path &path);
std::string show(const std::vector<ast::Argument> &arguments);
std::string show(const ast::Type *type);

template <typename List, typename Show> std::string showList(const List &list, Show showOne) {
  std::string out;
  for (const auto &element : list)
    out += (out.empty() ? "" : ", ") + showOne(element);
  return "[" + out + "]";
}

} // namespace weir

#endif
