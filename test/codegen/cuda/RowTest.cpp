//===- RowTest.cpp - Kernels of rows and segments against the interpreter -===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums along rows, of columns, of segments and of all, at sizes where a block's threads have one
// place in a row or several, on the emulated GPU with every check.
//
//===----------------------------------------------------------------------===//

#include "test/codegen/cuda/Emulated.h"

namespace weir {
namespace {

struct Rows {
  int rows, columns;
  std::string element = "f32";
};

void PrintTo(const Rows &r, std::ostream *out) {
  *out << r.rows << " rows of " << r.columns << " " << r.element;
}

std::string programOf(const Rows &rows, std::string text) {
  text = replaced(text, "$X", "tensor<$RxCx$E>");
  text = replaced(text, "$R", std::to_string(rows.rows));
  text = replaced(text, "xC", "x" + std::to_string(rows.columns));
  text = replaced(text, "<C", "<" + std::to_string(rows.columns));
  return replaced(text, "$E", rows.element);
}

class SumsOfRows : public testing::TestWithParam<Rows> {};

TEST_P(SumsOfRows, OfColumnsBesideThoseAlongRows) {
  expectAsInterpreted(programOf(GetParam(), R"(
    func.func @f(%x: $X, %s: tensor<$Rx$E>, %g: $X) -> ($X, tensor<Cx$E>, tensor<Cx$E>) {
      %m = weir.reduce sum %x {axes = array<i64: 1>} : $X -> tensor<$Rx$E>
      %n = weir.mul %m, %s : tensor<$Rx$E>
      %b = weir.broadcast %n {dimensions = array<i64: 0>} : tensor<$Rx$E> -> $X
      %i = weir.sub %x, %b : $X
      %l = weir.mul %i, %g : $X
      %w = weir.reduce sum %l {axes = array<i64: 0>} : $X -> tensor<Cx$E>
      %d = weir.reduce sum %g {axes = array<i64: 0>} : $X -> tensor<Cx$E>
      return %l, %w, %d : $X, tensor<Cx$E>, tensor<Cx$E>
    })"));
}

TEST_P(SumsOfRows, OfAllBesideThoseAlongRows) {
  expectAsInterpreted(programOf(GetParam(), R"(
    func.func @f(%x: $X, %g: $X) -> ($X, tensor<$E>, tensor<$E>) {
      %m = weir.reduce max %x {axes = array<i64: 1>} : $X -> tensor<$Rx$E>
      %b = weir.broadcast %m {dimensions = array<i64: 0>} : tensor<$Rx$E> -> $X
      %i = weir.sub %x, %b : $X
      %l = weir.mul %i, %g : $X
      %w = weir.reduce sum %l {axes = array<i64: 0, 1>} : $X -> tensor<$E>
      %d = weir.reduce max %g {axes = array<i64: 0, 1>} : $X -> tensor<$E>
      return %l, %w, %d : $X, tensor<$E>, tensor<$E>
    })"));
}

/// Threads save what later passes over their columns read.
TEST_P(SumsOfRows, ThatFollowEachOther) {
  std::string body, h = "%x";
  for (std::string i : {"0", "1", "2"}) {
    body += replaced(replaced(R"(
      %s$I = weir.reduce max $H {axes = array<i64: 1>} : $X -> tensor<$Rx$E>
      %b$I = weir.broadcast %s$I {dimensions = array<i64: 0>} : tensor<$Rx$E> -> $X
      %d$I = weir.sub $H, %b$I : $X
      %t$I = weir.tanh %d$I : $X
      %n$I = weir.reduce min %t$I {axes = array<i64: 1>} : $X -> tensor<$Rx$E>
      %c$I = weir.broadcast %n$I {dimensions = array<i64: 0>} : tensor<$Rx$E> -> $X
      %h$I = weir.sub %t$I, %c$I : $X)",
                              "$I", i),
                     "$H", h);
    h = "%h" + i;
  }
  expectAsInterpreted(programOf(GetParam(), R"(
    func.func @f(%x: $X) -> ($X, tensor<Cx$E>) {)" +
                                                body + R"(
      %w = weir.reduce max %h2 {axes = array<i64: 0>} : $X -> tensor<Cx$E>
      return %h2, %w : $X, tensor<Cx$E>
    })"));
}

INSTANTIATE_TEST_SUITE_P(Sizes, SumsOfRows,
                         testing::Values(Rows{1, 1}, Rows{40, 7}, Rows{40, 128}, Rows{70, 1030},
                                         Rows{33, 4096}, Rows{33, 4104}, Rows{35, 5001}));

/// Sums of channels, as batch norms have them: no thread goes over all that a channel has.
TEST(SumsOfChannels, OfWhatIsComputedOnTheWay) {
  expectAsInterpreted(R"(
    func.func @f(%x: tensor<5x3x9x8xf32>, %s: tensor<3xf32>) -> (tensor<3xf32>, tensor<5x3x9x8xf32>, tensor<3x8xf32>) {
      %b = weir.broadcast %s {dimensions = array<i64: 1>} : tensor<3xf32> -> tensor<5x3x9x8xf32>
      %d = weir.sub %x, %b : tensor<5x3x9x8xf32>
      %q = weir.mul %d, %d : tensor<5x3x9x8xf32>
      %r = weir.reduce sum %q {axes = array<i64: 0, 2, 3>} : tensor<5x3x9x8xf32> -> tensor<3xf32>
      %t = weir.broadcast %r {dimensions = array<i64: 1>} : tensor<3xf32> -> tensor<5x3x9x8xf32>
      %y = weir.mul %d, %t : tensor<5x3x9x8xf32>
      %m = weir.reduce max %q {axes = array<i64: 0, 2>} : tensor<5x3x9x8xf32> -> tensor<3x8xf32>
      return %r, %y, %m : tensor<3xf32>, tensor<5x3x9x8xf32>, tensor<3x8xf32>
    })");
}

/// What is added up over dimensions of one place is what it was, and no sum across rows: with such
/// a sum and one of all in a kernel of one row, the latter was not known when it was read.
TEST(SumsOfOnePlace, BesideOneOfAll) {
  expectAsInterpreted(R"(
    func.func @f(%x: tensor<12x1x1xf32>, %y: tensor<12xf32>) -> (tensor<12xf32>, tensor<f32>, tensor<12xf32>) {
      %u = weir.reduce sum %x {axes = array<i64: 1, 2>} : tensor<12x1x1xf32> -> tensor<12xf32>
      %m = weir.mul %u, %y : tensor<12xf32>
      %a = weir.reduce sum %m {axes = array<i64: 0>} : tensor<12xf32> -> tensor<f32>
      %b = weir.broadcast %a {dimensions = array<i64>} : tensor<f32> -> tensor<12xf32>
      %z = weir.mul %m, %b : tensor<12xf32>
      return %m, %a, %z : tensor<12xf32>, tensor<f32>, tensor<12xf32>
    })");
}

struct Segments {
  int items, segments, columns;
};

void PrintTo(const Segments &s, std::ostream *out) {
  *out << s.items << " items of " << s.columns << " in " << s.segments << " segments";
}

class SumsOfSegments : public testing::TestWithParam<Segments> {};

std::string programOf(const Segments &sizes, std::string text) {
  text = replaced(text, "$N", std::to_string(sizes.items));
  text = replaced(text, "$S", std::to_string(sizes.segments));
  return replaced(text, "$C", std::to_string(sizes.columns));
}

// Numbers of both signs, which nearly cancel: what is lost is more of what is left.
TEST_P(SumsOfSegments, AnyIndicesAndSomeOfNone) {
  expectAsInterpreted(programOf(GetParam(), R"(
    func.func @f(%x: tensor<$Nx$Cxf32>) -> tensor<$Sx$Cxf32> {
      %n = weir.iota {dimension = 0 : i64} -> tensor<$Nxi32>
      %k = weir.constant 37 : i32 -> tensor<$Nxi32>
      %m = weir.mul %n, %k : tensor<$Nxi32>
      %s = weir.constant $S : i32 -> tensor<$Nxi32>
      %o = weir.constant 1 : i32 -> tensor<$Nxi32>
      %t = weir.add %s, %o : tensor<$Nxi32>
      %i = weir.rem %m, %t : tensor<$Nxi32>
      %r = weir.segment_sum %x, %i : tensor<$Nx$Cxf32>, tensor<$Nxi32> -> tensor<$Sx$Cxf32>
      return %r : tensor<$Sx$Cxf32>
    })"),
                      "cuda", 2e-5);
}

TEST_P(SumsOfSegments, FewIndicesOfWhatIsComputed) {
  expectAsInterpreted(programOf(GetParam(), R"(
    func.func @f(%x: tensor<$Nx$Cxf32>) -> tensor<$Sx$Cxf32> {
      %n = weir.iota {dimension = 0 : i64} -> tensor<$Nxi32>
      %t = weir.constant 2 : i32 -> tensor<$Nxi32>
      %j = weir.min %n, %t : tensor<$Nxi32>
      %y = weir.mul %x, %x : tensor<$Nx$Cxf32>
      %r = weir.segment_sum %y, %j : tensor<$Nx$Cxf32>, tensor<$Nxi32> -> tensor<$Sx$Cxf32>
      return %r : tensor<$Sx$Cxf32>
    })"));
}

INSTANTIATE_TEST_SUITE_P(Sizes, SumsOfSegments,
                         testing::Values(Segments{1, 1, 1}, Segments{5, 4, 3}, Segments{300, 7, 33},
                                         Segments{4100, 9, 2}, Segments{9000, 3, 5},
                                         Segments{700, 4300, 3}, Segments{40, 3, 600}));

} // namespace
} // namespace weir
