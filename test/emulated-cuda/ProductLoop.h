//===- ProductLoop.h - A product of two matrices in f32 -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_EMULATED_CUDA_PRODUCTLOOP_H
#define WEIR_TEST_EMULATED_CUDA_PRODUCTLOOP_H

#include <cstddef>

namespace weir::emulated {

constexpr size_t panelRows = 16, panelColumns = 6;

/// c (m x n, column-major, without gaps) = a b. `a` is in panels of 16 rows: k columns of 16 each,
/// then the next 16 rows; `b` in panels of 6 columns: k rows of 6 each; both are filled up with
/// zeros. Sums go along k, in blocks.
void multiply(size_t m, size_t n, size_t k, const float *a, const float *b, float *c);

inline size_t panels(size_t count, size_t width) { return (count + width - 1) / width; }

} // namespace weir::emulated

#endif
