//===- Loops.h - The inner loops of products and convolutions -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where an interpreted step spends its time: over plain numbers that lie beside each other, in an
// order that the compiler can vectorize without changing any sum's order.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_IR_REFERENCE_LOOPS_H
#define WEIR_IR_REFERENCE_LOOPS_H

#include "llvm/ADT/ArrayRef.h"
#include <algorithm>
#include <type_traits>

namespace weir::reference {

/// c += a b of row-major matrices [m, k], [k, n] and [m, n], each element's terms one after the
/// other. This and the sums below return how many multiplications they added up.
inline int64_t addProduct(int64_t m, int64_t n, int64_t k, const double *a, const double *b,
                          double *c) {
  int64_t added = 0;
  for (int64_t i = 0; i < m; ++i) {
    double *row = c + i * n;
    int64_t l = 0;
    // Four terms at a time, so that an element is loaded and stored once for four of them.
    for (; l + 4 <= k; l += 4) {
      const double *x = a + i * k + l, *y = b + l * n;
      for (int64_t j = 0; j < n; ++j)
        row[j] = row[j] + x[0] * y[j] + x[1] * y[n + j] + x[2] * y[2 * n + j] + x[3] * y[3 * n + j];
      added += 4 * n;
    }
    for (; l < k; ++l, added += n)
      for (int64_t j = 0; j < n; ++j)
        row[j] += a[i * k + l] * b[l * n + j];
  }
  return added;
}

/// Images, channels, height and width of a convolution's input, then filters, height and width of
/// its windows; strides and padding along height and width.
struct ConvolutionSizes {
  int64_t images, channels, height, width, filters, windowHeight, windowWidth;
  llvm::ArrayRef<int64_t> strides, padding;

  int64_t outHeight() const { return (height + 2 * padding[0] - windowHeight) / strides[0] + 1; }
  int64_t outWidth() const { return (width + 2 * padding[1] - windowWidth) / strides[1] + 1; }
};

/// Calls `visit(input, weight, output, count)` for every stretch of a row of the output that one
/// weight adds to: `count` elements beside each other from offset `output` on take from the input's
/// elements `input`, `input` + strides[1], .. Each output element meets its weights in row-major
/// order. Returns how many elements those were.
template <class Visit> int64_t forEachTap(const ConvolutionSizes &of, Visit visit) {
  int64_t taps = 0;
  int64_t outHeight = of.outHeight(), outWidth = of.outWidth();
  int64_t stride = of.strides[1], padding = of.padding[1];
  for (int64_t image = 0; image < of.images; ++image)
    for (int64_t f = 0; f < of.filters; ++f)
      for (int64_t c = 0; c < of.channels; ++c)
        for (int64_t i = 0; i < of.windowHeight; ++i)
          for (int64_t j = 0; j < of.windowWidth; ++j) {
            // Outputs whose place in the row, x * stride + j - padding, is one of the input.
            int64_t first = std::max<int64_t>(0, (padding - j + stride - 1) / stride);
            int64_t last = of.width - 1 + padding - j;
            last = last < 0 ? -1 : std::min(outWidth - 1, last / stride);
            int64_t weight = ((f * of.channels + c) * of.windowHeight + i) * of.windowWidth + j;
            for (int64_t y = 0; y < outHeight && first <= last; ++y) {
              int64_t row = y * of.strides[0] + i - of.padding[0];
              if (row < 0 || row >= of.height)
                continue;
              int64_t input = ((image * of.channels + c) * of.height + row) * of.width +
                              first * stride + j - padding;
              int64_t output = ((image * of.filters + f) * outHeight + y) * outWidth + first;
              visit(input, weight, output, last - first + 1);
              taps += last - first + 1;
            }
          }
  return taps;
}

/// Calls `loop` with the stride, which is a constant where it is 1: what lies side by side is
/// vectorized.
template <class Loop> void forStride(int64_t stride, Loop loop) {
  if (stride == 1)
    loop(std::integral_constant<int64_t, 1>());
  else
    loop(stride);
}

/// output += the convolution of input and weight.
inline int64_t addConvolution(const ConvolutionSizes &of, const double *input, const double *weight,
                              double *output) {
  return forEachTap(of, [&](int64_t in, int64_t w, int64_t out, int64_t count) {
    double by = weight[w];
    forStride(of.strides[1], [&](auto stride) {
      for (int64_t x = 0; x < count; ++x)
        output[out + x] += input[in + x * stride] * by;
    });
  });
}

/// input += what of an output's cotangent reaches it.
inline int64_t addInputGradient(const ConvolutionSizes &of, double *input, const double *weight,
                                const double *output) {
  return forEachTap(of, [&](int64_t in, int64_t w, int64_t out, int64_t count) {
    double by = weight[w];
    forStride(of.strides[1], [&](auto stride) {
      for (int64_t x = 0; x < count; ++x)
        input[in + x * stride] += output[out + x] * by;
    });
  });
}

/// weight += what of an output's cotangent reaches it.
inline int64_t addWeightGradient(const ConvolutionSizes &of, const double *input, double *weight,
                                 const double *output) {
  return forEachTap(of, [&](int64_t in, int64_t w, int64_t out, int64_t count) {
    double sum = 0;
    forStride(of.strides[1], [&](auto stride) {
      for (int64_t x = 0; x < count; ++x)
        sum += input[in + x * stride] * output[out + x];
    });
    weight[w] += sum;
  });
}

} // namespace weir::reference

#endif
