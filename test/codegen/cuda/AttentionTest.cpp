//===- AttentionTest.cpp - Attention kernels against the interpreter ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// At sizes that straddle tiles of 16, 32 and 64 rows and 16 bytes of columns, on the emulated GPU
// with every check.
//
//===----------------------------------------------------------------------===//

#include "test/codegen/cuda/Emulated.h"

namespace weir {
namespace {

enum Results { output = 1, logSumExp = 2, queryGrad = 4, keyGrad = 8, valueGrad = 16, all = 31 };

struct Case {
  int64_t queries, keys, width;
  bool causal;
  const char *element = "f32";
  int results = all; ///< those that are asked for
  const char *scale = "0.25";
  int64_t heads = 2;
};

void PrintTo(const Case &c, std::ostream *out) {
  *out << c.queries << " queries, " << c.keys << " keys of " << c.width << ' ' << c.element
       << (c.causal ? ", causal" : "") << ", " << c.heads << " heads" << ", results " << c.results
       << ", scale " << c.scale;
}

/// $Q, $K and $L are the types of query, key and log-sum-exp, $A the attributes.
std::string programOf(const Case &c) {
  auto type = [&](int64_t rows, const std::string &rest) {
    return "tensor<1x" + std::to_string(c.heads) + "x" + std::to_string(rows) + "x" + rest + ">";
  };
  std::string text = "func.func @f(%q0: $Q, %k0: $K, %v0: $K, %g0: $Q) -> ($R) {\n", results, types;
  for (auto [name, ofType] : {std::pair("q", "$Q"), {"k", "$K"}, {"v", "$K"}, {"g", "$Q"}}) {
    std::string low = "$low" + std::string(ofType + 1), n = name;
    text += "%" + n + "1 = weir.cast %" + n + "0 : " + ofType + " -> " + low + "\n%" + n +
            " = weir.cast %" + n + "1 : " + low + " -> " + ofType + "\n";
  }
  for (auto [bit, name, ofType] : {std::tuple(output, "%o", "$Q"),
                                   {logSumExp, "%l", "$L"},
                                   {queryGrad, "%dq", "$Q"},
                                   {keyGrad, "%dk", "$K"},
                                   {valueGrad, "%dv", "$K"}})
    if (c.results & bit) {
      results += (results.empty() ? "" : ", ") + std::string(name);
      types += (types.empty() ? "" : ", ") + std::string(ofType);
    }
  text += "%o, %l = weir.attention %q, %k, %v $A : $Q, $K -> $L\n"
          "%dq, %dk, %dv = weir.attention_grad %q, %k, %v, %o, %l, %g $A : $Q, $K, $L\n"
          "return " +
          results + " : $R\n}";
  std::string width = std::to_string(c.width);
  text = replaced(text, "$R", types); // first: it has others
  text = replaced(text, "$lowQ", type(c.queries, width + "x" + c.element));
  text = replaced(text, "$lowK", type(c.keys, width + "x" + c.element));
  text = replaced(text, "$Q", type(c.queries, width + "xf32"));
  text = replaced(text, "$K", type(c.keys, width + "xf32"));
  text = replaced(text, "$L", type(c.queries, "f32"));
  return replaced(text, "$A",
                  "{scale = " + std::string(c.scale) + " : f64" + (c.causal ? ", causal}" : "}"));
}

class CudaAttention : public testing::TestWithParam<Case> {};

TEST_P(CudaAttention, IsAsInterpreted) { expectAsInterpreted(programOf(GetParam())); }

INSTANTIATE_TEST_SUITE_P(
    Sizes, CudaAttention,
    testing::Values(Case{1, 1, 1, true}, Case{17, 17, 8, true}, Case{33, 33, 20, true},
                    Case{20, 33, 20, false}, Case{5, 70, 32, true}, Case{70, 70, 32, true},
                    Case{19, 35, 64, false}, Case{65, 66, 24, true}, Case{17, 20, 128, true},
                    Case{18, 17, 200, false}, Case{9, 9, 256, true}, Case{6, 7, 260, true},
                    Case{17, 17, 8, true, "bf16"}, Case{33, 40, 20, true, "bf16"},
                    Case{67, 130, 32, true, "bf16"}, Case{70, 45, 64, false, "bf16"},
                    Case{70, 70, 64, true, "bf16"}, Case{35, 35, 128, true, "bf16"},
                    Case{17, 33, 256, true, "bf16"}, Case{20, 20, 16, true, "f16"},
                    Case{20, 20, 16, true, "f8E4M3FN"}));

INSTANTIATE_TEST_SUITE_P(Results, CudaAttention,
                         testing::Values(Case{20, 20, 16, true, "bf16", logSumExp},
                                         Case{20, 20, 16, true, "bf16", output},
                                         Case{20, 20, 16, true, "bf16", queryGrad},
                                         Case{20, 20, 16, true, "bf16", keyGrad},
                                         Case{20, 20, 16, true, "bf16", valueGrad},
                                         Case{20, 20, 16, true, "f32", keyGrad | valueGrad}));

INSTANTIATE_TEST_SUITE_P(Scales, CudaAttention,
                         testing::Values(Case{20, 33, 16, true, "bf16", all, "-0.5"},
                                         Case{20, 33, 16, true, "f32", output | valueGrad, "0.0"},
                                         Case{20, 33, 16, true, "f32", all, "4.0"}));

/// With shares and slopes rounded, which shows: half of the last place at most.
class CudaAttentionRounded : public testing::TestWithParam<Case> {};

TEST_P(CudaAttentionRounded, IsNearlyAsInterpreted) {
  const Case &c = GetParam();
  std::string factors = c.element == std::string("f32") ? "tf32" : c.element;
  expectAsInterpreted(
      replaced(programOf(c), "{scale", "{weir.factors = \"" + factors + "\", scale"), "cuda",
      factors == "bf16" ? 0x1p-8 : 0x1p-10, factors == "bf16" ? 0x1p-13 : 0x1p-15);
}

INSTANTIATE_TEST_SUITE_P(Types, CudaAttentionRounded,
                         testing::Values(Case{35, 70, 32, true, "bf16", output | queryGrad},
                                         Case{70, 45, 64, false, "bf16", keyGrad | valueGrad},
                                         Case{33, 33, 24, true, "f16", output | valueGrad},
                                         Case{33, 33, 24, true, "f32", output | keyGrad}));

// With two groups of rows in a warp.
INSTANTIATE_TEST_SUITE_P(ManyHeads, CudaAttention,
                         testing::Values(Case{130, 130, 8, true, "bf16", output | keyGrad, "0.25",
                                              264}));

} // namespace
} // namespace weir
