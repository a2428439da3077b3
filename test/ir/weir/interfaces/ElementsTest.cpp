//===- ElementsTest.cpp - Scalar forms and decompositions against the interpreter -===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/reference/Interpreter.h"
#include "ir/weir/interfaces/Decompose.h"
#include "ir/weir/product/Product.h"
#include "ir/weir/reduction/Reduction.h"
#include "ir/weir/structure/Structure.h"
#include "test/ir/weir/Jit.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <gtest/gtest.h>
#include <random>

using namespace weir;

namespace {

class Elements : public testing::Test {
protected:
  Elements() {
    registry.insert<WeirDialect, mlir::func::FuncDialect>();
    registerReferenceInterpreter(registry);
    registerJitDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// Inputs for a function: floats around 0, integers that are rows or classes of everything below.
  Tensors inputs(mlir::func::FuncOp function) {
    std::mt19937 random(7);
    Tensors tensors;
    for (mlir::Type type : function.getArgumentTypes()) {
      auto tensor = llvm::cast<mlir::RankedTensorType>(type);
      mlir::Type element = tensor.getElementType();
      tensors.emplace_back(tensor.getShape());
      for (double &value : tensors.back().values)
        value = element.isF32()         ? float(std::normal_distribution<float>()(random))
                : element.isInteger(32) ? int(random() % 3)
                : element.isInteger(8)  ? int(random() % 256)
                                        : int(random() % 2);
    }
    return tensors;
  }

  void expectClose(const Tensors &got, const Tensors &expected, double tolerance) {
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i)
      for (size_t j = 0; j < got[i].values.size(); ++j) {
        double a = got[i].values[j], b = expected[i].values[j];
        bool same = a == b || (std::isnan(a) && std::isnan(b));
        EXPECT_TRUE(same || std::abs(a - b) <= tolerance * (1 + std::abs(b)))
            << "result " << i << ", element " << j << ": " << a << ", expected " << b;
      }
  }

  /// Runs `body`, whose results are `results`, in the interpreter and compiled.
  void check(const std::string &arguments, const std::string &types, const std::string &body) {
    std::string text = "func.func @f(" + arguments + ") -> (" + types + ") {\n" + body + "\n}";
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    auto function = module->lookupSymbol<mlir::func::FuncOp>("f");
    Tensors given = inputs(function);
    auto expected = Interpreter().run(function, given);
    auto got = runCompiled(function, given);
    ASSERT_TRUE(mlir::succeeded(expected) && mlir::succeeded(got));
    expectClose(*got, *expected, 1e-5);
  }

  /// Compares a function's meaning before and after decomposing it.
  void checkDecomposed(const std::string &text) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    auto function = module->lookupSymbol<mlir::func::FuncOp>("f");
    Tensors given = inputs(function);
    auto expected = Interpreter().run(function, given);
    mlir::RewritePatternSet patterns(&context);
    populateDecomposePatterns(patterns);
    ASSERT_TRUE(mlir::succeeded(mlir::applyPatternsGreedily(function, std::move(patterns))));
    function.walk([&](mlir::Operation *op) {
      bool known = llvm::isa<Pointwise, ReduceOp, BroadcastOp, MatmulOp, IotaOp, ConstantOp>(op);
      EXPECT_TRUE(known || !llvm::isa<WeirDialect>(op->getDialect()))
          << op->getName().getStringRef().str();
    });
    auto got = Interpreter().run(function, given);
    ASSERT_TRUE(mlir::succeeded(expected) && mlir::succeeded(got));
    expectClose(*got, *expected, 1e-12);
  }

  mlir::DialectRegistry registry;
  mlir::MLIRContext context;
};

TEST_F(Elements, decomposedSumsKeepTheirType) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      R"(func.func @f(%x: tensor<4x8xf32>, %q: tensor<1x1x4x8xf32>) {
        %n, %m, %r = weir.normalize %x {eps = 1.0e-5, accumulate = f16} : tensor<4x8xf32> -> tensor<4xf32>
        %a, %l = weir.attention %q, %q, %q {scale = 0.5, accumulate = bf16}
          : tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32> -> tensor<1x1x4xf32>
        return
      })",
      &context);
  ASSERT_TRUE(module);
  // What nothing uses would be erased instead.
  module->walk([&](mlir::func::ReturnOp end) {
    mlir::Block &block = *end->getBlock();
    mlir::SmallVector<mlir::Value> results;
    for (mlir::Operation &op : block.without_terminator())
      llvm::append_range(results, op.getResults());
    end.getOperandsMutable().assign(results);
    auto function = end->getParentOfType<mlir::func::FuncOp>();
    function.setType(mlir::FunctionType::get(&context, function.getArgumentTypes(),
                                             mlir::ValueRange(results).getTypes()));
  });
  mlir::RewritePatternSet patterns(&context);
  populateDecomposePatterns(patterns);
  ASSERT_TRUE(mlir::succeeded(mlir::applyPatternsGreedily(*module, std::move(patterns))));
  int halves = 0, brains = 0;
  module->walk([&](mlir::Operation *op) {
    auto reduce = llvm::dyn_cast<ReduceOp>(op);
    if (!llvm::isa<MatmulOp>(op) && !(reduce && reduce.getKind() == Reduction::sum))
      return;
    auto accumulate = op->getAttrOfType<mlir::TypeAttr>("accumulate");
    ASSERT_TRUE(accumulate) << op->getName().getStringRef().str();
    halves += accumulate.getValue().isF16();
    brains += accumulate.getValue().isBF16();
  });
  EXPECT_EQ(halves, 2); // the mean and the variance
  EXPECT_EQ(brains, 3); // the scores, the weights' sum, the result
}

TEST_F(Elements, unary) {
  for (std::string op : {"neg", "abs", "exp", "tanh", "sin", "cos", "erf", "expm1", "sigmoid",
                         "normal_cdf", "sign", "floor", "power_of_two", "stop_gradient"})
    check("%x: tensor<2x5xf32>", "tensor<2x5xf32>",
          "%r = weir." + op + " %x : tensor<2x5xf32>\nreturn %r : tensor<2x5xf32>");
  for (std::string op : {"log", "log1p", "sqrt", "rsqrt"})
    check("%x: tensor<7xf32>", "tensor<7xf32>",
          "%a = weir.abs %x : tensor<7xf32>\n%r = weir." + op +
              " %a : tensor<7xf32>\nreturn %r : tensor<7xf32>");
}

TEST_F(Elements, binary) {
  for (std::string op : {"add", "sub", "mul", "div", "max", "min"})
    check("%x: tensor<9xf32>, %y: tensor<9xf32>", "tensor<9xf32>",
          "%r = weir." + op + " %x, %y : tensor<9xf32>\nreturn %r : tensor<9xf32>");
  // Divisors of 0 and -1 among them.
  for (std::string op : {"add", "sub", "mul", "div", "rem", "max", "min"})
    check("%x: tensor<9xi32>, %y: tensor<9xi32>", "tensor<9xi32>",
          "%one = weir.constant 1 : i32 -> tensor<9xi32>\n"
          "%z = weir.sub %y, %one : tensor<9xi32>\n%r = weir." +
              op + " %x, %z : tensor<9xi32>\nreturn %r : tensor<9xi32>");
  for (std::string op : {"and", "or"})
    check("%x: tensor<9xi1>, %y: tensor<9xi1>", "tensor<9xi1>",
          "%r = weir." + op + " %x, %y : tensor<9xi1>\nreturn %r : tensor<9xi1>");
  check("%x: tensor<9xf32>, %y: tensor<9xf32>", "tensor<9xf32>",
        "%a = weir.abs %x : tensor<9xf32>\n%r = weir.pow %a, %y : tensor<9xf32>\nreturn %r : "
        "tensor<9xf32>");
}

TEST_F(Elements, comparisons) {
  for (std::string predicate : {"eq", "ne", "lt", "le", "gt", "ge"}) {
    check("%x: tensor<9xi32>, %y: tensor<9xi32>", "tensor<9xi1>",
          "%r = weir.compare " + predicate +
              " %x, %y : tensor<9xi32> -> tensor<9xi1>\nreturn %r : tensor<9xi1>");
    // With NaN: 0 / 0.
    check("%x: tensor<9xi32>, %y: tensor<9xi32>", "tensor<9xi1>",
          "%a = weir.cast %x : tensor<9xi32> -> tensor<9xf32>\n"
          "%b = weir.cast %y : tensor<9xi32> -> tensor<9xf32>\n%q = weir.div %a, %b : "
          "tensor<9xf32>\n%r = weir.compare " +
              predicate + " %q, %a : tensor<9xf32> -> tensor<9xi1>\nreturn %r : tensor<9xi1>");
  }
  check("%x: tensor<9xi32>, %y: tensor<9xi32>", "tensor<9xi1>",
        "%a = weir.cast %x : tensor<9xi32> -> tensor<9xf32>\n"
        "%b = weir.cast %y : tensor<9xi32> -> tensor<9xf32>\n%q = weir.div %a, %b : tensor<9xf32>\n"
        "%r = weir.is_finite %q : tensor<9xf32> -> tensor<9xi1>\nreturn %r : tensor<9xi1>");
  check("%c: tensor<9xi1>, %x: tensor<9xf32>, %y: tensor<9xf32>", "tensor<9xf32>",
        "%n = weir.not %c : tensor<9xi1>\n%r = weir.select %n, %x, %y : tensor<9xi1>, "
        "tensor<9xf32>\nreturn %r : tensor<9xf32>");
}

TEST_F(Elements, casts) {
  for (std::string from : {"f32", "i32", "ui8", "i1"})
    for (std::string to : {"f32", "i32", "ui8", "i1"})
      if (from != to && !(from == "f32" && to == "ui8"))
        check("%x: tensor<9x" + from + ">", "tensor<9x" + to + ">",
              "%r = weir.cast %x : tensor<9x" + from + "> -> tensor<9x" + to +
                  ">\nreturn %r : tensor<9x" + to + ">");
}

TEST_F(Elements, structure) {
  check("%x: tensor<3x1xf32>", "tensor<2x3x4xf32>",
        "%r = weir.broadcast %x {dimensions = array<i64: 1, 2>} : tensor<3x1xf32> -> "
        "tensor<2x3x4xf32>\nreturn %r : tensor<2x3x4xf32>");
  check("%x: tensor<2x3x4xf32>", "tensor<4x2x3xf32>",
        "%r = weir.transpose %x {permutation = array<i64: 2, 0, 1>} : tensor<2x3x4xf32> -> "
        "tensor<4x2x3xf32>\nreturn %r : tensor<4x2x3xf32>");
  check("%x: tensor<2x12xf32>", "tensor<2x3x1x4xf32>",
        "%r = weir.split_dim %x {dimension = 1 : i64, sizes = array<i64: 3, 1, 4>} : "
        "tensor<2x12xf32> -> tensor<2x3x1x4xf32>\nreturn %r : tensor<2x3x1x4xf32>");
  check("%x: tensor<2x3x1x4xf32>", "tensor<2x12xf32>",
        "%r = weir.merge_dims %x {first = 1 : i64, count = 3 : i64} : tensor<2x3x1x4xf32> -> "
        "tensor<2x12xf32>\nreturn %r : tensor<2x12xf32>");
  check("%x: tensor<2x3xf32>", "tensor<2x1x3xf32>",
        "%r = weir.merge_dims %x {first = 1 : i64, count = 0 : i64} : tensor<2x3xf32> -> "
        "tensor<2x1x3xf32>\nreturn %r : tensor<2x1x3xf32>");
  check("%x: tensor<4x9xf32>", "tensor<2x3xf32>",
        "%r = weir.slice %x {offsets = array<i64: 1, 2>, strides = array<i64: 2, 3>} : "
        "tensor<4x9xf32> -> tensor<2x3xf32>\nreturn %r : tensor<2x3xf32>");
  check("%x: tensor<2x3xf32>", "tensor<5x10xf32>",
        "%r = weir.pad %x {offsets = array<i64: 1, 2>, strides = array<i64: 2, 3>} : "
        "tensor<2x3xf32> -> tensor<5x10xf32>\nreturn %r : tensor<5x10xf32>");
  check("%x: tensor<2x3xf32>, %y: tensor<2x1xf32>", "tensor<2x7xf32>",
        "%r = weir.concat %x, %y, %x {dimension = 1 : i64} : tensor<2x3xf32>, tensor<2x1xf32>, "
        "tensor<2x3xf32> -> tensor<2x7xf32>\nreturn %r : tensor<2x7xf32>");
  check("", "tensor<2x3xi32>",
        "%r = weir.iota {dimension = 1 : i64} -> tensor<2x3xi32>\nreturn %r : tensor<2x3xi32>");
  check("%x: tensor<3x4xf32>, %i: tensor<2x5xi32>", "tensor<2x5x4xf32>",
        "%r = weir.gather %x, %i : tensor<3x4xf32>, tensor<2x5xi32> -> tensor<2x5x4xf32>\nreturn "
        "%r : tensor<2x5x4xf32>");
  check("%x: tensor<2x5x4xf32>, %i: tensor<2x5xi32>", "tensor<3x4xf32>",
        "%r = weir.segment_sum %x, %i : tensor<2x5x4xf32>, tensor<2x5xi32> -> "
        "tensor<3x4xf32>\nreturn %r : tensor<3x4xf32>");
}

TEST_F(Elements, gatherOutsideReadsTheNearestRow) {
  check("%x: tensor<2x4xf32>, %i: tensor<9xi32>", "tensor<9x4xf32>",
        "%one = weir.constant 1 : i32 -> tensor<9xi32>\n"
        "%two = weir.constant 2 : i32 -> tensor<9xi32>\n%a = weir.sub %i, %one : tensor<9xi32>\n"
        "%b = weir.mul %a, %two : tensor<9xi32>\n%r = weir.gather %x, %b : tensor<2x4xf32>, "
        "tensor<9xi32> -> tensor<9x4xf32>\n"
        "return %r : tensor<9x4xf32>");
}

TEST_F(Elements, reductions) {
  for (std::string kind : {"sum", "max", "min"}) {
    check("%x: tensor<2x3x4xf32>", "tensor<3xf32>",
          "%r = weir.reduce " + kind +
              " %x {axes = array<i64: 0, 2>} : tensor<2x3x4xf32> -> tensor<3xf32>\nreturn %r : "
              "tensor<3xf32>");
    check("%x: tensor<2x3xi32>", "tensor<i32>",
          "%r = weir.reduce " + kind +
              " %x {axes = array<i64: 0, 1>} : tensor<2x3xi32> -> tensor<i32>\nreturn %r : "
              "tensor<i32>");
  }
  check("%x: tensor<2x5x3xf32>", "tensor<2x3xi32>",
        "%r = weir.argmax %x {axis = 1 : i64} : tensor<2x5x3xf32> -> tensor<2x3xi32>\nreturn %r : "
        "tensor<2x3xi32>");
  check("%x: tensor<2x5xi32>", "tensor<2xi32>", // with equals
        "%r = weir.argmax %x {axis = 1 : i64} : tensor<2x5xi32> -> tensor<2xi32>\nreturn %r : "
        "tensor<2xi32>");
}

TEST_F(Elements, products) {
  check("%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>", "tensor<2x3x5xf32>",
        "%r = weir.matmul %a, %b : tensor<2x3x4xf32>, tensor<2x4x5xf32> -> "
        "tensor<2x3x5xf32>\nreturn %r : tensor<2x3x5xf32>");
  check("%a: tensor<4x3xf32>, %b: tensor<5x4xf32>", "tensor<3x5xf32>",
        "%r = weir.matmul %a, %b {transpose_lhs, transpose_rhs} : tensor<4x3xf32>, tensor<5x4xf32> "
        "-> tensor<3x5xf32>\nreturn %r : tensor<3x5xf32>");
}

TEST_F(Elements, convolutions) {
  struct {
    std::string strides, padding, image, weight, result;
  } cases[] = {{"1, 1", "0, 0", "2x3x6x5", "4x3x3x2", "2x4x4x4"},
               {"2, 1", "1, 2", "2x3x6x5", "4x3x3x2", "2x4x3x8"},
               {"2, 3", "0, 1", "1x2x8x7", "3x2x3x3", "1x3x3x3"},
               {"3, 3", "3, 3", "1x1x2x2", "1x1x5x5", "1x1x2x2"}};
  for (auto &c : cases) {
    std::string x = "tensor<" + c.image + "xf32>", w = "tensor<" + c.weight + "xf32>",
                y = "tensor<" + c.result + "xf32>";
    std::string attributes =
        " {strides = array<i64: " + c.strides + ">, padding = array<i64: " + c.padding + ">} : ";
    check("%x: " + x + ", %w: " + w, y,
          "%r = weir.convolution %x, %w" + attributes + x + ", " + w + " -> " + y +
              "\nreturn %r : " + y);
    check("%g: " + y + ", %w: " + w, x,
          "%r = weir.convolution_input_grad %g, %w" + attributes + y + ", " + w + " -> " + x +
              "\nreturn %r : " + x);
    check("%x: " + x + ", %g: " + y, w,
          "%r = weir.convolution_weight_grad %x, %g" + attributes + x + ", " + y + " -> " + w +
              "\nreturn %r : " + w);
  }
}

TEST_F(Elements, pools) {
  for (std::string strides : {"1, 1", "2, 2", "3, 1"}) {
    std::string y = strides == "1, 1"   ? "tensor<2x5x4xf32>"
                    : strides == "2, 2" ? "tensor<2x3x2xf32>"
                                        : "tensor<2x2x4xf32>";
    std::string attributes =
        " {window = array<i64: 2, 3>, strides = array<i64: " + strides + ">} : tensor<2x6x6xf32>";
    check("%x: tensor<2x6x6xf32>", y,
          "%r = weir.max_pool %x" + attributes + " -> " + y + "\nreturn %r : " + y);
    check("%x: tensor<2x6x6xf32>, %g: " + y, "tensor<2x6x6xf32>",
          "%r = weir.max_pool_grad %x, %g" + attributes + ", " + y +
              " -> tensor<2x6x6xf32>\nreturn %r : tensor<2x6x6xf32>");
  }
}

const char *normalize =
    "%y, %m, %s = weir.normalize %x {eps = 1.0e-5 : f64} : tensor<3x7xf32> -> tensor<3xf32>\n"
    "return %y, %m, %s : tensor<3x7xf32>, tensor<3xf32>, tensor<3xf32>";
const char *normalizeGrad = "%r = weir.normalize_grad %x, %m, %s, %g : tensor<3x7xf32>, "
                            "tensor<3xf32>\nreturn %r : tensor<3x7xf32>";
const char *crossEntropy =
    "%l, %e = weir.softmax_cross_entropy %x, %i : tensor<4x5xf32>, tensor<4xi32> -> tensor<4xf32>\n"
    "return %l, %e : tensor<4xf32>, tensor<4xf32>";
const char *crossEntropyGrad = "%r = weir.softmax_cross_entropy_grad %x, %i, %e, %g : "
                               "tensor<4x5xf32>, tensor<4xi32>, tensor<4xf32>\n"
                               "return %r : tensor<4x5xf32>";

TEST_F(Elements, composites) {
  check("%x: tensor<3x7xf32>", "tensor<3x7xf32>, tensor<3xf32>, tensor<3xf32>", normalize);
  check("%x: tensor<3x7xf32>, %m: tensor<3xf32>, %s: tensor<3xf32>, %g: tensor<3x7xf32>",
        "tensor<3x7xf32>", normalizeGrad);
  check("%x: tensor<4x5xf32>, %i: tensor<4xi32>", "tensor<4xf32>, tensor<4xf32>", crossEntropy);
  check("%x: tensor<4x5xf32>, %i: tensor<4xi32>, %e: tensor<4xf32>, %g: tensor<4xf32>",
        "tensor<4x5xf32>", crossEntropyGrad);
}

TEST_F(Elements, random) {
  for (std::string distribution : {"uniform", "normal"})
    check("%s: tensor<i32>, %t: tensor<i32>, %r: tensor<i32>", "tensor<5x7xf32>",
          "%x = weir.random " + distribution +
              " seed %s step %t round %r {key = -1234567890123 : i64} : (tensor<i32>, tensor<i32>, "
              "tensor<i32>) -> tensor<5x7xf32>\n"
              "return %x : tensor<5x7xf32>");
}

TEST_F(Elements, decompositions) {
  auto function = [](std::string arguments, std::string results, std::string body) {
    return "func.func @f(" + arguments + ") -> (" + results + ") {\n" + body + "\n}";
  };
  checkDecomposed(
      function("%x: tensor<3x7xf32>", "tensor<3x7xf32>, tensor<3xf32>, tensor<3xf32>", normalize));
  checkDecomposed(
      function("%x: tensor<3x7xf32>, %m: tensor<3xf32>, %s: tensor<3xf32>, %g: tensor<3x7xf32>",
               "tensor<3x7xf32>", normalizeGrad));
  checkDecomposed(function("%x: tensor<4x5xf32>, %i: tensor<4xi32>", "tensor<4xf32>, tensor<4xf32>",
                           crossEntropy));
  checkDecomposed(
      function("%x: tensor<4x5xf32>, %i: tensor<4xi32>, %e: tensor<4xf32>, %g: tensor<4xf32>",
               "tensor<4x5xf32>", crossEntropyGrad));
  for (std::string causal : {"", "causal, "}) {
    checkDecomposed(
        "func.func @f(%q: tensor<2x1x3x4xf32>, %k: tensor<2x1x5x4xf32>, %v: tensor<2x1x5x4xf32>) "
        "-> (tensor<2x1x3x4xf32>, tensor<2x1x3xf32>) {\n"
        "%y, %l = weir.attention %q, %k, %v {" +
        causal +
        "scale = 0.5 : f64} : tensor<2x1x3x4xf32>, tensor<2x1x5x4xf32> -> tensor<2x1x3xf32>\n"
        "return %y, %l : tensor<2x1x3x4xf32>, tensor<2x1x3xf32>\n}");
    checkDecomposed(
        "func.func @f(%q: tensor<2x1x3x4xf32>, %k: tensor<2x1x5x4xf32>, %v: tensor<2x1x5x4xf32>, "
        "%g: tensor<2x1x3x4xf32>)"
        " -> (tensor<2x1x3x4xf32>, tensor<2x1x5x4xf32>, tensor<2x1x5x4xf32>) {\n"
        "%y, %l = weir.attention %q, %k, %v {" +
        causal +
        "scale = 0.5 : f64} : tensor<2x1x3x4xf32>, tensor<2x1x5x4xf32> -> tensor<2x1x3xf32>\n"
        "%a, %b, %c = weir.attention_grad %q, %k, %v, %y, %l, %g {" +
        causal +
        "scale = 0.5 : f64} : tensor<2x1x3x4xf32>, tensor<2x1x5x4xf32>, tensor<2x1x3xf32>\n"
        "return %a, %b, %c : tensor<2x1x3x4xf32>, tensor<2x1x5x4xf32>, tensor<2x1x5x4xf32>\n}");
  }
}

} // namespace
