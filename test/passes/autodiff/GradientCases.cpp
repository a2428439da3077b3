//===- GradientCases.cpp - What every op's gradient is tested on ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/passes/autodiff/GradientCases.h"

namespace weir::test {

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

namespace {

constexpr unsigned all = ~0u;

/// "tensor<3x5xf32>" of "3x5x".
std::string tensor(const std::string &shape, const char *element = "f32") {
  return "tensor<" + shape + element + ">";
}

class Cases {
public:
  std::vector<OpCase> cases;

  /// A function from the text that follows its name.
  void add(const std::string &op, const std::string &variant, const std::string &rest,
           unsigned linear = 0) {
    std::string name = variant.empty() ? op : op + "_" + variant;
    cases.push_back({op, name, "func.func @" + name + rest, linear});
  }

  /// One op, from the arguments' types and the op's text after `= weir.`.
  void one(const std::string &op, const std::string &variant, const std::string &arguments,
           const std::string &text, const std::string &result, unsigned linear = 0) {
    add(op, variant,
        "(" + arguments + ") -> " + result + " {\n %r = weir." + op + " " + text +
            "\n return %r : " + result + "\n}",
        linear);
  }

  /// One op of one operand with attributes.
  void view(const std::string &op, const std::string &variant, const std::string &from,
            const std::string &attributes, const std::string &to, unsigned linear = all,
            const std::string &kind = "") {
    one(op, variant, "%a: " + tensor(from),
        kind + "%a {" + attributes + "} : " + tensor(from) + " -> " + tensor(to), tensor(to),
        linear);
  }

  /// One body of %a and %b at many shapes, with result %r; T is the type. `a` and `b` are the
  /// arguments' attributes. Where %b is broadcast, it is from what is repeated.
  void elementwise(const std::string &op, const std::string &variant, const std::string &body,
                   const std::string &a = "", const std::string &b = "", unsigned linear = 0) {
    struct Sizes {
      const char *shape, *b, *dimensions;
    };
    for (const Sizes &sizes : {
             Sizes{"", nullptr, ""},
             Sizes{"1x", nullptr, ""},
             Sizes{"17x", nullptr, ""},
             Sizes{"3x5x", nullptr, ""},
             Sizes{"2x1x9x", nullptr, ""},
             Sizes{"2x67x", nullptr, ""},
             Sizes{"3x19x", "19x", "1"},
             Sizes{"4x3x", "4x1x", "0, 1"},
             Sizes{"2x5x", "", ""},
         }) {
      auto attributes = [](const std::string &text) {
        return text.empty() ? "" : " {" + text + "}";
      };
      std::string type = tensor(sizes.shape), from = sizes.b ? tensor(sizes.b) : type;
      std::string list =
          std::string("array<i64") + (*sizes.dimensions ? ": " : "") + sizes.dimensions + ">";
      std::string repeat = sizes.b ? "%b = weir.broadcast %b0 {dimensions = " + list +
                                         "} : " + from + " -> " + type + "\n"
                                   : "";
      std::string text = "(%a: T" + attributes(a) + (sizes.b ? ", %b0: " : ", %b: ") + from +
                         attributes(b) + ") -> T {\n" + repeat + body + "\nreturn %r : T\n}";
      text = replaced(text, "INTS", tensor(sizes.shape, "i32"));
      text = replaced(replaced(text, "BOOLS", tensor(sizes.shape, "i1")), "T", type);
      std::string shape = replaced(sizes.shape, "x", "_");
      add(op,
          variant + (variant.empty() ? "" : "_") + "of_" + (shape.empty() ? "scalar" : shape) +
              (sizes.b ? "repeated" : ""),
          text, linear);
    }
  }

  void addElementwise();
  void addStructure();
  void addReductions();
  void addProducts();
  void addConvolutions();
  void addComposites();
};

void Cases::addElementwise() {
  auto unary = [&](const std::string &op, const std::string &range = "", unsigned linear = 0) {
    elementwise(op, "", "%r = weir." + op + " %a : T", range, "", linear);
  };
  auto binary = [&](const std::string &op, unsigned linear, const std::string &a = "",
                    const std::string &b = "") {
    elementwise(op, "", "%r = weir." + op + " %a, %b : T", a, b, linear);
  };
  const std::string positive = "test.low = 0.5, test.high = 3.0";
  for (const char *op : {"abs", "exp", "tanh", "sin", "cos", "erf", "expm1", "sigmoid",
                         "normal_cdf", "sign", "floor", "power_of_two"})
    unary(op);
  unary("neg", "", all);
  for (const char *op : {"log", "log1p", "sqrt", "rsqrt"})
    unary(op, positive);
  for (const char *op : {"add", "sub", "mul"})
    binary(op, all);
  for (const char *op : {"max", "min"})
    binary(op, 0);
  binary("div", 1, "", positive);
  binary("pow", 0, positive, "test.low = -2.0, test.high = 2.0");
  elementwise("mul", "square", "%r = weir.mul %a, %a : T");
  for (const char *n : {"0.0", "1.0", "2.0", "3.0", "-1.0", "0.5"})
    elementwise("pow", "to_" + replaced(replaced(n, ".", "_"), "-", "minus_"),
                std::string("%n = weir.constant ") + n + " : f32 -> T\n%r = weir.pow %a, %n : T",
                positive);
  elementwise("select", "",
              "%c = weir.compare lt %a, %b : T -> BOOLS\n%r = weir.select %c, %b, %a : BOOLS, T");
  elementwise("cast", "", "%c = weir.cast %a : T -> T\n%r = weir.mul %c, %b : T", "", "", all);
  elementwise("cast", "truncated",
              "%i = weir.cast %a : T -> INTS\n%f = weir.cast %i : INTS -> T\n"
              "%r = weir.mul %f, %b : T");
  elementwise("stop_gradient", "",
              "%e = weir.exp %a : T\n%s = weir.stop_gradient %e : T\n%m = weir.mul %s, %b : T\n"
              "%r = weir.add %m, %a : T");
}

void Cases::addStructure() {
  view("broadcast", "scalar", "", "dimensions = array<i64>", "3x5x");
  view("broadcast", "row", "5x", "dimensions = array<i64: 1>", "3x5x");
  view("broadcast", "column", "3x", "dimensions = array<i64: 0>", "3x5x");
  view("broadcast", "ones", "1x5x1x", "dimensions = array<i64: 0, 1, 3>", "3x5x2x7x");
  view("broadcast", "one_to_one", "1x1x", "dimensions = array<i64: 0, 1>", "1x4x");
  view("broadcast", "wide", "67x", "dimensions = array<i64: 1>", "5x67x2x");
  view("transpose", "", "2x3x5x", "permutation = array<i64: 2, 0, 1>", "5x2x3x");
  view("transpose", "one", "1x7x", "permutation = array<i64: 1, 0>", "7x1x");
  view("transpose", "wide", "17x33x", "permutation = array<i64: 1, 0>", "33x17x");
  view("split_dim", "", "2x12x", "dimension = 1 : i64, sizes = array<i64: 3, 1, 4>", "2x3x1x4x");
  view("split_dim", "away", "2x1x", "dimension = 1 : i64, sizes = array<i64>", "2x");
  view("split_dim", "wide", "34x3x", "dimension = 0 : i64, sizes = array<i64: 2, 17>", "2x17x3x");
  view("merge_dims", "", "2x3x5x", "first = 1 : i64, count = 2 : i64", "2x15x");
  view("merge_dims", "new", "2x3x", "first = 2 : i64, count = 0 : i64", "2x3x1x");
  view("merge_dims", "of_scalar", "", "first = 0 : i64, count = 0 : i64", "1x");
  view("slice", "", "7x9x", "offsets = array<i64: 1, 0>, strides = array<i64: 2, 3>", "3x3x");
  view("slice", "one", "5x1x", "offsets = array<i64: 4, 0>, strides = array<i64: 1, 1>", "1x1x");
  view("slice", "row", "3x37x", "offsets = array<i64: 0, 3>, strides = array<i64: 1, 1>", "3x33x");
  view("pad", "", "3x2x", "offsets = array<i64: 1, 0>, strides = array<i64: 2, 3>", "7x5x");
  view("pad", "one", "1x", "offsets = array<i64: 2>, strides = array<i64: 1>", "19x");
  view("pad", "row", "3x17x", "offsets = array<i64: 0, 3>, strides = array<i64: 1, 1>", "3x33x");
  one("concat", "", "%a: tensor<2x3xf32>, %b: tensor<2x1xf32>, %c: tensor<2x5xf32>",
      "%a, %b, %c {dimension = 1 : i64} : tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x5xf32> "
      "-> tensor<2x9xf32>",
      "tensor<2x9xf32>", all);
  one("concat", "first", "%a: tensor<1x17xf32>, %b: tensor<4x17xf32>",
      "%a, %b {dimension = 0 : i64} : tensor<1x17xf32>, tensor<4x17xf32> -> tensor<5x17xf32>",
      "tensor<5x17xf32>", all);
  one("concat", "twice", "%a: tensor<3xf32>",
      "%a, %a {dimension = 0 : i64} : tensor<3xf32>, tensor<3xf32> -> tensor<6xf32>",
      "tensor<6xf32>", all);

  auto gather = [&](const std::string &variant, const std::string &table, const std::string &ids,
                    const std::string &result, int below) {
    std::string indices = tensor(ids, "i32");
    std::string limit = " {test.high = " + std::to_string(below) + ".0}";
    one("gather", variant, "%a: " + tensor(table) + ", %i: " + indices + limit,
        "%a, %i : " + tensor(table) + ", " + indices + " -> " + tensor(result), tensor(result),
        all);
    one("segment_sum", variant, "%a: " + tensor(result) + ", %i: " + indices + limit,
        "%a, %i : " + tensor(result) + ", " + indices + " -> " + tensor(table), tensor(table), all);
  };
  gather("", "7x3x", "2x5x", "2x5x3x", 7);
  gather("elements", "4x", "9x", "9x", 4);
  gather("one", "1x1x", "1x", "1x1x", 1);
  gather("scalar", "5x2x", "", "2x", 5);
  gather("wide", "3x37x", "11x", "11x37x", 3);
  gather("outside", "3x4x", "9x", "9x4x", 6);
}

void Cases::addReductions() {
  for (std::string kind : {"sum", "max", "min"}) {
    auto reduce = [&](const std::string &variant, const std::string &from, const std::string &axes,
                      const std::string &to) {
      view("reduce", kind + "_" + variant, from, "axes = array<i64" + axes + ">", to,
           kind == "sum" ? all : 0, kind + " ");
    };
    reduce("last", "3x17x", ": 1", "3x");
    reduce("first", "17x3x", ": 0", "3x");
    reduce("first_wide", "5x67x", ": 0", "67x");
    reduce("some", "2x3x1x5x", ": 0, 2, 3", "3x");
    reduce("all", "7x", ": 0", "");
    reduce("one", "1x1x", ": 0, 1", "");
    reduce("none", "3x", "", "3x");
  }
}

void Cases::addProducts() {
  auto matmul = [&](const std::string &variant, const std::string &leading, int m, int k, int n) {
    for (int flags = 0; flags < 4; ++flags) {
      bool ta = flags & 1, tb = flags & 2;
      auto type = [&](int rows, int columns) {
        return tensor(leading + std::to_string(rows) + "x" + std::to_string(columns) + "x");
      };
      std::string lhs = ta ? type(k, m) : type(m, k), rhs = tb ? type(n, k) : type(k, n);
      std::string attributes = flags == 0   ? ""
                               : flags == 1 ? " {transpose_lhs}"
                               : flags == 2 ? " {transpose_rhs}"
                                            : " {transpose_lhs, transpose_rhs}";
      one("matmul", variant + (variant.empty() ? "" : "_") + std::to_string(flags),
          "%a: " + lhs + ", %b: " + rhs,
          "%a, %b" + attributes + " : " + lhs + ", " + rhs + " -> " + type(m, n), type(m, n), all);
    }
  };
  matmul("", "", 3, 5, 7);
  matmul("ones", "", 1, 1, 1);
  matmul("row", "", 1, 9, 2);
  matmul("wide", "", 17, 3, 19);
  matmul("batched", "2x3x", 4, 1, 5);
  add("matmul", "square",
      "(%a: tensor<5x5xf32>) -> tensor<5x5xf32> {\n %r = weir.matmul %a, %a {transpose_rhs} : "
      "tensor<5x5xf32>, tensor<5x5xf32> -> tensor<5x5xf32>\n return %r : tensor<5x5xf32>\n}");
}

void Cases::addConvolutions() {
  struct Convolution {
    std::string variant, input, weight, result, attributes;
  };
  for (const Convolution &c : {
           Convolution{"", "2x3x5x6x", "4x3x3x3x", "2x4x5x6x",
                       "strides = array<i64: 1, 1>, padding = array<i64: 1, 1>"},
           Convolution{"strided", "1x2x7x8x", "3x2x3x2x", "1x3x3x4x",
                       "strides = array<i64: 2, 2>, padding = array<i64: 0, 0>"},
           Convolution{"one", "2x1x4x4x", "1x1x1x1x", "2x1x4x4x",
                       "strides = array<i64: 1, 1>, padding = array<i64: 0, 0>"},
           Convolution{"uneven", "1x1x5x7x", "2x1x2x3x", "1x2x3x4x",
                       "strides = array<i64: 2, 2>, padding = array<i64: 1, 1>"},
           Convolution{"sparse", "1x17x5x4x", "3x17x1x2x", "1x3x2x3x",
                       "strides = array<i64: 3, 1>, padding = array<i64: 0, 0>"},
       }) {
    std::string input = tensor(c.input), weight = tensor(c.weight), result = tensor(c.result);
    auto form = [&](const char *op, const std::string &a, const std::string &b,
                    const std::string &to) {
      one(op, c.variant, "%a: " + a + ", %b: " + b,
          "%a, %b {" + c.attributes + "} : " + a + ", " + b + " -> " + to, to, all);
    };
    form("convolution", input, weight, result);
    form("convolution_input_grad", result, weight, input);
    form("convolution_weight_grad", input, result, weight);
  }
  view("max_pool", "", "2x3x6x8x", "window = array<i64: 2, 2>, strides = array<i64: 2, 2>",
       "2x3x3x4x", 0);
  view("max_pool", "overlapping", "1x2x7x5x",
       "window = array<i64: 3, 2>, strides = array<i64: 2, 1>", "1x2x3x4x", 0);
  view("max_pool", "one", "1x1x1x1x", "window = array<i64: 1, 1>, strides = array<i64: 1, 1>",
       "1x1x1x1x", 0);
  // Some elements are in no window.
  view("max_pool", "gaps", "2x9x20x", "window = array<i64: 2, 1>, strides = array<i64: 3, 2>",
       "2x3x10x", 0);
}

void Cases::addComposites() {
  for (const char *shape : {"4x17x", "1x2x", "2x3x8x", "5x1x", "3x67x"}) {
    std::string whole = shape, x = tensor(whole);
    std::string rows = whole.substr(0, whole.find_last_of('x', whole.size() - 2) + 1);
    std::string m = tensor(rows), labels = tensor(rows, "i32"), suffix = replaced(whole, "x", "_");
    // Of two elements the gradient is nothing but what eps leaves, and f32's rounding.
    std::string eps = whole == "1x2x" ? "0.5" : "1.0e-5";
    std::string classes = whole == "5x1x" ? "1.0" : "2.0";
    std::string results = x + ", " + m + ", " + m, pair = m + ", " + m;
    add("normalize", "all_" + suffix,
        "(%a: " + x + ") -> (" + results + ") {\n%n, %m, %s = weir.normalize %a {eps = 0.01} : " +
            x + " -> " + m + "\n return %n, %m, %s : " + results + "\n}");
    add("normalize", suffix,
        "(%a: " + x + ") -> " + x + " {\n%n, %m, %s = weir.normalize %a {eps = " + eps +
            "} : " + x + " -> " + m + "\n return %n : " + x + "\n}");
    add("log_softmax", suffix,
        "(%a: " + x + ") -> " + x + " {\n%y = weir.log_softmax %a : " + x + "\n return %y : " + x +
            "\n}");
    std::string call = "(%a: " + x + ", %l: " + labels + " {test.high = " + classes +
                       "}) -> RESULT {\n" + "%l0, %s = weir.softmax_cross_entropy %a, %l : " + x +
                       ", " + labels + " -> " + m + "\n return ";
    add("softmax_cross_entropy", "all_" + suffix,
        replaced(call, "RESULT", "(" + pair + ")") + "%l0, %s : " + pair + "\n}");
    add("softmax_cross_entropy", suffix, replaced(call, "RESULT", m) + "%l0 : " + m + "\n}");
  }
  auto attention = [&](const std::string &variant, const std::string &q, const std::string &k,
                       const std::string &rows, const std::string &attributes) {
    std::string query = tensor(q), key = tensor(k);
    add("attention", variant,
        "(%q: " + query + ", %k: " + key + ", %v: " + key + ") -> " + query +
            " {\n %r, %s = weir.attention %q, %k, %v {" + attributes + "} : " + query + ", " + key +
            " -> " + tensor(rows) + "\n return %r : " + query + "\n}",
        4);
  };
  attention("", "2x3x5x4x", "2x3x7x4x", "2x3x5x", "scale = 0.5");
  attention("causal", "1x2x9x3x", "1x2x9x3x", "1x2x9x", "scale = 0.7, causal");
  attention("causal_longer", "1x1x3x1x", "1x1x5x1x", "1x1x3x", "scale = 1.0, causal");
  attention("one", "1x1x1x1x", "1x1x1x1x", "1x1x1x", "scale = 1.0, causal");
  attention("wide", "1x1x17x5x", "1x1x19x5x", "1x1x17x", "scale = 0.4, causal");
  // Self-attention: three cotangents of one value.
  add("attention", "self", R"((%a: tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32> {
    %r, %s = weir.attention %a, %a, %a {scale = 0.5, causal} : tensor<1x2x5x3xf32>, tensor<1x2x5x3xf32> -> tensor<1x2x5xf32>
    return %r : tensor<1x2x5x3xf32>
  })");
}

} // namespace

std::vector<OpCase> opCases() {
  Cases all;
  all.addElementwise();
  all.addStructure();
  all.addReductions();
  all.addProducts();
  all.addConvolutions();
  all.addComposites();
  return std::move(all.cases);
}

} // namespace weir::test
