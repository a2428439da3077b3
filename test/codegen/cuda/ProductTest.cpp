//===- ProductTest.cpp - Products in tiles against the interpreter --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Convolutions, their gradients and matrix products at sizes that straddle tiles, with k split and
// not, on the emulated GPU with every check.
//
//===----------------------------------------------------------------------===//

#include "test/codegen/cuda/Emulated.h"

#include <array>

namespace weir {
namespace {

typedef std::array<int, 2> Pair;

std::string tensor(std::initializer_list<int> sizes, const std::string &element) {
  std::string text = "tensor<";
  for (int size : sizes)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

struct Convolution {
  int images, channels, filters;
  Pair size, window, strides = {1, 1}, padding = {0, 0};
  std::string ofImage = "f32", ofWeight = "f32";
};

void PrintTo(const Convolution &c, std::ostream *out) {
  *out << c.images << " images " << c.channels << "x" << c.size[0] << "x" << c.size[1] << " "
       << c.ofImage << ", " << c.filters << " filters " << c.window[0] << "x" << c.window[1] << " "
       << c.ofWeight << ", strides " << c.strides[0] << ", " << c.strides[1] << ", padding "
       << c.padding[0] << ", " << c.padding[1];
}

/// %name of f32 as $element, which is another.
std::string cast(const std::string &name, const std::string &type, const std::string &element) {
  if (element == "f32")
    return "";
  return "%" + name + " = weir.cast %" + name + "0 : " + type + " -> " +
         replaced(type, "f32", element) + "\n";
}

/// A convolution and its gradients of the same tensors. The cotangent is as the image.
std::string programOf(const Convolution &c) {
  auto out = [&](int d) { return (c.size[d] + 2 * c.padding[d] - c.window[d]) / c.strides[d] + 1; };
  std::string image = tensor({c.images, c.channels, c.size[0], c.size[1]}, "f32");
  std::string weight = tensor({c.filters, c.channels, c.window[0], c.window[1]}, "f32");
  std::string result = tensor({c.images, c.filters, out(0), out(1)}, "f32");
  auto input = [](const std::string &name, const std::string &element) {
    return "%" + name + (element == "f32" ? "" : "0");
  };
  std::string text = "func.func @f(" + input("x", c.ofImage) + ": $X, " + input("w", c.ofWeight) +
                     ": $W, " + input("g", c.ofImage) + ": $Y) -> ($Y, $X, $W) {\n" +
                     cast("x", image, c.ofImage) + cast("w", weight, c.ofWeight) +
                     cast("g", result, c.ofImage) +
                     "%y = weir.convolution %x, %w $A : $lowX, $lowW -> $Y\n"
                     "%dx = weir.convolution_input_grad %g, %w $A : $lowY, $lowW -> $X\n"
                     "%dw = weir.convolution_weight_grad %x, %g $A : $lowX, $lowY -> $W\n"
                     "return %y, %dx, %dw : $Y, $X, $W\n}";
  auto array = [](const Pair &pair) {
    return "array<i64: " + std::to_string(pair[0]) + ", " + std::to_string(pair[1]) + ">";
  };
  text = replaced(text, "$A",
                  "{strides = " + array(c.strides) + ", padding = " + array(c.padding) + "}");
  text = replaced(text, "$lowX", replaced(image, "f32", c.ofImage == "f32" ? "F" : c.ofImage));
  text = replaced(text, "$lowY", replaced(result, "f32", c.ofImage == "f32" ? "F" : c.ofImage));
  text = replaced(text, "$lowW", replaced(weight, "f32", c.ofWeight == "f32" ? "F" : c.ofWeight));
  text = replaced(text, "xF>", "xf32>");
  text = replaced(text, "$X", image);
  text = replaced(text, "$Y", result);
  return replaced(text, "$W", weight);
}

class CudaConvolution : public testing::TestWithParam<Convolution> {};

TEST_P(CudaConvolution, IsAsInterpreted) { expectAsInterpreted(programOf(GetParam())); }

INSTANTIATE_TEST_SUITE_P(
    Sizes, CudaConvolution,
    testing::Values(
        Convolution{1, 1, 1, {1, 1}, {1, 1}}, Convolution{2, 3, 5, {7, 9}, {3, 3}, {1, 1}, {1, 1}},
        Convolution{3, 17, 19, {11, 8}, {3, 3}, {2, 2}, {1, 1}},
        Convolution{2, 3, 4, {10, 9}, {3, 2}, {3, 2}, {1, 2}},
        Convolution{1, 2, 3, {13, 7}, {5, 4}, {3, 1}, {0, 2}},
        Convolution{1, 2, 2, {4, 5}, {2, 2}, {1, 2}, {3, 2}},
        Convolution{2, 2, 2, {9, 8}, {2, 1}, {4, 3}},
        // A window of one pixel.
        Convolution{2, 20, 33, {6, 6}, {1, 1}}, Convolution{2, 5, 6, {5, 7}, {1, 1}, {2, 2}},
        Convolution{2, 4, 4, {4, 4}, {1, 1}, {1, 1}, {1, 1}},
        // More rows than a tile, of the result and of the image's gradient.
        Convolution{1, 3, 130, {6, 6}, {3, 3}}, Convolution{1, 130, 2, {3, 3}, {2, 2}},
        // The largest tiles.
        Convolution{2, 2, 66, {93, 92}, {2, 2}}, Convolution{2, 66, 2, {93, 92}, {1, 2}},
        // k is split.
        Convolution{5, 3, 4, {12, 12}, {3, 3}, {1, 1}, {1, 1}},
        Convolution{1, 66, 70, {4, 4}, {3, 3}, {1, 1}, {1, 1}},
        Convolution{2, 8, 65, {9, 9}, {4, 4}, {2, 2}, {1, 1}}));

INSTANTIATE_TEST_SUITE_P(
    Types, CudaConvolution,
    testing::Values(Convolution{2, 3, 5, {7, 9}, {3, 3}, {1, 1}, {1, 1}, "bf16", "bf16"},
                    Convolution{3, 17, 19, {11, 8}, {3, 3}, {2, 2}, {1, 1}, "bf16", "bf16"},
                    Convolution{2, 24, 33, {4, 6}, {1, 1}, {1, 1}, {0, 0}, "bf16", "bf16"},
                    Convolution{1, 66, 70, {4, 8}, {3, 3}, {1, 1}, {1, 1}, "bf16", "bf16"},
                    Convolution{5, 3, 130, {12, 12}, {3, 2}, {1, 2}, {1, 0}, "bf16", "bf16"},
                    Convolution{2, 2, 66, {93, 92}, {2, 2}, {1, 1}, {0, 0}, "bf16", "bf16"},
                    Convolution{2, 72, 66, {92, 92}, {1, 1}, {1, 1}, {0, 0}, "bf16", "bf16"},
                    Convolution{2, 3, 5, {7, 9}, {3, 3}, {1, 1}, {1, 1}, "f16", "f16"},
                    Convolution{2, 3, 5, {6, 6}, {3, 3}, {1, 1}, {1, 1}, "f8E5M2", "f8E5M2"},
                    Convolution{2, 8, 8, {4, 4}, {1, 1}, {1, 1}, {0, 0}, "f32", "bf16"},
                    Convolution{2, 3, 5, {7, 9}, {3, 3}, {1, 1}, {1, 1}, "bf16", "f16"}));

struct Product {
  int batch, m, n, k;
  bool transposesA = false, transposesB = false;
  std::string ofA = "f32", ofB = "f32";
  int epilogue = 0;           ///< 1: a bias, 2: relu of that
  std::string result = "f32"; ///< what that is rounded to
};

void PrintTo(const Product &p, std::ostream *out) {
  *out << p.batch << " of " << p.m << "x" << p.k << (p.transposesA ? " transposed " : " ") << p.ofA
       << " by " << p.k << "x" << p.n << (p.transposesB ? " transposed " : " ") << p.ofB
       << ", epilogue " << p.epilogue << ", to " << p.result;
}

std::string programOf(const Product &p) {
  auto type = [&](int rows, int columns) {
    return p.batch == 1 ? tensor({rows, columns}, "f32") : tensor({p.batch, rows, columns}, "f32");
  };
  std::string a = p.transposesA ? type(p.k, p.m) : type(p.m, p.k);
  std::string b = p.transposesB ? type(p.n, p.k) : type(p.k, p.n);
  std::string text =
      "func.func @f(%a0: " + a + ", %b0: " + b + ", %v: $V) -> $R {\n" + cast("a", a, p.ofA) +
      cast("b", b, p.ofB) + "%r0 = weir.matmul %a" + (p.ofA == "f32" ? "0" : "") + ", %b" +
      (p.ofB == "f32" ? "0" : "") + " {" + (p.transposesA ? "transpose_lhs" : "") +
      (p.transposesA && p.transposesB ? ", " : "") + (p.transposesB ? "transpose_rhs" : "") +
      "} : " + replaced(a, "f32", p.ofA == "f32" ? "F" : p.ofA) + ", " +
      replaced(b, "f32", p.ofB == "f32" ? "F" : p.ofB) + " -> $R\n";
  if (p.epilogue >= 1)
    text += "%wide = weir.broadcast %v {dimensions = array<i64: 1>} : $V -> $R\n"
            "%r1 = weir.add %r0, %wide : $R\n";
  if (p.epilogue == 2)
    text += "%zero = weir.constant 0.0 : f32 -> $R\n%r2 = weir.max %zero, %r1 : $R\n";
  std::string result = "%r" + std::to_string(p.epilogue);
  if (p.result != "f32") {
    text += "%low = weir.cast " + result + " : $R -> $L\n";
    result = "%low";
  }
  text = replaced(text, "-> $R {", "-> $L {") + "return " + result + " : $L\n}";
  text = replaced(text, "xF>", "xf32>");
  text = replaced(text, "$L", p.result == "f32" ? "$R" : replaced(type(p.m, p.n), "f32", p.result));
  text = replaced(text, "$V", tensor({p.n}, "f32"));
  return replaced(text, "$R", type(p.m, p.n));
}

class CudaProduct : public testing::TestWithParam<Product> {};

TEST_P(CudaProduct, IsAsInterpreted) { expectAsInterpreted(programOf(GetParam()), "cuda+none"); }

INSTANTIATE_TEST_SUITE_P(Sizes, CudaProduct,
                         testing::Values(Product{1, 1, 1, 1}, Product{1, 17, 33, 20},
                                         Product{1, 130, 70, 65, true},
                                         Product{3, 20, 24, 40, false, true},
                                         Product{2, 36, 20, 28, true, true}, Product{1, 8, 6, 1100},
                                         Product{2, 5, 7, 520, true},
                                         // The largest tiles, of 128 rows and 128 or 64 columns.
                                         Product{140, 72, 70, 20}, Product{140, 66, 36, 18, true},
                                         Product{1, 40, 36, 24, false, false, "f32", "f32", 1},
                                         Product{1, 8, 36, 600, false, false, "f32", "f32", 2}));

INSTANTIATE_TEST_SUITE_P(
    Types, CudaProduct,
    testing::Values(Product{1, 17, 33, 20, false, false, "bf16", "bf16"},
                    Product{1, 130, 70, 65, true, false, "bf16", "bf16"},
                    Product{3, 24, 40, 72, false, true, "bf16", "bf16"},
                    Product{2, 40, 24, 48, true, true, "f16", "f16"},
                    Product{140, 72, 80, 48, false, true, "bf16", "bf16"},
                    Product{140, 66, 36, 40, true, false, "f16", "f16"},
                    Product{1, 33, 64, 1040, false, true, "bf16", "bf16"},
                    Product{1, 40, 36, 600, false, false, "bf16", "bf16", 2},
                    Product{1, 40, 36, 24, false, false, "f32", "bf16", 1},
                    Product{1, 40, 36, 24, false, false, "bf16", "f16"},
                    Product{1, 33, 24, 40, false, true, "bf16", "bf16", 2, "bf16"},
                    // Few enough that none is beside the middle of two low floats.
                    Product{1, 20, 24, 40, false, false, "f16", "f16", 1, "f16"},
                    Product{1, 20, 24, 600, false, false, "f16", "f16", 1, "bf16"},
                    Product{2, 20, 7, 24, true, false, "f32", "f32", 0, "bf16"},
                    Product{1, 20, 16, 24, false, false, "f8E4M3FN", "f8E4M3FN"}));

} // namespace
} // namespace weir
