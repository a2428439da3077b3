//===- Idx.cpp - Any bytes as an array of MNIST -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/fuzz/Arrays.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  weir::fuzz::readArray(weir::readIdx, data, size, "fuzz.idx3-ubyte");
  return 0;
}
