//===- AllOps.td - All ops of the weir dialect --------------*- tablegen -*-===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Those that the dialect's header has, and those that few know of: for the reference.

include "ir/weir/WeirOps.td"
include "ir/weir/transfer/Transfer.td"
