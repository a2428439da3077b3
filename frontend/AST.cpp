//===- AST.cpp ------------------------------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/AST.h"

namespace weir::ast {

const char *spelling(UnaryOp op) {
  switch (op) {
  case UnaryOp::negate:
    return "-";
  case UnaryOp::logicalNot:
    return "not";
  }
  return "";
}

const char *spelling(BinaryOp op) {
  static const char *const names[] = {
      "+", "-", "*", "/", "%", "^", "@", "==", "!=", "<", "<=", ">", ">=", "and", "or"};
  return names[static_cast<int>(op)];
}

static void visitOptional(const ExprPtr &expr, const std::function<void(const Expr &)> &each) {
  if (expr)
    visit(*expr, each);
}

void visit(const Expr &expr, const std::function<void(const Expr &)> &each) {
  each(expr);
  switch (expr.kind()) {
  case Kind::list:
    for (const ExprPtr &element : static_cast<const ListExpr &>(expr).elements)
      visit(*element, each);
    break;
  case Kind::call: {
    const auto &call = static_cast<const CallExpr &>(expr);
    for (const Argument &argument : call.arguments)
      visit(*argument.value, each);
    if (call.path)
      for (const Path::Component &component : call.path->components)
        for (const ExprPtr &index : component.indices)
          visit(*index, each);
    break;
  }
  case Kind::index: {
    const auto &index = static_cast<const IndexExpr &>(expr);
    visit(*index.base, each);
    for (const IndexItem &item : index.items) {
      visitOptional(item.begin, each);
      visitOptional(item.end, each);
      visitOptional(item.value, each);
    }
    break;
  }
  case Kind::unary:
    visit(*static_cast<const UnaryExpr &>(expr).operand, each);
    break;
  case Kind::binary:
    visit(*static_cast<const BinaryExpr &>(expr).lhs, each);
    visit(*static_cast<const BinaryExpr &>(expr).rhs, each);
    break;
  default:
    break;
  }
}

void visitNames(const Expr &expr, const std::function<void(const NameExpr &)> &each) {
  visit(expr, [&](const Expr &inner) {
    if (NameExpr::classof(&inner))
      each(static_cast<const NameExpr &>(inner));
  });
}

void visit(const Body &body, const std::function<void(const Stmt &)> &each) {
  for (const StmtPtr &stmt : body.statements) {
    each(*stmt);
    if (ForStmt::classof(stmt.get())) {
      visit(static_cast<const ForStmt &>(*stmt).body, each);
    } else if (IfStmt::classof(stmt.get())) {
      const auto &branch = static_cast<const IfStmt &>(*stmt);
      visit(branch.then, each);
      if (branch.otherwise)
        visit(*branch.otherwise, each);
    }
  }
}

const char *spelling(Scalar scalar) {
  static const char *const names[] = {"float", "int", "bool", "f32", "i32", "ratio"};
  return names[static_cast<int>(scalar)];
}

const char *spelling(CallableKind kind) {
  static const char *const names[] = {"fn", "block", "optimizer", "model"};
  return names[static_cast<int>(kind)];
}

} // namespace weir::ast
