//===- FamiliesTest.cpp - Kernels that share their code -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/codegen/cpu/KernelHarness.h"
#include "llvm/ADT/STLExtras.h"

#include <gtest/gtest.h>
#include <set>

namespace weir {
namespace {

/// A function that draws the weights of one layer: what the op makes of numbers %x, and %z of
/// another key.
std::string layer(int number, int64_t key, const std::string &op, const std::string &drawn) {
  std::string text = "func.func @f" + std::to_string(number) + R"((%seed: I) -> T {
  %k = weir.kernel map(%seed) : (I) -> T {
  ^bb0(%s: I):
    %zero = weir.constant 0 : i32 -> I
)";
  for (auto [name, of] : {std::pair("%x", key), {"%z", key / 3 + 7}})
    text += "    " + std::string(name) + " = weir.random " + drawn +
            " seed %s step %zero round %zero {key = " + std::to_string(of) +
            " : i64} : (I, I, I) -> T\n";
  text += "    %y = weir." + op + R"( : T
    weir.yield %y : T
  }
  return %k : T
}
)";
  for (auto [letter, type] : {std::pair('I', "tensor<i32>"), {'T', "tensor<37x5xf32>"}})
    for (size_t at; (at = text.find(letter)) != std::string::npos;)
      text.replace(at, 1, type);
  return text;
}

std::vector<float> drawnBy(CompiledKernel &kernel) {
  std::vector<Bytes> results = kernel.run({Bytes(std::vector<int32_t>{7})});
  const auto *values = results[0].as<float>();
  return {values, values + 37 * 5};
}

TEST(Families, LayersThatDifferInTheirKeysAreOneFunction) {
  constexpr int64_t keys[] = {5, -1, 0x123456789abcdef0, 1, 0};
  for (const std::string drawn : {"normal", "uniform"}) {
    std::string all;
    for (auto [i, key] : llvm::enumerate(keys))
      all += layer(i, key, "sub %x, %z", drawn);
    std::set<std::vector<float>> different;
    for (auto [i, key] : llvm::enumerate(keys)) {
      CompiledKernel together(all, "cpu", i), alone(layer(0, key, "sub %x, %z", drawn));
      ASSERT_TRUE(together.valid && alone.valid);
      EXPECT_EQ(together.emitted, 1u);
      std::vector<float> values = drawnBy(together);
      EXPECT_EQ(values, drawnBy(alone)) << drawn << " " << key;
      different.insert(values);
    }
    EXPECT_EQ(different.size(), std::size(keys));
  }
}

TEST(Families, LayersThatDifferInMoreAreFunctionsOfTheirOwn) {
  std::string all = layer(0, 5, "neg %x", "normal") + layer(1, 5, "exp %x", "normal") +
                    layer(2, 5, "neg %x", "uniform") + layer(3, 6, "exp %x", "normal");
  CompiledKernel kernel(all);
  ASSERT_TRUE(kernel.valid);
  EXPECT_EQ(kernel.emitted, 3u);
}

} // namespace
} // namespace weir
