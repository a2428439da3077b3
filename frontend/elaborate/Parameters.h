//===- Parameters.h - Binds the arguments of a call -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_ELABORATE_PARAMETERS_H
#define WEIR_FRONTEND_ELABORATE_PARAMETERS_H

#include "frontend/elaborate/TypeMatcher.h"

namespace weir::elab {

/// Binds the parameters of the innermost call's callable, and the dimensions that their types name,
/// in its scope. `slots` has one argument per parameter, null where none is given: then the default
/// is bound, or poison where there is none.
void bindParameters(const std::vector<const CallArgument *> &slots, Evaluator &evaluator,
                    ShapeMatcher &shapes, TypeMatcher &types);

} // namespace weir::elab

#endif
