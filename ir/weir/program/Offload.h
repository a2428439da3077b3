//===- Offload.h - Copies to and from host memory -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_WEIR_PROGRAM_OFFLOAD_H
#define WEIR_IR_WEIR_PROGRAM_OFFLOAD_H

#include "ir/weir/WeirDialect.h"

#define GET_OP_CLASSES
#include "ir/weir/program/Offload.h.inc"

#endif
