//===- WeirOps.td - All ops of the weir dialect ------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

include "ir/weir/elementwise/Unary.td"
include "ir/weir/elementwise/Binary.td"
include "ir/weir/elementwise/Selection.td"
include "ir/weir/elementwise/Cast.td"
include "ir/weir/structure/Structure.td"
include "ir/weir/indexing/Indexing.td"
include "ir/weir/reduction/Reduction.td"
include "ir/weir/product/Product.td"
include "ir/weir/convolution/Convolution.td"
include "ir/weir/rows/Rows.td"
include "ir/weir/attention/Attention.td"
include "ir/weir/random/Random.td"
include "ir/weir/collective/Collective.td"
include "ir/weir/program/Variable.td"
include "ir/weir/program/Access.td"
include "ir/weir/program/Offload.td"
include "ir/weir/program/Gradient.td"
include "ir/weir/program/Microbatches.td"
include "ir/weir/program/Yield.td"
include "ir/weir/kernel/Kernel.td"
include "ir/weir/recipe/Recipe.td"
include "ir/weir/transfer/Transfer.td"
include "ir/weir/Strategy.td"
include "ir/weir/Sharding.td"
include "ir/weir/Phase.td"
