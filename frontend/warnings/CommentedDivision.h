//===- CommentedDivision.h - `x // 2` is x and a comment --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_WARNINGS_COMMENTEDDIVISION_H
#define WEIR_FRONTEND_WARNINGS_COMMENTEDDIVISION_H

#include "frontend/Diagnostics.h"

namespace weir {

/// Warns of comments that follow an operand and read as a divisor, as `x // 2` or `f(x // width)`.
/// It reads the tokens alone, so that it may be asked of a file with errors: what such a comment
/// swallows is often their cause.
void warnCommentedDivision(const SourceFile &file, Diagnostics &diagnostics);

} // namespace weir

#endif
