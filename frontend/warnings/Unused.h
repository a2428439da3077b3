//===- Unused.h - What a file says and nothing uses -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_WARNINGS_UNUSED_H
#define WEIR_FRONTEND_WARNINGS_UNUSED_H

#include "frontend/AST.h"
#include "frontend/Diagnostics.h"

namespace weir {

/// Warns of configs, consts, definitions, arguments, bindings, inputs and states of a file that
/// nothing reads. It reads the tree alone: both
/// branches of an `if` count, and names that begin with `_` are meant to be unused.
void warnUnused(const ast::Module &module, Diagnostics &diagnostics);

} // namespace weir

#endif
