//===- PlanTransfers.h - What one rank gives another -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_PLAN_PLANTRANSFERS_H
#define WEIR_IR_PLAN_PLANTRANSFERS_H

#include "ir/plan/PlanDialect.h"

#define GET_OP_CLASSES
#include "ir/plan/PlanTransfers.h.inc"

#endif
