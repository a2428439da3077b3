//===- Kernels.cpp - Machine code for the tests ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stands in for what the compiler embeds: no undefined symbols, a table of addresses that must be
// relocated, writable data.
//
//===----------------------------------------------------------------------===//

using Kernel = void (*)(void *const *operands, long lo, long hi, void *scratch);

extern "C" void addOne(void *const *operands, long lo, long hi, void *) {
  for (long i = lo; i < hi; ++i)
    static_cast<float *>(operands[1])[i] = static_cast<float *>(operands[0])[i] + 1;
}

extern "C" void addTwo(void *const *operands, long lo, long hi, void *) {
  for (long i = lo; i < hi; ++i)
    static_cast<float *>(operands[1])[i] = static_cast<float *>(operands[0])[i] + 2;
}

// Read through a volatile pointer, so that the table survives.
static Kernel table[2] = {addOne, addTwo};

extern "C" void pick(void *const *operands, long lo, long hi, void *scratch) {
  Kernel volatile *choice = table;
  choice[*static_cast<int *>(operands[2])](operands, lo, hi, scratch);
}

// Through scratch, to find overlapping workers.
extern "C" void twice(void *const *operands, long lo, long hi, void *scratch) {
  float volatile *place = static_cast<float *>(scratch);
  for (long i = lo; i < hi; ++i) {
    *place = static_cast<float *>(operands[0])[i];
    static_cast<float *>(operands[1])[i] = *place + *place;
  }
}

extern "C" void subnormal(void *const *operands, long lo, long hi, void *) {
  for (long i = lo; i < hi; ++i)
    static_cast<float *>(operands[1])[i] = static_cast<float *>(operands[0])[i] * 1e-30f;
}
