//===- SumTest.cpp - Sums of many values on the emulated GPU --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums of values that have one sign are right to 1e-6, whatever their axis: no thread adds them one
// after the other.
//
//===----------------------------------------------------------------------===//

#include "test/codegen/cuda/Emulated.h"

namespace weir {
namespace {

struct Case {
  std::string name, input, result, axes;
};

void PrintTo(const Case &c, std::ostream *out) { *out << c.name; }

class SumsOfMany : public testing::TestWithParam<Case> {};

TEST_P(SumsOfMany, AreRightToOnePartInAMillion) {
  const Case &c = GetParam();
  std::string program = R"(
    func.func @f(%x: $X) -> $R {
      %s = weir.mul %x, %x : $X
      %h = weir.constant 0.5 : f32 -> $X
      %v = weir.add %s, %h : $X
      %r = weir.reduce sum %v {axes = array<i64: $A>} : $X -> $R
      return %r : $R
    })";
  program = replaced(program, "$X", "tensor<" + c.input + "xf32>");
  program = replaced(program, "$R", "tensor<" + c.result + "f32>");
  expectAsInterpreted(replaced(program, "$A", c.axes), "cuda", 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Of, SumsOfMany,
                         testing::Values(Case{"all of one row", "1x1500001", "", "0, 1"},
                                         Case{"all of short rows", "400001x4", "", "0, 1"},
                                         Case{"each row", "2x700001", "2x", "1"},
                                         Case{"each column", "600001x3", "3x", "0"},
                                         Case{"a middle axis", "2x300001x2", "2x2x", "1"},
                                         Case{"the outer axes", "2001x2x301", "2x", "0, 2"}));

// Sums of columns beside such along rows, which blocks keep in memory where a thread has several
// columns.
TEST(SumsBesideRows, AreRightToOnePartInAMillion) {
  for (std::string sizes : {"90001x5", "20001x257"}) {
    std::string row = sizes.substr(0, sizes.find('x')), columns = sizes.substr(sizes.find('x') + 1);
    std::string program = R"(
      func.func @f(%x: $X) -> (tensor<$Cxf32>, tensor<f32>) {
        %s = weir.mul %x, %x : $X
        %m = weir.reduce sum %s {axes = array<i64: 1>} : $X -> tensor<$Rxf32>
        %b = weir.broadcast %m {dimensions = array<i64: 0>} : tensor<$Rxf32> -> $X
        %v = weir.add %s, %b : $X
        %r = weir.reduce sum %v {axes = array<i64: 0>} : $X -> tensor<$Cxf32>
        %t = weir.reduce sum %m {axes = array<i64: 0>} : tensor<$Rxf32> -> tensor<f32>
        return %r, %t : tensor<$Cxf32>, tensor<f32>
      })";
    program = replaced(program, "$X", "tensor<$Rx$Cxf32>");
    program = replaced(program, "$R", row);
    expectAsInterpreted(replaced(program, "$C", columns), "cuda", 1e-6);
  }
}

} // namespace
} // namespace weir
