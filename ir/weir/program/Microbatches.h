//===- Microbatches.h - Gradient accumulation -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_PROGRAM_MICROBATCHES_H
#define WEIR_IR_WEIR_PROGRAM_MICROBATCHES_H

#include "ir/weir/WeirDialect.h"

#define GET_OP_CLASSES
#include "ir/weir/program/Microbatches.h.inc"

#endif
