//===- PlanOps.h - The ops of the plan dialect ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_PLAN_PLANOPS_H
#define WEIR_IR_PLAN_PLANOPS_H

#include "ir/plan/PlanDialect.h"

#define GET_OP_CLASSES
#include "ir/plan/PlanOps.h.inc"

#endif
