//===- LibraryTest.cpp - The scratch of library calls ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/Library.h"
#include "runtime/cpu/Convolution.h"
#include "runtime/cpu/Isa.h"
#include "runtime/cpu/Pooling.h"
#include "runtime/cpu/Product.h"
#include "support/system/CpuLevel.h"
#include <gtest/gtest.h>
#include <random>

using namespace weir;

namespace {

class Numbers {
public:
  explicit Numbers(unsigned seed) : random(seed) {}
  int64_t below(int64_t end) { return static_cast<int64_t>(random() % end); }
  int64_t of(std::initializer_list<int64_t> choices) {
    return choices.begin()[random() % choices.size()];
  }

private:
  std::minstd_rand random;
};

/// Of what the library multiplies on this machine.
Element someFactors(Numbers &numbers) {
  bool low = !numbers.of({0, 1}) && cpuLevel() >= "x86-64-v4";
  return low ? Element::bf16 : Element::f32;
}

spec::Product aProduct(Numbers &numbers) {
  spec::Product s;
  auto size = [&] {
    return numbers.below(3) ? numbers.of({1, 7, 16, 31, 64, 65, 128, 384, 512})
                            : 1 + numbers.below(300);
  };
  s.batch = numbers.of({1, 1, 1, 2, 8});
  s.m = size(), s.n = size(), s.k = size();
  bool transposeA = numbers.below(2), transposeB = numbers.below(2);
  s.aBatch = s.m * s.k, s.bBatch = s.k * s.n, s.cBatch = s.m * s.n;
  s.aRow = transposeA ? 1 : s.k, s.aColumn = transposeA ? s.m : 1;
  s.bRow = transposeB ? 1 : s.n, s.bColumn = transposeB ? s.k : 1;
  s.cRow = s.n;
  s.bias = numbers.below(2);
  s.factors = someFactors(numbers);
  s.result = s.factors == Element::bf16 && numbers.below(2) ? Element::bf16 : Element::f32;
  s.tileBatch = (s.batch + 1) / 2;
  s.tileM = std::min<int64_t>(s.m, 32 + numbers.below(100));
  s.tileN = std::min<int64_t>(s.n, 256);
  return s;
}

spec::Convolution aConvolution(Numbers &numbers) {
  spec::Convolution s;
  s.computes = static_cast<spec::ConvolutionKind>(numbers.below(3));
  s.images = 1 + numbers.below(8);
  s.tileImages = 1 + numbers.below(s.images);
  s.groups = numbers.of({1, 1, 2});
  s.channels = s.groups * numbers.of({1, 3, 8, 17, 32});
  s.filters = s.groups * numbers.of({1, 3, 10, 16, 32});
  for (int64_t i = 1 + numbers.below(2); i > 0; --i) {
    s.window.push_back(numbers.of({1, 2, 3, 5}));
    s.dilation.push_back(numbers.of({1, 1, 2}));
    s.size.push_back(2 * s.window.back() + numbers.below(20));
    s.strides.push_back(1 + numbers.below(2));
    s.padding.push_back(numbers.below(s.window.back()));
  }
  s.factors = someFactors(numbers);
  s.result = s.factors == Element::bf16 && !s.isPartial() && numbers.below(2) ? Element::bf16
                                                                              : Element::f32;
  return s;
}

spec::Pooling aPooling(Numbers &numbers) {
  spec::Pooling s;
  s.planes = 1 + numbers.below(70);
  s.tilePlanes = 1 + numbers.below(s.planes);
  for (int i = 0; i < 2; ++i) {
    s.window.push_back(1 + numbers.below(7));
    s.size.push_back(s.window.back() + numbers.below(30));
    s.strides.push_back(1 + numbers.below(4));
  }
  return s;
}

// The bound is of the compiler's own; the library decides here, by this machine's caches too.
TEST(Library, CallsTakeNoMoreScratchThanIsStated) {
  cpu::boundLibrary(cpuLevel());
  Numbers numbers(3);
  for (int i = 0; i < 150; ++i) {
    spec::Product product = aProduct(numbers);
    ASSERT_EQ(product.check(), "");
    EXPECT_LE(int64_t(cpu::Product(product, 1).scratch()), scratchBound(product))
        << product.describe();
    spec::Convolution convolution = aConvolution(numbers);
    ASSERT_EQ(convolution.check(), "");
    EXPECT_LE(int64_t(cpu::Convolution(convolution, 1).scratch()), scratchBound(convolution))
        << convolution.describe();
    spec::Pooling pooling = aPooling(numbers);
    ASSERT_EQ(pooling.check(), "");
    EXPECT_LE(int64_t(cpu::Pooling(pooling, 1).scratch()), scratchBound(pooling))
        << pooling.describe();
  }
}

} // namespace
