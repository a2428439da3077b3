//===- TypeMatcher.h - Arguments and results against their types ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_ELABORATE_TYPEMATCHER_H
#define WEIR_FRONTEND_ELABORATE_TYPEMATCHER_H

#include "frontend/elaborate/ShapeMatcher.h"
#include "frontend/elaborate/TensorBuilder.h"

namespace weir::elab {

/// Values against the types of the innermost call's callable. What does not fit is reported, and
/// the result is poison; numbers become scalars, and u8 tensors i32, where the type wants them.
class TypeMatcher {
public:
  TypeMatcher(CallStack &calls, ShapeMatcher &shapes, TensorBuilder &tensors, Reporter &reporter)
      : current(calls), shapes(shapes), tensors(tensors), reporter(reporter) {}

  /// The argument as its parameter's type wants it, with the type's names for its dimensions;
  /// dimensions met first are bound.
  Value matchParameter(const ast::Parameter &parameter, const CallArgument &argument);
  /// The result of the innermost call as its types want it, with the caller's names.
  Value matchResults(const ast::CallableItem &callable, Value result);

private:
  Value match(const ast::Type &type, const Value &value, const Matched &matched);
  Value matchTensor(const ast::TensorType &type, const Value &value, const Matched &matched);
  Value matchScalar(ast::Scalar scalar, const Value &value, const Matched &matched);

  CallStack &current;
  ShapeMatcher &shapes;
  TensorBuilder &tensors;
  Reporter &reporter;
};

} // namespace weir::elab

#endif
