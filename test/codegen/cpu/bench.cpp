//===- bench.cpp - How fast compiled kernels are --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints the time of each kernel on one core, and per element; no test. An argument is the target,
// another a filter.
//
//===----------------------------------------------------------------------===//

#include "test/codegen/cpu/KernelHarness.h"

#include <chrono>
#include <cstdio>

using namespace weir;

namespace {

struct Bench {
  const char *name;
  int64_t rows, columns;
  std::string
      text; ///< X: tensor<rows x columns>, V: a column vector, W: a row vector, I: row of integers
  std::vector<char> inputs;
};

std::string expand(const Bench &bench) {
  std::string r = std::to_string(bench.rows), c = std::to_string(bench.columns), text;
  for (size_t i = 0; i < bench.text.size(); ++i) {
    if (bench.text[i] != '$') {
      text += bench.text[i];
      continue;
    }
    switch (bench.text[++i]) {
    case 'X':
      text += "tensor<" + r + "x" + c + "xf32>";
      break;
    case 'V':
      text += "tensor<" + c + "xf32>";
      break;
    case 'W':
      text += "tensor<" + r + "xf32>";
      break;
    case 'I':
      text += "tensor<" + r + "xi32>";
      break;
    case 'S':
      text += "tensor<f32>";
      break;
    case 'K':
      text += "{dimensions = array<i64: 1>} : " +
              expand({"", bench.rows, bench.columns, "$V -> $X", {}});
      break;
    case 'J':
      text += "{dimensions = array<i64: 0>} : " +
              expand({"", bench.rows, bench.columns, "$W -> $X", {}});
      break;
    case 'C':
      text += " -> " + expand({"", bench.rows, bench.columns, "$X", {}});
      break;
    }
  }
  return text;
}

std::string kernel(const std::string &shape, const std::vector<std::string> &inputs,
                   const std::vector<std::string> &outputs, const std::string &body) {
  auto join = [](const std::vector<std::string> &parts, const std::string &prefix) {
    std::string text;
    for (size_t i = 0; i < parts.size(); ++i)
      text +=
          (i ? ", " : "") + (prefix.empty() ? "" : prefix + std::to_string(i) + ": ") + parts[i];
    return text;
  };
  std::string names, results, in = join(inputs, ""), out = join(outputs, "");
  for (size_t i = 0; i < inputs.size(); ++i)
    names += (i ? ", %x" : "%x") + std::to_string(i);
  for (size_t i = 0; i < outputs.size(); ++i)
    results += (i ? ", %k#" : "%k#") + std::to_string(i);
  return "func.func @f(" + join(inputs, "%x") + ") -> (" + out +
         ") {\n  %k:" + std::to_string(outputs.size()) + " = weir.kernel " + shape + "(" + names +
         ") : (" + in + ") -> (" + out + ") {\n  ^bb0(" + join(inputs, "%a") + "):\n" + body +
         "  }\n  return " + results + " : " + out + "\n}";
}

const char *geluForward = R"(
    %h = weir.constant 0.5 : f32 $C
    %o = weir.constant 1.0 : f32 $C
    %c = weir.constant 0.7978845608 : f32 $C
    %d = weir.constant 0.044715 : f32 $C
    %1 = weir.mul %a0, %a0 : $X
    %2 = weir.mul %1, %a0 : $X
    %3 = weir.mul %2, %d : $X
    %4 = weir.add %a0, %3 : $X
    %5 = weir.mul %4, %c : $X
    %t = weir.tanh %5 : $X
    %6 = weir.add %t, %o : $X
    %7 = weir.mul %6, %a0 : $X
    %8 = weir.mul %7, %h : $X
    weir.yield %8 : $X
)";
// 0.5 (1 + t) + 0.5 x (1 - t^2) u'
const char *geluBackward = R"(
    %h = weir.constant 0.5 : f32 $C
    %o = weir.constant 1.0 : f32 $C
    %c = weir.constant 0.7978845608 : f32 $C
    %d = weir.constant 0.044715 : f32 $C
    %d3 = weir.constant 0.134145 : f32 $C
    %1 = weir.mul %a0, %a0 : $X
    %2 = weir.mul %1, %a0 : $X
    %3 = weir.mul %2, %d : $X
    %4 = weir.add %a0, %3 : $X
    %5 = weir.mul %4, %c : $X
    %t = weir.tanh %5 : $X
    %6 = weir.add %t, %o : $X
    %7 = weir.mul %6, %h : $X
    %8 = weir.mul %t, %t : $X
    %9 = weir.sub %o, %8 : $X
    %10 = weir.mul %1, %d3 : $X
    %11 = weir.add %10, %o : $X
    %12 = weir.mul %11, %c : $X
    %13 = weir.mul %12, %9 : $X
    %14 = weir.mul %13, %a0 : $X
    %15 = weir.mul %14, %h : $X
    %16 = weir.add %15, %7 : $X
    %17 = weir.mul %16, %a1 : $X
    weir.yield %17 : $X
)";
const char *layerNorm = R"(
    %n, %m, %r = weir.normalize %a0 {eps = 1.0e-5 : f64} : $X -> $W
    %e = weir.broadcast %a1 $K
    %g = weir.broadcast %a2 $K
    %h = weir.mul %n, %e : $X
    %i = weir.add %h, %g : $X
    weir.yield %i, %m, %r : $X, $W, $W
)";
const char *layerNormBackward = R"(
    %e1 = weir.broadcast %a4 $K
    %h = weir.mul %a3, %e1 : $X
    %dx = weir.normalize_grad %a0, %a1, %a2, %h : $X, $W
    %b1 = weir.broadcast %a1 $J
    %c1 = weir.broadcast %a2 $J
    %i = weir.sub %a0, %b1 : $X
    %j = weir.mul %i, %c1 : $X
    %l = weir.mul %j, %a3 : $X
    %dw = weir.reduce sum %l {axes = array<i64: 0>} : $X -> $V
    %db = weir.reduce sum %a3 {axes = array<i64: 0>} : $X -> $V
    weir.yield %dx, %dw, %db : $X, $V, $V
)";
const char *crossEntropy = R"(
    %loss, %lse = weir.softmax_cross_entropy %a0, %a1 : $X, $I -> $W
    %sum = weir.reduce sum %loss {axes = array<i64: 0>} : $W -> $S
    %c1 = weir.broadcast %a2 {dimensions = array<i64>} : $S -> $W
    %g = weir.softmax_cross_entropy_grad %a0, %a1, %lse, %c1 : $X, $I, $W
    weir.yield %sum, %g : $S, $X
)";
const char *columnSum = R"(
    %s = weir.reduce sum %a0 {axes = array<i64: 0>} : $X -> $V
    weir.yield %s : $V
)";
const char *adamw = R"(
    %b1 = weir.constant 0.9 : f32 $C
    %c1 = weir.constant 0.1 : f32 $C
    %b2 = weir.constant 0.99 : f32 $C
    %c2 = weir.constant 0.01 : f32 $C
    %eps = weir.constant 1.0e-8 : f32 $C
    %w = weir.constant 0.1 : f32 $C
    %m0 = weir.mul %a2, %b1 : $X
    %m1 = weir.mul %a1, %c1 : $X
    %m = weir.add %m0, %m1 : $X
    %v0 = weir.mul %a3, %b2 : $X
    %v1 = weir.mul %a1, %a1 : $X
    %v2 = weir.mul %v1, %c2 : $X
    %v = weir.add %v0, %v2 : $X
    %lr = weir.broadcast %a4 {dimensions = array<i64>} : $S $C
    %k1 = weir.broadcast %a5 {dimensions = array<i64>} : $S $C
    %k2 = weir.broadcast %a6 {dimensions = array<i64>} : $S $C
    %n = weir.div %m, %k1 : $X
    %q = weir.div %v, %k2 : $X
    %s = weir.sqrt %q : $X
    %t = weir.add %s, %eps : $X
    %u = weir.div %n, %t : $X
    %d = weir.mul %a0, %w : $X
    %y = weir.add %u, %d : $X
    %z = weir.mul %y, %lr : $X
    %p = weir.sub %a0, %z : $X
    weir.yield %p, %m, %v : $X, $X, $X
)";
const char *squares = R"(
    %y = weir.mul %a0, %a0 : $X
    %s = weir.reduce sum %y {axes = array<i64: 0, 1>} : $X -> $S
    weir.yield %s : $S
)";
const char *embed = R"(
    %y = weir.gather %a0, %a1 : $X, $I -> $X
    weir.yield %y : $X
)";
const char *attention = R"(
    %o, %l = weir.attention %a0, %a1, %a2 {scale = 0.1767767 : f64, causal} : $H, $H -> $L
    weir.yield %o, %l : $H, $L
)";
const char *attentionGrad = R"(
    %dq, %dk, %dv = weir.attention_grad %a0, %a1, %a2, %a3, %a4, %a5 {scale = 0.1767767 : f64, causal} : $H, $H, $L
    weir.yield %dq, %dk, %dv : $H, $H, $H
)";

} // namespace

int main(int argc, char **argv) {
  std::string target = argc > 1 ? argv[1] : "cpu", filter = argc > 2 ? argv[2] : "";
  std::vector<Bench> benches = {
      {"gelu", 768, 512, kernel("map", {"$X"}, {"$X"}, geluForward), {}},
      {"gelu-backward", 768, 512, kernel("map", {"$X", "$X"}, {"$X"}, geluBackward), {}},
      {"layer-norm",
       768,
       128,
       kernel("row", {"$X", "$V", "$V"}, {"$X", "$W", "$W"}, layerNorm),
       {}},
      {"layer-norm",
       768,
       768,
       kernel("row", {"$X", "$V", "$V"}, {"$X", "$W", "$W"}, layerNorm),
       {}},
      {"layer-norm-backward",
       768,
       128,
       kernel("row", {"$X", "$W", "$W", "$X", "$V"}, {"$X", "$V", "$V"}, layerNormBackward),
       {}},
      {"layer-norm-backward",
       768,
       768,
       kernel("row", {"$X", "$W", "$W", "$X", "$V"}, {"$X", "$V", "$V"}, layerNormBackward),
       {}},
      {"cross-entropy", 768, 65, kernel("row", {"$X", "$I", "$S"}, {"$S", "$X"}, crossEntropy), {}},
      {"cross-entropy",
       64,
       50257,
       kernel("row", {"$X", "$I", "$S"}, {"$S", "$X"}, crossEntropy),
       {}},
      {"adamw",
       384,
       128,
       kernel("map", {"$X", "$X", "$X", "$X", "$S", "$S", "$S"}, {"$X", "$X", "$X"}, adamw),
       {}},
      {"column-sum", 768, 384, kernel("row", {"$X"}, {"$V"}, columnSum), {}},
      {"column-sum", 768, 512, kernel("row", {"$X"}, {"$V"}, columnSum), {}},
      {"column-sum", 768, 128, kernel("row", {"$X"}, {"$V"}, columnSum), {}},
      {"squares", 384, 128, kernel("row", {"$X"}, {"$S"}, squares), {}},
      {"embed", 768, 128, kernel("map", {"$X", "$I"}, {"$X"}, embed), {}},
  };
  for (auto [count, length, width] : {std::tuple{48, 64, 32}, {24, 256, 64}}) {
    std::string shape = "tensor<1x" + std::to_string(count) + "x" + std::to_string(length) + "x";
    std::pair<const char *, std::string> types[] = {{"$H", shape + std::to_string(width) + "xf32>"},
                                                    {"$L", shape + "f32>"}};
    auto fill = [&](std::string text) {
      for (auto &[name, type] : types)
        for (size_t at; (at = text.find(name)) != std::string::npos;)
          text.replace(at, 2, type);
      return text;
    };
    benches.push_back({"attention",
                       count * length,
                       width,
                       fill(kernel("attention", {"$H", "$H", "$H"}, {"$H", "$L"}, attention)),
                       {}});
    benches.push_back({"attention-backward",
                       count * length,
                       width,
                       fill(kernel("attention", {"$H", "$H", "$H", "$H", "$L", "$H"},
                                   {"$H", "$H", "$H"}, attentionGrad)),
                       {}});
  }
  // What PoolingTest.cpp of test/runtime/cpu measures of the library; elements are the result's.
  for (auto [planes, size, window, stride] : {std::tuple{512, 32, 3, 2},
                                              {512, 32, 3, 1},
                                              {512, 32, 2, 1},
                                              {512, 32, 5, 2},
                                              {512, 32, 5, 1},
                                              {512, 32, 2, 2},
                                              {512, 8, 3, 2},
                                              {512, 8, 2, 1},
                                              {64, 112, 3, 2},
                                              {512, 32, 4, 4},
                                              {512, 32, 2, 3},
                                              {512, 32, 7, 1},
                                              {512, 4, 3, 1},
                                              {3, 112, 3, 2},
                                              {1, 112, 3, 2},
                                              {16, 512, 3, 2}}) {
    int out = (size - window) / stride + 1;
    auto type = [&, planes = planes](int side) {
      std::string sides = std::to_string(side) + "x" + std::to_string(side);
      return "tensor<" + std::to_string(planes) + "x" + sides + "xf32>";
    };
    auto pair = [](int number) {
      return "array<i64: " + std::to_string(number) + ", " + std::to_string(number) + ">";
    };
    benches.push_back({"max-pool",
                       planes,
                       out * out,
                       kernel("nest", {type(size)}, {type(out)},
                              "%y = weir.max_pool %a0 {window = " + pair(window) +
                                  ", strides = " + pair(stride) + "} : " + type(size) + " -> " +
                                  type(out) + "\nweir.yield %y : " + type(out) + "\n"),
                       {}});
  }
  for (const Bench &bench : benches) {
    if (std::string(bench.name).find(filter) == std::string::npos)
      continue;
    auto start = std::chrono::steady_clock::now();
    CompiledKernel compiled(expand(bench), target);
    double compile =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    if (!compiled.valid) {
      std::printf("%-20s does not compile\n", bench.name);
      continue;
    }
    double elements = double(bench.rows) * double(bench.columns);
    double time = compiled.time(compiled.randomInputs());
    std::printf("%-20s %5ldx%-6ld %10.1f us %8.3f ns/element  tasks", bench.name, bench.rows,
                bench.columns, time / 1e3, time / elements);
    for (const LaunchPlan &launch : compiled.plan.launches)
      std::printf(" %ld", launch.tasks);
    std::printf("  compiled in %.0f ms, %zu bytes\n", compile, compiled.codeBytes);
  }
  return 0;
}
