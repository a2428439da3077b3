//===- Arguments.h - Which argument is whose ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One rule for fns, blocks, models, optimizers and builtins: arguments by position are those that
// have no default, in their order; what has a default is given by name. (A builtin's axis may stand
// in its place all the same.)
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_ELABORATE_ARGUMENTS_H
#define WEIR_FRONTEND_ELABORATE_ARGUMENTS_H

#include "frontend/elaborate/Reporter.h"

namespace weir::elab {

/// An argument that a call may be given.
struct Formal {
  std::string name;
  bool optional = false;
  bool byName = false; ///< only
  Range declared;      ///< nowhere for builtins
};

/// What is called, as far as its arguments go.
struct Signature {
  std::string name;
  Range declared; ///< nowhere for builtins
  std::vector<Formal> formals;
  unsigned given = 0; ///< the first so many are no business of the user's: an optimizer's parameter
};

Signature signatureOf(const ast::CallableItem &callable, unsigned given);

/// One entry per formal, null where no argument is given. False where something was reported.
bool assignArguments(Reporter &reporter, const Signature &signature,
                     const std::vector<CallArgument> &arguments, Range call,
                     std::vector<const CallArgument *> &slots);

} // namespace weir::elab

#endif
