//===- Parsed.cpp - Trees as text ------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/frontend/parser/Parsed.h"

namespace weir {

using namespace ast;

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

static std::string show(const IndexItem &item) {
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
  return nameOf(tensor->element) +
         showList(tensor->dims, [](const ExprPtr &dim) { return show(dim.get()); });
}

} // namespace weir
