//===- Kernels.cpp - Machine code that makes what is not finite -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#define KERNEL(name)                                                                               \
  static float name##Of(float a, float b);                                                         \
  extern "C" void name(void *const *o, long lo, long hi, void *) {                                 \
    for (long i = lo; i < hi; ++i)                                                                 \
      static_cast<float *>(o[2])[i] =                                                              \
          name##Of(static_cast<float *>(o[0])[i], static_cast<float *>(o[1])[i]);                  \
  }                                                                                                \
  static float name##Of(float a, float b)

KERNEL(add) { return a + b; }
KERNEL(quotient) { return a / b; }
KERNEL(masked) { return b > 0 ? a : -__builtin_inff(); }
KERNEL(squashed) { return b / (1 + a * a); }

extern "C" void count(void *const *o, long, long, void *) {
  float found = 0;
  for (int i = 0; i < 4; ++i) {
    float sum = static_cast<float *>(o[0])[i] + static_cast<float *>(o[1])[i];
    found += !(sum - sum == 0.0f);
  }
  static_cast<float *>(o[2])[0] = found;
}
