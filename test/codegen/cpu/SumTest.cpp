//===- SumTest.cpp - Sums of many values ----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums of up to 1e8 values from 0.5 to 1, along any axis, are right to 1e-6: no schedule adds them
// one after the other. The values are computed in the kernel from their positions.
//
//===----------------------------------------------------------------------===//

#include "test/codegen/cpu/KernelHarness.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <gtest/gtest.h>

namespace weir {
namespace {

using Shape = std::vector<int64_t>;

std::string typeOf(const Shape &shape, const std::string &element = "f32") {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

/// From 0.5 to 1, in no order: a position's bits, multiplied and added to their own upper halves.
constexpr int32_t factors[] = {-1640531535, 73244475, 73244475};
float valueAt(int64_t position) {
  auto mixed = uint32_t(position);
  for (int32_t factor : factors) {
    mixed *= uint32_t(factor);
    mixed += uint32_t(int32_t(mixed) / 65536);
  }
  return float(int32_t(mixed)) * 0x1p-33f + 0.75f;
}

/// Ops that make %x, whose elements are valueAt(their positions).
std::string values(const Shape &shape) {
  std::string wholes = typeOf(shape, "i32"), floats = typeOf(shape), text, sum;
  int64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 0; stride *= shape[axis]) {
    std::string n = std::to_string(axis);
    text += "%i" + n + " = weir.iota {dimension = " + n + " : i64} -> " + wholes + "\n%c" + n +
            " = weir.constant " + std::to_string(stride) + " : i32 -> " + wholes + "\n%p" + n +
            " = weir.mul %i" + n + ", %c" + n + " : " + wholes + "\n";
    if (!sum.empty())
      text += "%s" + n + " = weir.add " + sum + ", %p" + n + " : " + wholes + "\n";
    sum = (sum.empty() ? "%p" : "%s") + n;
  }
  text += "%half = weir.constant 65536 : i32 -> " + wholes + "\n";
  for (size_t i = 0; i < std::size(factors); ++i) {
    std::string n = std::to_string(i);
    text += "%f" + n + " = weir.constant " + std::to_string(factors[i]) + " : i32 -> " + wholes +
            "\n%u" + n + " = weir.mul " + sum + ", %f" + n + " : " + wholes + "\n%h" + n +
            " = weir.div %u" + n + ", %half : " + wholes + "\n%m" + n + " = weir.add %u" + n +
            ", %h" + n + " : " + wholes + "\n";
    sum = "%m" + n;
  }
  return text + "%real = weir.cast " + sum + " : " + wholes + " -> " + floats +
         "\n%scale = weir.constant " + "1.1641532182693481e-10" + " : f32 -> " + floats +
         "\n%scaled = weir.mul %real, %scale : " + floats +
         "\n%middle = weir.constant 0.75 : f32 -> " + floats +
         "\n%x = weir.add %scaled, %middle : " + floats + "\n";
}

struct Case {
  std::string name, kernel; ///< `row over ..` or `nest`
  Shape shape;
  Shape axes;
  bool besideRows = false; ///< of each value and the mean of its row
};

void PrintTo(const Case &c, std::ostream *out) { *out << c.name; }

class Sums : public testing::TestWithParam<Case> {};

TEST_P(Sums, AreRightToOnePartInAMillion) {
  const Case &c = GetParam();
  Shape kept;
  std::string axes;
  for (size_t i = 0; i < c.shape.size(); ++i)
    if (std::find(c.axes.begin(), c.axes.end(), int64_t(i)) == c.axes.end())
      kept.push_back(c.shape[i]);
    else
      axes += (axes.empty() ? "" : ", ") + std::to_string(i);
  std::string shaped = typeOf(c.shape), result = typeOf(kept), body = values(c.shape),
              summed = "%x";
  if (c.besideRows) {
    std::string row = typeOf({c.shape[0]});
    body += "%m = weir.reduce sum %x {axes = array<i64: 1>} : " + shaped + " -> " + row +
            "\n%b = weir.broadcast %m {dimensions = array<i64: 0>} : " + row + " -> " + shaped +
            "\n%y = weir.add %x, %b : " + shaped + "\n";
    summed = "%y";
  }
  CompiledKernel kernel("func.func @f() -> " + result + " {\n%k = weir.kernel " + c.kernel +
                        "() : () -> " + result + " {\n" + body + "%t = weir.reduce sum " + summed +
                        " {axes = array<i64: " + axes + ">} : " + shaped + " -> " + result +
                        "\nweir.yield %t : " + result + "\n}\nreturn %k : " + result + "\n}");
  ASSERT_TRUE(kernel.valid);

  Shape at(c.shape.size()), strides(c.shape.size());
  int64_t results = 1, elements = 1, place = 0;
  for (size_t axis = c.shape.size(); axis-- > 0; elements *= c.shape[axis])
    if (std::find(c.axes.begin(), c.axes.end(), int64_t(axis)) == c.axes.end()) {
      strides[axis] = results;
      results *= c.shape[axis];
    }
  std::vector<double> expected(results);
  double row = 0;
  for (int64_t i = 0; i < elements; ++i) {
    expected[place] += valueAt(i);
    for (size_t axis = c.shape.size(); axis-- > 0;) {
      place += strides[axis];
      if (++at[axis] < c.shape[axis])
        break;
      place -= strides[axis] * c.shape[axis];
      at[axis] = 0;
    }
    if (!c.besideRows)
      continue;
    row += valueAt(i);
    if ((i + 1) % c.shape[1] == 0) {
      for (double &sum : expected)
        sum += row;
      row = 0;
    }
  }
  std::vector<Bytes> got = kernel.run({}, 3);
  double worst = 0;
  for (int64_t i = 0; i < results; ++i) {
    double ratio = got[0].as<float>()[i] / expected[i];
    EXPECT_NEAR(ratio, 1, 1e-6) << "result " << i;
    worst = std::max(worst, std::abs(ratio - 1));
  }
  std::printf("%s: worst relative error %.1e\n", c.name.c_str(), worst);
}

std::string rows(int64_t rows, int64_t columns) {
  return "row over #weir.rows<" + std::to_string(rows) + " x " + std::to_string(columns) + ">";
}

INSTANTIATE_TEST_SUITE_P(
    Of, Sums,
    testing::Values(Case{"all of one row", rows(1, 100000000), {1, 100000000}, {0, 1}},
                    Case{"all of short rows", rows(1250000, 8), {1250000, 8}, {0, 1}},
                    Case{"each row", rows(3, 3000001), {3, 3000001}, {1}},
                    Case{"each column", rows(2500000, 4), {2500000, 4}, {0}},
                    Case{"each of many columns", rows(20001, 512), {20001, 512}, {0}},
                    Case{"each column, after rows", rows(2500000, 4), {2500000, 4}, {0}, true},
                    Case{"a middle axis", "nest", {2, 5000000, 1}, {1}},
                    Case{"a middle axis, before columns", "nest", {2, 1000001, 8}, {1}},
                    Case{"the outer axes", "nest", {1001, 3, 2003}, {0, 2}},
                    Case{"the outer axes, of few columns", "nest", {600001, 3, 5}, {0, 2}}));

} // namespace
} // namespace weir
