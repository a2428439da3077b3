//===- GradientCases.h - What every op's gradient is tested on ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Programs of one op each, or of one and what it needs, at sizes around those of vectors and tiles:
// no dimensions, sizes of 1, odd ones, operands that are broadcast.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_PASSES_AUTODIFF_GRADIENTCASES_H
#define WEIR_TEST_PASSES_AUTODIFF_GRADIENTCASES_H

#include <string>
#include <vector>

namespace weir::test {

struct OpCase {
  std::string op;      ///< whose gradient the case is for: "matmul"
  std::string name;    ///< unique: "matmul_row_2"
  std::string text;    ///< a function of that name
  unsigned linear = 0; ///< bit i: its results are linear in float argument i, the others fixed
};

std::vector<OpCase> opCases();

/// A copy of the text with every `from` replaced.
std::string replaced(std::string text, const std::string &from, const std::string &to);

} // namespace weir::test

#endif
