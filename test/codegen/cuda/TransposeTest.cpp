//===- TransposeTest.cpp - Matrices turned over against the interpreter ---===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes that straddle tiles, that no vector divides, and matrices among other dimensions.
//
//===----------------------------------------------------------------------===//

#include "test/codegen/cuda/Emulated.h"

namespace weir {
namespace {

/// What @f gives of %x.
struct Moved {
  const char *name, *from, *to, *body;
};

void PrintTo(const Moved &moved, std::ostream *out) { *out << moved.name; }

constexpr Moved movements[] = {
    {"whole tiles", "128x64", "64x128",
     "%y = weir.transpose %x {permutation = array<i64: 1, 0>} : F -> T"},
    {"a part of a tile", "16x16", "16x16",
     "%y = weir.transpose %x {permutation = array<i64: 1, 0>} : F -> T"},
    {"no vectors", "67x131", "131x67",
     "%y = weir.transpose %x {permutation = array<i64: 1, 0>} : F -> T"},
    {"a vector one way", "65x72", "72x65",
     "%y = weir.transpose %x {permutation = array<i64: 1, 0>} : F -> T"},
    {"several matrices", "3x70x36", "3x36x70",
     "%y = weir.transpose %x {permutation = array<i64: 0, 2, 1>} : F -> T"},
    {"far from each other", "3x20x5x36", "36x5x3x20",
     "%y = weir.transpose %x {permutation = array<i64: 3, 2, 0, 1>} : F -> T"},
    {"heads, then a matrix", "2x3x40x16", "48x80",
     "%0 = weir.transpose %x {permutation = array<i64: 0, 2, 1, 3>} : F -> tensor<2x40x3x16xE>\n"
     "%1 = weir.merge_dims %0 {first = 2 : i64, count = 2 : i64} : tensor<2x40x3x16xE> -> "
     "tensor<2x40x48xE>\n"
     "%2 = weir.merge_dims %1 {first = 0 : i64, count = 2 : i64} : tensor<2x40x48xE> -> "
     "tensor<80x48xE>\n"
     "%y = weir.transpose %2 {permutation = array<i64: 1, 0>} : tensor<80x48xE> -> T"},
    {"a dimension cut", "64x48", "4x48x16",
     "%0 = weir.split_dim %x {dimension = 0 : i64, sizes = array<i64: 4, 16>} : F -> "
     "tensor<4x16x48xE>\n"
     "%y = weir.transpose %0 {permutation = array<i64: 0, 2, 1>} : tensor<4x16x48xE> -> T"},
};

struct CudaTranspose : testing::TestWithParam<Moved> {};

TEST_P(CudaTranspose, IsAsInterpreted) {
  const Moved &moved = GetParam();
  std::string program =
      std::string("func.func @f(%x: F) -> T {\n") + moved.body + "\nreturn %y : T\n}";
  program = replaced(program, "F", std::string("tensor<") + moved.from + "xE>");
  program = replaced(program, "T", std::string("tensor<") + moved.to + "xE>");
  // What is given is rounded on its way in alone.
  for (auto [element, rounding] : {std::pair("f32", 0.0), {"bf16", 0x1p-8}, {"f8E4M3FN", 0x1p-4}}) {
    SCOPED_TRACE(element);
    expectAsInterpreted(replaced(program, "E>", std::string(element) + ">"), "cuda", rounding);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, CudaTranspose, testing::ValuesIn(movements));

} // namespace
} // namespace weir
