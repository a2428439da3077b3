//===- Compare.h - Tolerances of tensor comparisons -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Floating-point results are compared by norms, never element by element: in a correct f32 step,
// single elements of a gradient differ by 1e-2. The tolerances below compare f32 with the
// interpreter's f64.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_VERIFY_COMPARE_H
#define WEIR_VERIFY_COMPARE_H

#include "ir/reference/Tensor.h"

namespace weir {

struct Difference {
  double absolute = 0;    ///< ||actual - truth||
  double relative = 0;    ///< that, divided by the norm that it is compared with
  int64_t worstIndex = 0; ///< row-major index of the largest difference
  bool agrees = true;
};

/// ||actual - truth|| <= tolerance * max(||truth||, largest / 1000), where `largest` is the largest
/// norm of the tensors that are compared together: a value that is mathematically zero is noise in
/// f32. Elements that are NaN or infinite must be the same in both. Tensors of different shapes do
/// not agree.
Difference compare(const Tensor &actual, const Tensor &truth, double tolerance, double largest = 0);

/// Whether all elements are equal, or NaN in both.
bool sameElements(const Tensor &a, const Tensor &b);

double norm(const Tensor &tensor);

/// For a loss, and for a gradient.
constexpr double lossTolerance = 1e-5, gradientTolerance = 1e-5;
/// For a result of a kernel or of a library call, relative to its norm.
constexpr double actionTolerance = 1e-5;
/// Between two programs that both run in f64: folded constants are rounded to f32.
constexpr double passTolerance = 1e-6;
/// A variable changes little in a step, so its change is compared. An f32 update may be off by a
/// fraction of the change, and by the rounding of the new value.
constexpr double updateTolerance = 1e-3, updateRounding = 2e-7;

} // namespace weir

#endif
