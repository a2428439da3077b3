//===- WeirOps.td - All ops of the weir dialect -------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

include "ir/weir/WeirElementwise.td"
include "ir/weir/WeirStructure.td"
include "ir/weir/WeirCompute.td"
include "ir/weir/WeirProgram.td"
include "ir/weir/WeirRecipe.td"
