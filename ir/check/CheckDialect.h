//===- CheckDialect.h - The check dialect ---------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What op tests are written in; CheckOps.td describes it.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_CHECK_CHECKDIALECT_H
#define WEIR_IR_CHECK_CHECKDIALECT_H

#include "ir/weir/WeirDialect.h"

#include "ir/check/CheckDialect.h.inc"
#define GET_OP_CLASSES
#include "ir/check/CheckOps.h.inc"

namespace weir::check {

/// The function attribute that says why a back end does not run it.
inline constexpr llvm::StringLiteral unsupportedName = "check.unsupported";

} // namespace weir::check

#endif
