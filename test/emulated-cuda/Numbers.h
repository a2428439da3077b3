//===- Numbers.h - The element types of products, to and from f32 -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_EMULATED_CUDA_NUMBERS_H
#define WEIR_TEST_EMULATED_CUDA_NUMBERS_H

#include <cstddef>
#include <cstdint>

namespace weir::emulated {

/// Zero for a type that there is no product of. Types are cudaDataType_t.
size_t elementBytes(int type);

/// `count` elements, `stride` elements apart.
void toFloats(int type, const void *from, size_t stride, size_t count, float *to);

/// To the nearest, even among two; `type` is f32, bf16 or f16.
void fromFloats(int type, const float *from, size_t count, void *to);

/// To the 10 bits that TF32 keeps.
float roundToTf32(float value);

} // namespace weir::emulated

#endif
