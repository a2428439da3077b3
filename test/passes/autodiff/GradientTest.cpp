//===- GradientTest.cpp - Every gradient against finite differences -------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A case is a function @f. Its loss is a sum of all float results with fixed random weights; the
// gradients that autodiff builds for all float arguments, run by the f64 interpreter, are compared
// with central differences of @f: with d the difference and g the gradient of one argument, |d| <=
// 1e-5 max(|g|, 1e-3 of the largest argument's gradient). Argument attributes: test.low and
// test.high bound the random numbers ([-2, 2) for floats, [0, test.high) for integers).
//
//===----------------------------------------------------------------------===//

#include "ir/reference/Interpreter.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace weir;

namespace {

struct Case {
  std::string name, text;
};

void PrintTo(const Case &which, std::ostream *stream) { *stream << which.name; }

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// The cases of one elementwise body at shapes around sizes of vectors; T is the type, A and B the
/// arguments' attributes.
void elementwise(std::vector<Case> &cases, const std::string &name, const std::string &body,
                 const std::string &a = "", const std::string &b = "") {
  int number = 0;
  for (const char *shape : {"", "1x", "17x", "3x5x", "2x1x9x"}) {
    std::string text = "func.func @f(%a: T" + (a.empty() ? "" : " {" + a + "}") + ", %b: T" +
                       (b.empty() ? "" : " {" + b + "}") + ") -> T {\n" + body +
                       "\n return %r : T\n}";
    text = replaced(text, "BOOLS", std::string("tensor<") + shape + "i1>");
    text = replaced(text, "T", std::string("tensor<") + shape + "f32>");
    cases.push_back({name + "_" + std::to_string(number++), text});
  }
}

std::vector<Case> allCases() {
  std::vector<Case> cases;
  auto unary = [&](const std::string &name, const std::string &range = "") {
    elementwise(cases, name, "%r = weir." + name + " %a : T", range);
  };
  auto binary = [&](const std::string &name, const std::string &a = "", const std::string &b = "") {
    elementwise(cases, name, "%r = weir." + name + " %a, %b : T", a, b);
  };
  const std::string positive = "test.low = 0.5, test.high = 3.0";
  for (const char *name : {"neg", "abs", "exp", "tanh", "sin", "cos", "erf", "sign", "floor"})
    unary(name);
  for (const char *name : {"log", "sqrt", "rsqrt"})
    unary(name, positive);
  for (const char *name : {"add", "sub", "mul", "max", "min"})
    binary(name);
  binary("div", "", positive);
  binary("pow", positive, "test.low = -2.0, test.high = 2.0");
  elementwise(cases, "square", "%r = weir.mul %a, %a : T");
  for (const char *n : {"0.0", "1.0", "2.0", "3.0", "-1.0", "0.5"})
    elementwise(cases, std::string("pow_") + replaced(replaced(n, ".", "_"), "-", "minus_"),
                std::string("%n = weir.constant ") + n + " : f32 -> T\n%r = weir.pow %a, %n : T",
                positive);
  elementwise(cases, "select",
              "%c = weir.compare lt %a, %b : T -> BOOLS\n%r = weir.select %c, %b, %a : BOOLS, T");
  elementwise(cases, "cast", "%c = weir.cast %a : T -> T\n%r = weir.mul %c, %b : T");
  // What a finite difference sees through stop_gradient is not the gradient, so only where it is
  // cut off by zero.
  elementwise(cases, "stop_gradient",
              "%z = weir.constant 0.0 : f32 -> T\n%s = weir.stop_gradient %a : T\n"
              "%m = weir.mul %s, %z : T\n%r = weir.add %m, %b : T");

  auto add = [&](const std::string &name, const std::string &text) {
    cases.push_back({name, text});
  };
  // One op, from the arguments' types and the op's text after `= weir.`.
  auto op = [&](const std::string &name, const std::string &arguments, const std::string &text,
                const std::string &result) {
    add(name, "func.func @f(" + arguments + ") -> " + result + " {\n %r = weir." + text +
                  "\n return %r : " + result + "\n}");
  };
  auto view = [&](const std::string &name, const std::string &mnemonic, const std::string &from,
                  const std::string &attributes, const std::string &to) {
    std::string input = "tensor<" + from + ">", result = "tensor<" + to + ">";
    op(name, "%a: " + input, mnemonic + " %a {" + attributes + "} : " + input + " -> " + result,
       result);
  };
  view("broadcast_scalar", "broadcast", "f32", "dimensions = array<i64>", "3x5xf32");
  view("broadcast_row", "broadcast", "5xf32", "dimensions = array<i64: 1>", "3x5xf32");
  view("broadcast_column", "broadcast", "3xf32", "dimensions = array<i64: 0>", "3x5xf32");
  view("broadcast_ones", "broadcast", "1x5x1xf32", "dimensions = array<i64: 0, 1, 3>",
       "3x5x2x7xf32");
  view("broadcast_one_to_one", "broadcast", "1x1xf32", "dimensions = array<i64: 0, 1>", "1x4xf32");
  view("transpose", "transpose", "2x3x5xf32", "permutation = array<i64: 2, 0, 1>", "5x2x3xf32");
  view("transpose_one", "transpose", "1x7xf32", "permutation = array<i64: 1, 0>", "7x1xf32");
  view("split_dim", "split_dim", "2x12xf32", "dimension = 1 : i64, sizes = array<i64: 3, 1, 4>",
       "2x3x1x4xf32");
  view("split_dim_away", "split_dim", "2x1xf32", "dimension = 1 : i64, sizes = array<i64>",
       "2xf32");
  view("merge_dims", "merge_dims", "2x3x5xf32", "first = 1 : i64, count = 2 : i64", "2x15xf32");
  view("merge_dims_new", "merge_dims", "2x3xf32", "first = 2 : i64, count = 0 : i64", "2x3x1xf32");
  view("slice", "slice", "7x9xf32", "offsets = array<i64: 1, 0>, strides = array<i64: 2, 3>",
       "3x3xf32");
  view("pad", "pad", "3x2xf32", "offsets = array<i64: 1, 0>, strides = array<i64: 2, 3>",
       "7x5xf32");
  for (std::string kind : {"sum", "max", "min"}) {
    view("reduce_" + kind + "_last", "reduce " + kind, "3x17xf32", "axes = array<i64: 1>", "3xf32");
    view("reduce_" + kind + "_first", "reduce " + kind, "17x3xf32", "axes = array<i64: 0>",
         "3xf32");
    view("reduce_" + kind + "_some", "reduce " + kind, "2x3x1x5xf32", "axes = array<i64: 0, 2, 3>",
         "3xf32");
    view("reduce_" + kind + "_all", "reduce " + kind, "7xf32", "axes = array<i64: 0>", "f32");
  }
  op("concat", "%a: tensor<2x3xf32>, %b: tensor<2x1xf32>, %c: tensor<2x5xf32>",
     "concat %a, %b, %c {dimension = 1 : i64} : tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x5xf32> "
     "-> tensor<2x9xf32>",
     "tensor<2x9xf32>");
  op("gather", "%a: tensor<7x3xf32>, %i: tensor<2x5xi32> {test.high = 7.0}",
     "gather %a, %i : tensor<7x3xf32>, tensor<2x5xi32> -> tensor<2x5x3xf32>", "tensor<2x5x3xf32>");
  op("gather_elements", "%a: tensor<4xf32>, %i: tensor<9xi32> {test.high = 4.0}",
     "gather %a, %i : tensor<4xf32>, tensor<9xi32> -> tensor<9xf32>", "tensor<9xf32>");
  op("segment_sum", "%a: tensor<2x5x3xf32>, %i: tensor<2x5xi32> {test.high = 4.0}",
     "segment_sum %a, %i : tensor<2x5x3xf32>, tensor<2x5xi32> -> tensor<4x3xf32>",
     "tensor<4x3xf32>");

  auto matmul = [&](const std::string &name, const std::string &leading, int m, int k, int n) {
    for (int flags = 0; flags < 4; ++flags) {
      bool ta = flags & 1, tb = flags & 2;
      auto type = [&](int rows, int columns) {
        return "tensor<" + leading + std::to_string(rows) + "x" + std::to_string(columns) + "xf32>";
      };
      std::string lhs = ta ? type(k, m) : type(m, k), rhs = tb ? type(n, k) : type(k, n);
      std::string attributes = flags == 0   ? ""
                               : flags == 1 ? " {transpose_lhs}"
                               : flags == 2 ? " {transpose_rhs}"
                                            : " {transpose_lhs, transpose_rhs}";
      op(name + "_" + std::to_string(flags), "%a: " + lhs + ", %b: " + rhs,
         "matmul %a, %b" + attributes + " : " + lhs + ", " + rhs + " -> " + type(m, n), type(m, n));
    }
  };
  matmul("matmul", "", 3, 5, 7);
  matmul("matmul_ones", "", 1, 1, 1);
  matmul("matmul_row", "", 1, 9, 2);
  matmul("matmul_batched", "2x3x", 4, 1, 5);

  struct Convolution {
    std::string name, input, weight, result, attributes;
  };
  for (const Convolution &c : {
           Convolution{"", "2x3x5x6xf32", "4x3x3x3xf32", "2x4x5x6xf32",
                       "strides = array<i64: 1, 1>, padding = array<i64: 1, 1>"},
           Convolution{"_strided", "1x2x7x8xf32", "3x2x3x2xf32", "1x3x3x4xf32",
                       "strides = array<i64: 2, 2>, padding = array<i64: 0, 0>"},
           Convolution{"_one", "2x1x4x4xf32", "1x1x1x1xf32", "2x1x4x4xf32",
                       "strides = array<i64: 1, 1>, padding = array<i64: 0, 0>"},
           Convolution{"_uneven", "1x1x5x7xf32", "2x1x2x3xf32", "1x2x3x4xf32",
                       "strides = array<i64: 2, 2>, padding = array<i64: 1, 1>"},
       }) {
    std::string input = "tensor<" + c.input + ">", weight = "tensor<" + c.weight + ">";
    std::string result = "tensor<" + c.result + ">", attributes = " {" + c.attributes + "} : ";
    op("convolution" + c.name, "%a: " + input + ", %b: " + weight,
       "convolution %a, %b" + attributes + input + ", " + weight + " -> " + result, result);
    op("convolution_input_grad" + c.name, "%a: " + result + ", %b: " + weight,
       "convolution_input_grad %a, %b" + attributes + result + ", " + weight + " -> " + input,
       input);
    op("convolution_weight_grad" + c.name, "%a: " + input + ", %b: " + result,
       "convolution_weight_grad %a, %b" + attributes + input + ", " + result + " -> " + weight,
       weight);
  }
  view("max_pool", "max_pool", "2x3x6x8xf32",
       "window = array<i64: 2, 2>, strides = array<i64: 2, 2>", "2x3x3x4xf32");
  view("max_pool_overlapping", "max_pool", "1x2x7x5xf32",
       "window = array<i64: 3, 2>, strides = array<i64: 2, 1>", "1x2x3x4xf32");

  for (const char *shape : {"4x17x", "1x2x", "2x3x8x"}) {
    std::string x = std::string("tensor<") + shape + "f32>";
    std::string rows = std::string(shape).substr(
        0, std::string(shape).find_last_of('x', std::string(shape).size() - 2) + 1);
    std::string m = "tensor<" + rows + "f32>";
    std::string results = x + ", " + m + ", " + m;
    std::string suffix = replaced(shape, "x", "_");
    add("normalize_" + suffix, "func.func @f(%a: " + x + ") -> (" + results + ") {\n" +
                                   "%n, %m, %s = weir.normalize %a {eps = 0.01} : " + x + " -> " +
                                   m + "\n return %n, %m, %s : " + results + "\n}");
    add("normalize_alone_" + suffix, "func.func @f(%a: " + x + ") -> " + x + " {\n" +
                                         "%n, %m, %s = weir.normalize %a {eps = 1.0e-5} : " + x +
                                         " -> " + m + "\n return %n : " + x + "\n}");
    std::string labels = "tensor<" + rows + "i32>";
    add("softmax_cross_entropy_" + suffix,
        "func.func @f(%a: " + x + ", %l: " + labels + " {test.high = 2.0}) -> (" + m + ", " + m +
            ") {\n %l0, %s = weir.softmax_cross_entropy %a, %l : " + x + ", " + labels + " -> " +
            m + "\n return %l0, %s : " + m + ", " + m + "\n}");
    add("softmax_cross_entropy_loss_" + suffix,
        "func.func @f(%a: " + x + ", %l: " + labels + " {test.high = 2.0}) -> " + m +
            " {\n %l0, %s = weir.softmax_cross_entropy %a, %l : " + x + ", " + labels + " -> " + m +
            "\n return %l0 : " + m + "\n}");
  }
  auto attend = [&](const std::string &name, const std::string &q, const std::string &k,
                    const std::string &rows, const std::string &attributes) {
    std::string query = "tensor<" + q + ">", key = "tensor<" + k + ">";
    add(name, "func.func @f(%q: " + query + ", %k: " + key + ", %v: " + key + ") -> " + query +
                  " {\n %r, %s = weir.attend %q, %k, %v {" + attributes + "} : " + query + ", " +
                  key + " -> tensor<" + rows + ">\n return %r : " + query + "\n}");
  };
  attend("attend", "2x3x5x4xf32", "2x3x7x4xf32", "2x3x5xf32", "scale = 0.5");
  attend("attend_causal", "1x2x9x3xf32", "1x2x9x3xf32", "1x2x9xf32", "scale = 0.7, causal");
  attend("attend_causal_longer", "1x1x3x1xf32", "1x1x5x1xf32", "1x1x3xf32", "scale = 1.0, causal");
  attend("attend_one", "1x1x1x1xf32", "1x1x1x1xf32", "1x1x1xf32", "scale = 1.0, causal");
  // Self-attention: three cotangents of one value.
  add("attend_self", R"(func.func @f(%a: tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32> {
    %r, %s = weir.attend %a, %a, %a {scale = 0.5, causal} : tensor<1x2x5x3xf32>, tensor<1x2x5x3xf32> -> tensor<1x2x5xf32>
    return %r : tensor<1x2x5x3xf32>
  })");
  return cases;
}

Tensor randomTensor(std::mt19937_64 &random, mlir::Type type, double low, double high) {
  Tensor result(llvm::cast<mlir::RankedTensorType>(type).getShape());
  std::uniform_real_distribution<double> draw(low, high);
  for (double &value : result.values)
    value = draw(random);
  return result;
}

bool isFloat(mlir::Type type) {
  return llvm::isa<mlir::FloatType>(llvm::cast<mlir::RankedTensorType>(type).getElementType());
}

double norm(const std::vector<double> &values) {
  double sum = 0;
  for (double value : values)
    sum += value * value;
  return std::sqrt(sum);
}

class Fixture {
public:
  Fixture() {
    registry.insert<WeirDialect, mlir::func::FuncDialect>();
    registerReferenceInterpreter(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.allowUnregisteredDialects();
  }
  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &text) {
    return mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  }
  mlir::DialectRegistry registry;
  mlir::MLIRContext context;
};

/// Adds @g beside @f: the same arguments and one weight per result; returns the gradients of the
/// weighted sum.
void addGradientFunction(mlir::ModuleOp module, mlir::func::FuncOp f) {
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(module.getBody());
  mlir::Location location = f.getLoc();
  auto g = llvm::cast<mlir::func::FuncOp>(builder.clone(*f));
  g.setName("g");
  mlir::Block &body = g.getBody().front();
  llvm::SmallVector<mlir::Value> sources;
  for (mlir::Value argument : body.getArguments())
    if (isFloat(argument.getType()))
      sources.push_back(argument);
  mlir::Operation *end = body.getTerminator();
  builder.setInsertionPoint(end);
  mlir::Value loss;
  for (mlir::Value result : llvm::SmallVector<mlir::Value>(end->getOperands())) {
    mlir::Value weight = body.addArgument(result.getType(), location);
    mlir::Value term = MulOp::create(builder, location, result.getType(), result, weight, {});
    llvm::SmallVector<int64_t> axes;
    for (size_t d = 0; d < shapeOf(term).size(); ++d)
      axes.push_back(static_cast<int64_t>(d));
    if (!axes.empty())
      term = ReduceOp::create(builder, location, term, Reduction::sum, axes);
    loss = loss ? AddOp::create(builder, location, term.getType(), loss, term, {}) : term;
  }
  auto gradient = GradientOp::create(builder, location, loss, sources);
  end->setOperands(gradient.getResults());
  g.removeArgAttrsAttr();
  g.setFunctionType(mlir::FunctionType::get(module.getContext(), body.getArgumentTypes(),
                                            gradient.getResultTypes()));
}

class Gradients : public testing::TestWithParam<Case> {};

TEST_P(Gradients, matchFiniteDifferences) {
  Fixture fixture;
  mlir::OwningOpRef<mlir::ModuleOp> module = fixture.parse(GetParam().text);
  ASSERT_TRUE(module) << GetParam().text;
  auto f = module->lookupSymbol<mlir::func::FuncOp>("f");
  addGradientFunction(*module, f);
  ASSERT_TRUE(mlir::succeeded(mlir::verify(*module)));

  std::mt19937_64 random(std::hash<std::string>()(GetParam().name));
  Tensors inputs, weights;
  for (unsigned i = 0; i < f.getNumArguments(); ++i) {
    mlir::Type type = f.getArgument(i).getType();
    auto bound = [&](const char *name, double fallback) {
      auto attribute = f.getArgAttrOfType<mlir::FloatAttr>(i, name);
      return attribute ? attribute.getValueAsDouble() : fallback;
    };
    inputs.push_back(randomTensor(random, type, bound("test.low", isFloat(type) ? -2 : 0),
                                  bound("test.high", 2)));
    if (!isFloat(type))
      for (double &value : inputs.back().values)
        value = std::floor(value);
  }
  for (mlir::Type type : f.getResultTypes())
    weights.push_back(randomTensor(random, type, -1, 1));

  Interpreter interpreter;
  auto lossAt = [&](const Tensors &at) {
    mlir::FailureOr<Tensors> results = interpreter.run(f, at);
    EXPECT_TRUE(mlir::succeeded(results));
    double sum = 0;
    for (size_t r = 0; r < weights.size(); ++r)
      for (size_t i = 0; i < weights[r].values.size(); ++i)
        sum += weights[r].values[i] * (*results)[r].values[i];
    return sum;
  };
  Tensors expected;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!isFloat(f.getArgument(i).getType()))
      continue;
    Tensor difference(inputs[i].shape);
    for (size_t j = 0; j < difference.values.size(); ++j) {
      constexpr double step = 1e-5;
      Tensors moved = inputs;
      moved[i].values[j] = inputs[i].values[j] + step;
      double above = lossAt(moved);
      moved[i].values[j] = inputs[i].values[j] - step;
      difference.values[j] = (above - lossAt(moved)) / (2 * step);
    }
    expected.push_back(difference);
  }
  double largest = 0;
  for (const Tensor &tensor : expected)
    largest = std::max(largest, norm(tensor.values));

  Tensors arguments = inputs;
  arguments.append(weights);
  auto check = [&](const char *when) {
    auto g = module->lookupSymbol<mlir::func::FuncOp>("g");
    mlir::FailureOr<Tensors> actual = interpreter.run(g, arguments);
    ASSERT_TRUE(mlir::succeeded(actual));
    ASSERT_EQ(actual->size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      std::vector<double> difference = expected[i].values;
      for (size_t j = 0; j < difference.size(); ++j)
        difference[j] -= (*actual)[i].values[j];
      EXPECT_LE(norm(difference), 1e-5 * std::max(norm(expected[i].values), 1e-3 * largest))
          << "gradient " << i << " " << when;
    }
  };
  mlir::PassManager autodiff(&fixture.context);
  autodiff.addNestedPass<mlir::func::FuncOp>(createAutodiff());
  autodiff.addNestedPass<mlir::func::FuncOp>(createVerifyDifferentiated());
  ASSERT_TRUE(mlir::succeeded(autodiff.run(*module)));
  check("after autodiff");
  mlir::PassManager simplify(&fixture.context);
  simplify.addNestedPass<mlir::func::FuncOp>(createSimplify());
  ASSERT_TRUE(mlir::succeeded(simplify.run(*module)));
  check("after simplify");
}

INSTANTIATE_TEST_SUITE_P(Every, Gradients, testing::ValuesIn(allCases()),
                         [](const auto &info) { return info.param.name; });

// The gradients of two microbatches add up to that of the batch; the weight is outside, the loss
// inside.
TEST(GradientCases, microbatchesAddUp) {
  Fixture fixture;
  auto body = [](const std::string &rows) {
    return replaced(R"(
      %e = weir.exp %w : tensor<3x2xf32>
      %y = weir.matmul %x, %e : tensor<Nx3xf32>, tensor<3x2xf32> -> tensor<Nx2xf32>
      %t = weir.tanh %y : tensor<Nx2xf32>
      %loss = weir.reduce sum %t {axes = array<i64: 0, 1>} : tensor<Nx2xf32> -> tensor<f32>
      %g = weir.gradient %loss wrt (%w) : (tensor<f32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    )",
                    "N", rows);
  };
  mlir::OwningOpRef<mlir::ModuleOp> module = fixture.parse(
      "func.func @whole(%x: tensor<6x3xf32>, %w: tensor<3x2xf32>) -> tensor<3x2xf32> {" +
      body("6") +
      "return %g : tensor<3x2xf32> }\n"
      "func.func @parts(%all: tensor<6x3xf32>, %w: tensor<3x2xf32>) -> tensor<3x2xf32> {\n"
      "%sum = weir.microbatches 2 sliced(%all) carried() : (tensor<6x3xf32>) -> tensor<3x2xf32> {\n"
      "^bb0(%round: tensor<i32>, %x: tensor<3x3xf32>):" +
      body("3") +
      "weir.yield %g : tensor<3x2xf32>\n}\n"
      "return %sum : tensor<3x2xf32> }");
  ASSERT_TRUE(module);
  mlir::PassManager passes(&fixture.context);
  passes.addNestedPass<mlir::func::FuncOp>(createAutodiff());
  ASSERT_TRUE(mlir::succeeded(passes.run(*module)));
  std::mt19937_64 random(1);
  mlir::TypeRange types = module->lookupSymbol<mlir::func::FuncOp>("whole").getArgumentTypes();
  Tensors inputs{randomTensor(random, types[0], -1, 1), randomTensor(random, types[1], -1, 1)};
  Interpreter interpreter;
  auto whole = interpreter.run(module->lookupSymbol<mlir::func::FuncOp>("whole"), inputs);
  auto parts = interpreter.run(module->lookupSymbol<mlir::func::FuncOp>("parts"), inputs);
  ASSERT_TRUE(mlir::succeeded(whole) && mlir::succeeded(parts));
  for (size_t i = 0; i < 6; ++i)
    EXPECT_NEAR((*whole)[0].values[i], (*parts)[0].values[i], 1e-12);
}

TEST(GradientCases, coverEveryDifferentiableOp) {
  Fixture fixture;
  llvm::StringSet<> tested;
  for (const Case &which : allCases()) {
    mlir::OwningOpRef<mlir::ModuleOp> module = fixture.parse(which.text);
    ASSERT_TRUE(module) << which.text;
    module->walk([&](mlir::Operation *op) { tested.insert(op->getName().getStringRef()); });
  }
  int differentiable = 0;
  for (mlir::RegisteredOperationName name : fixture.context.getRegisteredOperations())
    if (name.hasInterface<Differentiable>()) {
      ++differentiable;
      EXPECT_TRUE(tested.contains(name.getStringRef())) << name.getStringRef().str();
    }
  EXPECT_GT(differentiable, 30);
}

} // namespace
