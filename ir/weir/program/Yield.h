//===- Yield.h - The end of a region --------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_PROGRAM_YIELD_H
#define WEIR_IR_WEIR_PROGRAM_YIELD_H

#include "ir/weir/WeirDialect.h"

#define GET_OP_CLASSES
#include "ir/weir/program/Yield.h.inc"

#endif
