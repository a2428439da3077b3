//===- BatchRowsTest.cpp - What ties the rows of a batch ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluations and predictions of one row against those of a batch, on the reference interpreter:
// where ir/weir/interfaces/BatchRows.h calls the rows independent, sums over the rows are the
// batch's sums and the rows' results are the batch's rows. Where it does not, it says where and
// why.
//
//===----------------------------------------------------------------------===//

#include "frontend/Parser.h"
#include "frontend/elaborate/Elaborate.h"
#include "ir/reference/Interpreter.h"
#include "ir/weir/program/Variable.h"

#include <gtest/gtest.h>
#include <random>

namespace weir {
namespace {

class BatchRows : public testing::Test {
protected:
  BatchRows() {
    registerReferenceInterpreter(registry);
    context.appendDialectRegistry(registry);
  }

  /// A recipe over x: [batch, 4], labels: i32[batch] and tokens: i32[batch, 3].
  void load(const std::string &items, const std::string &recipe, int batch = 6) {
    std::string text = "config batch = " + std::to_string(batch) + "\n" + items +
                       "\ntrain {\n  input x: [batch, 4]\n  input labels: i32[batch]\n"
                       "  input tokens: i32[batch, 3]\n  steps 10\n" +
                       recipe + "\n  update sgd(lr = 0.1)\n}\n";
    Diagnostics diagnostics;
    auto model = parse(sources.add("test.weir", text), diagnostics);
    if (!diagnostics.hasErrors())
      module = elaborate(*model, {}, sources, context, diagnostics).module;
    ASSERT_FALSE(diagnostics.hasErrors()) << diagnostics.render() << text;
    ASSERT_TRUE(module);
  }

  mlir::func::FuncOp entry(const char *name) {
    return module->lookupSymbol<mlir::func::FuncOp>(name);
  }

  /// Why an entry's rows are tied; "" where they are not.
  std::string tied(const char *name) {
    auto all = (*module)->getAttrOfType<mlir::DictionaryAttr>("weir.tied");
    auto why = all ? all.getAs<mlir::StringAttr>(name) : mlir::StringAttr();
    return why ? why.str() : "";
  }

  Tensors random(mlir::func::FuncOp function) {
    std::mt19937 generator(3);
    Tensors inputs;
    for (mlir::Value argument : function.getArguments()) {
      inputs.emplace_back(shapeOf(argument));
      bool isFloat = tensorType(argument).getElementType().isF32();
      for (double &value : inputs.back().values)
        value = isFloat ? double(generator() % 1000) / 500 - 1 : double(generator() % 4);
    }
    return inputs;
  }

  Tensors run(mlir::func::FuncOp function, llvm::ArrayRef<Tensor> inputs,
              std::function<void(llvm::ArrayRef<Tensor>)> see = nullptr) {
    Interpreter interpreter;
    if (see)
      interpreter.observe = [&](mlir::Operation *, llvm::ArrayRef<Tensor> results) {
        see(results);
      };
    module->walk([&](VariableOp variable) {
      Tensor &value = interpreter.variables[variable.getName().str()];
      value = Tensor(llvm::cast<mlir::RankedTensorType>(variable.getType()).getShape());
      for (auto [i, element] : llvm::enumerate(value.values))
        element = std::sin(double(i) + 1);
    });
    for (const char *scalar : {"run/seed", "run/step", "run/total_steps"})
      interpreter.variables[scalar].values[0] = 7;
    auto outputs = interpreter.run(function, inputs);
    EXPECT_TRUE(mlir::succeeded(outputs));
    return mlir::succeeded(outputs) ? *outputs : Tensors();
  }

  /// eval_one's figures over all rows are eval's over the batch.
  void rowsAddUp() {
    ASSERT_EQ(tied("eval"), "");
    ASSERT_TRUE(entry("eval_one"));
    EXPECT_EQ(shapeOf(entry("eval_one").getArgument(0))[0], 1);
    Tensors inputs = random(entry("eval")), whole = run(entry("eval"), inputs), sum;
    for (int64_t row = 0; row < 6; ++row) {
      Tensors one;
      for (const Tensor &input : inputs)
        one.push_back(input.part(row, 6));
      Tensors outputs = run(entry("eval_one"), one);
      if (sum.empty())
        sum = Tensors(outputs.size(), Tensor(Shape{}));
      for (auto [total, output] : llvm::zip_equal(sum, outputs))
        total.values[0] += output.values[0];
    }
    ASSERT_EQ(whole.size(), sum.size());
    for (auto [a, b] : llvm::zip_equal(whole, sum))
      // A sixth of a constant is an f32.
      EXPECT_NEAR(a.values[0], b.values[0], 1e-7 * (1 + std::abs(a.values[0])));
  }

  /// What predict makes of each row of the inputs, joined, is something that eval computes of the
  /// batch.
  void predictsRows(const Tensors &inputs) {
    ASSERT_EQ(tied("predict"), "");
    Tensors joined;
    for (int64_t row = 0; row < 6; ++row) {
      Tensors one;
      for (const Tensor &input : inputs)
        one.push_back(input.part(row, 6));
      Tensors outputs = run(entry("predict"), one);
      if (joined.empty())
        for (const Tensor &output : outputs) {
          Shape shape = output.shape;
          shape[0] *= 6;
          joined.emplace_back(shape).values.clear();
        }
      for (auto [all, output] : llvm::zip_equal(joined, outputs))
        all.values.insert(all.values.end(), output.values.begin(), output.values.end());
    }
    ASSERT_FALSE(joined.empty());
    std::vector<bool> found(joined.size());
    run(entry("eval"), random(entry("eval")), [&](llvm::ArrayRef<Tensor> results) {
      for (const Tensor &result : results)
        for (auto [i, predicted] : llvm::enumerate(joined))
          if (result.shape == predicted.shape &&
              llvm::all_of(llvm::zip_equal(result.values, predicted.values), [](auto pair) {
                return std::abs(std::get<0>(pair) - std::get<1>(pair)) < 1e-9;
              }))
            found[i] = true;
    });
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_TRUE(found[i]) << "result " << i;
  }

  mlir::DialectRegistry registry;
  mlir::MLIRContext context;
  SourceManager sources;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

constexpr const char *linearModel = "model m(x: [b, 4]) -> [b, 5] { return linear(x, 5) }";

TEST_F(BatchRows, LossesAndMetricsOfEachRow) {
  load(linearModel, "  y = m(x)\n  loss cross_entropy(y, labels) + 0.5 * mse(y, 2 * y + 1)\n"
                    "  metric accuracy = accuracy(y, labels)");
  rowsAddUp();
}

TEST_F(BatchRows, CountsThatDependOnTheData) {
  load(linearModel, "  mask = f32(labels != 0)\n"
                    "  loss ratio(sum(softmax_cross_entropy(m(x), labels) * mask), sum(mask))");
  rowsAddUp();
}

TEST_F(BatchRows, AMeanOverTheBatchIsAPartOfItForEachRow) {
  load(linearModel, "  loss ratio(mean(softmax_cross_entropy(m(x), labels)), 1)\n"
                    "  metric halved = ratio(sum(abs(x)) / batch - 3, 2 * batch)");
  rowsAddUp();
}

TEST_F(BatchRows, WhatAllRowsShareCountsForItsPart) {
  load("model m(x: [b, 4]) -> ([b, 4], []) {\n  param w: [4] = ones()\n"
       "  return x * w, sum(w * w)\n}",
       "  y, size = m(x)\n  loss ratio(sum(y) + 0.1 * size, batch) + 0.01 * ratio(size, 1)");
  rowsAddUp();
}

TEST_F(BatchRows, LayoutsThatMoveTheRows) {
  load("model m(t: i32[b, 3]) -> [3, b, 2] {\n  param e: [4, 2] = ones()\n"
       "  return transpose(e[t], [1, 0, 2])\n}",
       "  y = m(tokens)\n"
       "  flat = merge_dims(y, 0, 2)\n" // [3 * batch, 2]: the rows inside
       "  again = split_dim(flat, 0, [3, 6])\n"
       "  pairs = split_dim(merge_dims(transpose(again, [1, 0, 2]), 0, 2), 0, [6, 3])\n"
       "  loss ratio(sum(flat * flat) + sum(pairs[:, :2]), size(flat))");
  rowsAddUp();
}

TEST_F(BatchRows, AttentionConvolutionAndSharedTables) {
  load(
      "model m(t: i32[b, 3]) -> [b, 3, 4] {\n  param e: [4, 4] = ones(); param p: [3, 4] = ones()\n"
      "  x = e[t] + p\n  h = to_heads(x, 2)\n"
      "  return layer_norm(x + from_heads(attention(h, h, h, causal = true)))\n}",
      "  y = m(tokens)\n  late = f32(position(y, 1))\n"
      "  loss ratio(sum(y * late), sum(late * zeros_like(y) + 1))");
  rowsAddUp();
}

TEST_F(BatchRows, AHardCodedBatchIsNoHindrance) {
  load(linearModel,
       "  y = split_dim(merge_dims(m(x), 0, 2), 0, [6, 5])\n  loss cross_entropy(y, labels)");
  rowsAddUp();
}

TEST_F(BatchRows, RunningStatisticsAreSharedByTheRows) {
  load("model m(x: [b, 4]) -> [b, 4] {\n"
       "  y = batch_norm(split_dim(x, 1, [2, 2, 1]))\n  return merge_dims(y, 1, 3)\n}",
       "  loss mse(m(x), x)");
  rowsAddUp();
}

TEST_F(BatchRows, WhatNoFigureDependsOnTiesNothing) {
  load(linearModel, "  unused = sum(max_over(x, [0]))\n  loss cross_entropy(m(x), labels)");
  rowsAddUp();
}

TEST_F(BatchRows, PredictionsOfOneRowAreTheBatchsRows) {
  // The loss ties the rows; the model does not.
  load("model m(x: [b, 4], start: [b, 2]) -> ([b, 3], [b, 2]) {\n"
       "  return linear(concat([x, start], -1), 3), start\n}",
       "  a, _ = m(x, zeros_like(x[:, :2]))\n  loss cross_entropy(a @ transpose(a), labels)");
  EXPECT_EQ(tied("eval"), "test.weir:11:22: rows are combined with other rows");
  EXPECT_FALSE(entry("eval_one"));
  mlir::func::FuncOp predict = entry("predict");
  ASSERT_TRUE(predict);
  auto matrix = [&](int64_t columns) -> mlir::Type {
    return mlir::RankedTensorType::get({1, columns}, mlir::Float32Type::get(&context));
  };
  EXPECT_EQ(predict.getArgumentTypes(), llvm::ArrayRef({matrix(4), matrix(2)}));
  EXPECT_EQ(predict.getResultTypes(), llvm::ArrayRef({matrix(3), matrix(2)}));
  predictsRows({random(entry("eval"))[0], Tensor(Shape{6, 2})});
}

TEST_F(BatchRows, SeveralResultsOfEachRow) {
  load("model m(t: i32[b, 3]) -> [b * 3, 2] {\n  param e: [4, 2] = ones()\n"
       "  return merge_dims(e[t], 0, 2)\n}",
       "  loss ratio(sum(m(tokens)), 1)");
  predictsRows({random(entry("eval"))[2]});
  EXPECT_EQ(shapeOf(entry("predict").getArgument(0)), llvm::ArrayRef<int64_t>({1, 3}));
}

/// Recipes whose rows are tied, where and why.
TEST_F(BatchRows, TiedRowsAreNamed) {
  struct Case {
    const char *loss, *why;
  };
  for (const Case &one : {
           Case{"cross_entropy(y @ transpose(y), labels)", "22: rows are combined with other rows"},
           Case{"ratio(sum(y * max_over(y, [0])), 1)", "22: a maximum over the rows is taken"},
           Case{"ratio(sum(y * min_over(y, [0])), 1)", "22: a minimum over the rows is taken"},
           Case{"ratio(sum(y * mean(y, [0])), 1)",
                "18: a sum over the rows is combined with single rows"},
           Case{"ratio(sum(sum(y, [0]) ^ 2.0), 1)",
                "18: a sum over the rows is used other than in sums and multiples"},
           Case{"ratio(sum(y[1:]), 1)", "20: some of the rows are picked out"},
           Case{"ratio(sum(y[labels]), 1)", "18: rows are picked by an index"},
           Case{"ratio(sum(concat([y, concat([y, y], 0)], 0)), 1)",
                "18: rows are joined with others"},
           Case{"ratio(sum(split_dim(y, 0, [2, 3])), 1)", "18: the rows are split into groups"},
           Case{"ratio(sum(y * f32(position(y, 0))), 1)",
                "18: rows are combined with values that depend on the position in the batch"},
           Case{"ratio(sum(y), max(sum(f32(labels)), 1))",
                "22: a sum over the rows is used other than in sums and multiples"},
           Case{"ratio(sum(y * random_normal(y)), 1)", "18: random numbers are drawn for each row"},
           Case{"ratio(sum(y + random_uniform(y)), 1)",
                "18: random numbers are drawn for each row"},
           Case{"ratio(f32(argmax(sum(y, [1]), 0)), 1)", "18: `argmax` takes all rows together"},
       }) {
    load(linearModel, "  y = m(x)\n  loss " + std::string(one.loss));
    EXPECT_EQ(tied("eval"), "test.weir:9:" + std::string(one.why)) << one.loss;
    EXPECT_FALSE(entry("eval_one")) << one.loss;
    EXPECT_TRUE(entry("eval")) << one.loss;
  }
}

TEST_F(BatchRows, RowsThatStandBehindAsManyOthersAreNotTied) {
  load(linearModel, "  y = m(x)\n  loss ratio(sum(concat([y, y * y], 0)), 1)");
  EXPECT_EQ(tied("eval"), "");
  EXPECT_TRUE(entry("eval_one"));
}

TEST_F(BatchRows, RowsThatAreJoinedAndPartedAgain) {
  for (const char *parts : {"p, q = split(both, 2, axis = 0)", "p = both[:b]\n  q = both[b:]"}) {
    load("model m(x: [b, 4], y: [b, 4]) -> [b] {\n"
         "  both = linear(concat([x, y], axis = 0), 3)\n  " +
             std::string(parts) + "\n  return sum(p * p * q, axes = [1])\n}",
         "  loss ratio(sum(m(x, 2 * x)), batch)");
    rowsAddUp();
  }
}

TEST_F(BatchRows, OneDrawForAllRowsTiesNothing) {
  load(linearModel, "  y = m(x)\n  loss ratio(sum(y * random_uniform(zeros_like(y[0]))), 1)");
  rowsAddUp();
}

TEST_F(BatchRows, AModelThatTiesThemPredictsBatches) {
  struct Case {
    const char *result, *why;
  };
  for (const Case &one : {
           Case{"x * w / sum(x, [0])", "a sum over the rows is combined with single rows"},
           Case{"transpose(softmax(transpose(x)))", "a maximum over the rows is taken"},
           Case{"x * w + max_over(x, [0])", "a maximum over the rows is taken"},
           Case{"x @ transpose(x) @ x", "rows are combined with other rows"},
           Case{"x + random_normal(x)", "random numbers are drawn for each row"},
           Case{"random_normal(x)", "random numbers are drawn for each row"},
       }) {
    load("model m(x: [b, 4]) -> [b, 4] {\n  param w: [4] = ones()\n  return " +
             std::string(one.result) + "\n}",
         "  loss mse(m(x), x)");
    EXPECT_TRUE(llvm::StringRef(tied("predict")).ends_with(std::string(": ") + one.why))
        << tied("predict");
    ASSERT_TRUE(entry("predict")) << one.result;
    EXPECT_EQ(shapeOf(entry("predict").getArgument(0)), llvm::ArrayRef<int64_t>({6, 4}));
  }
}

// Of numbers that are no row's a prediction would say that they are.
TEST_F(BatchRows, AModelWhoseResultsDoNotBeginWithTheRowsPredictsNothing) {
  struct Case {
    const char *shape, *result;
  };
  for (const Case &one : {
           Case{"[4, b]", "transpose(x * w)"},
           Case{"[4]", "max_over(x * w, [0])"},
           Case{"[b]", "max_over(split_dim(merge_dims(x, 0, 2), 0, [4, b]), [0])"},
           Case{"[6]", "max_over(concat([x, x[:, :2]], 1) * 2, [0])"},
           Case{"[12]", "max_over(concat([x, x, x], 1) * 2, [0])"},
           Case{"[b, 4]", "concat([x[1:], x[:1]], 0) * w"},
       }) {
    load("model m(x: [b, 4]) -> " + std::string(one.shape) +
             " {\n  param w: [4] = ones()\n  return " + one.result + "\n}",
         "  loss ratio(sum(m(x)), 1)");
    EXPECT_FALSE(entry("predict")) << one.result;
    EXPECT_EQ(tied("predict"), "test.weir:2:7: a result does not begin with a dimension of rows")
        << one.result;
  }
  load("model m(x: [b, 4]) -> [4, b] {\n  param w: [4] = ones()\n  return transpose(x * w)\n}",
       "  loss mse(m(x), transpose(x))");
  EXPECT_EQ(tied("eval"), "");
}

TEST_F(BatchRows, AModelThatIsNotGivenRowsPredictsNothing) {
  struct Case {
    const char *parameters, *call, *why;
  };
  for (const Case &one : {
           Case{"x: [4, b]", "m(transpose(x))", "x"},
           Case{"x: [b, 4], t", "m(x, zeros_like(x[0, :3]))", "t"},
           Case{"x: [b, 4], t", "m(x, zeros_like(merge_dims(x[:3], 0, 2)))", "t"},
           Case{"x: [b, 4], t", "m(x, sum(x, [0]))", "t"},
           Case{"x", "m(merge_dims(x, 0, 2))", "x"},
           Case{"x: [b, 4], t", "m(x, x[0])", "t"},
           Case{"xs", "m([x, transpose(x)])", "xs.1"},
       }) {
    std::string name =
        llvm::StringRef(one.parameters).take_until([](char c) { return c == ':'; }).str();
    load("model m(" + std::string(one.parameters) + ") {\n  param w: [1] = ones()\n  return " +
             (name == "xs" ? "xs[0]" : "x") + " * w\n}",
         "  loss ratio(sum(" + std::string(one.call) + "), 1)");
    EXPECT_FALSE(entry("predict")) << one.call;
    EXPECT_EQ(tied("predict"), "test.weir:11:18: the model's `" + std::string(one.why) +
                                   "` does not begin with a dimension of rows")
        << one.call;
  }
}

// What ties the rows before the model is called is none of its own doing.
TEST_F(BatchRows, AModelOfRowsThatWereTiedPredictsRows) {
  load(linearModel, "  loss cross_entropy(m(x - mean(x, [0])), labels)");
  EXPECT_FALSE(entry("eval_one"));
  EXPECT_EQ(tied("predict"), "");
  ASSERT_TRUE(entry("predict"));
  EXPECT_EQ(shapeOf(entry("predict").getArgument(0)), llvm::ArrayRef<int64_t>({1, 4}));
}

TEST_F(BatchRows, OneRowIsNotTiedButHasItsPlace) {
  load("model m(x: [4, b]) -> [4, b] {\n  param w: [4] = ones()\n  return x + sum(w)\n}",
       "  loss mse(m(transpose(x)), transpose(x))", 1);
  EXPECT_FALSE(entry("predict"));
  load(linearModel, "  loss cross_entropy(m(x), labels)", 1);
  EXPECT_TRUE(entry("predict"));
}

} // namespace
} // namespace weir
