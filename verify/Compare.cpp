//===- Compare.cpp - Tolerances of tensor comparisons ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/Compare.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace weir {

bool sameElements(const Tensor &a, const Tensor &b) {
  return std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(),
                    [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

double norm(const Tensor &tensor) {
  double sum = 0;
  for (double value : tensor.values)
    sum += value * value;
  return std::sqrt(sum);
}

Difference compare(const Tensor &actual, const Tensor &truth, double tolerance, double largest) {
  Difference result;
  if (actual.shape != truth.shape)
    return {INFINITY, INFINITY, 0, false};
  double sum = 0, squares = 0, worst = -1;
  for (size_t i = 0; i < truth.values.size(); ++i) {
    double a = actual.values[i], t = truth.values[i];
    double distance = std::abs(a - t);
    // Compiled code takes subnormal numbers for 0; but bits that have to be equal are.
    if (tolerance > 0 && distance <= std::numeric_limits<float>::min())
      distance = 0;
    if (!std::isfinite(a) || !std::isfinite(t))
      distance = a == t || (std::isnan(a) && std::isnan(t)) ? 0 : INFINITY;
    if (distance > worst) {
      worst = distance;
      result.worstIndex = i;
    }
    sum += distance * distance;
    squares += std::isfinite(t) ? t * t : 0;
  }
  result.absolute = std::sqrt(sum);
  double scale = std::max(std::sqrt(squares), std::isfinite(largest) ? largest * 1e-3 : 0);
  result.relative = result.absolute == 0 ? 0
                    : scale == 0         ? std::numeric_limits<double>::infinity()
                                         : result.absolute / scale;
  result.agrees = result.relative <= tolerance;
  return result;
}

} // namespace weir
