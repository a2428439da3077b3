//===- StaticOperators.h - Operators on values known when compiling -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operators on numbers, truth values and texts that are known when compiling, and on ratios, whose
// weights are. None emits an op; each reports what it cannot compute and returns poison.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_ELABORATE_STATICOPERATORS_H
#define WEIR_FRONTEND_ELABORATE_STATICOPERATORS_H

#include "frontend/elaborate/Reporter.h"

namespace weir::elab {

/// Of anything but tensors; a ratio is negated by its weights.
Value staticUnary(ast::UnaryOp op, const Value &operand, Range range, Reporter &reporter);

/// Of two values that are known when compiling; `==` and `!=` with `none` also of any others.
Value staticBinary(ast::BinaryOp op, const Value &lhs, const Value &rhs, Range range,
                   Reporter &reporter);

/// Of two values of which at least one is a ratio.
Value ratioBinary(ast::BinaryOp op, const Value &lhs, const Value &rhs, Range range,
                  Reporter &reporter);

} // namespace weir::elab

#endif
