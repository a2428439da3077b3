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

const char *spelling(Element element) {
  static const char *const names[] = {"f32", "i32", "u8", "bool"};
  return names[static_cast<int>(element)];
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
