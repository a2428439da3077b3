//===- ShapeMatcherTest.cpp - Dimension variables, and shapes against types ===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/ShapeMatcher.h"
#include "test/frontend/elaborate/Parts.h"

namespace weir::elab {
namespace {

class ShapeMatcherTest : public Parts {
protected:
  /// Begins a call of the callable `f` of a file.
  void begin(const std::string &text) {
    read(text);
    shapes.emplace(*evaluator, *files);
    enter(frame, scope, callable("f"));
    shapes->collectDimensions(callable("f"));
  }
  const ast::TensorType &parameterType(size_t i) {
    return llvm::cast<ast::TensorType>(*callable("f").parameters[i].type);
  }
  bool match(size_t i, Tensor &tensor, bool binds = true) {
    return shapes->match(parameterType(i), tensor,
                         {callable("f").range, "the value", "the argument", binds});
  }
  int64_t bound(const std::string &name) {
    const Binding *binding = scope.find(name);
    return binding ? *binding->value.get<int64_t>() : -1;
  }

  Frame frame;
  Scope scope;
  std::optional<ShapeMatcher> shapes;
};

TEST_F(ShapeMatcherTest, NamesThatAreNothingElseAreDimensions) {
  begin("fn f(x: [b, 2 * n], n: int) -> [b, m] {\n}\n");
  EXPECT_EQ(frame.dimensions, (std::set<std::string>{"b", "m"}));
}

TEST_F(ShapeMatcherTest, ANameIsBoundAndThenCompared) {
  begin("fn f(x: [b, w], y: [w, 2 * b]) {\n}\n");
  Tensor x = tensor({3, 5}), y = tensor({5, 6}), other = tensor({5, 7});
  EXPECT_TRUE(match(0, x));
  EXPECT_EQ(bound("b"), 3);
  EXPECT_EQ(bound("w"), 5);
  EXPECT_EQ(describe(x.dims), "[b = 3, w = 5]");
  EXPECT_EQ(x.dims[0].boundBy, "the argument");
  EXPECT_TRUE(match(1, y));
  EXPECT_EQ(describe(y.dims), "[w = 5, 6]");
  EXPECT_TRUE(messages().empty());
  EXPECT_FALSE(match(1, other));
  EXPECT_EQ(messages(), Messages{"the value: `2 * b` is 6 but 7 here, declared `[w, 2 * b]`, "
                                 "found f32[w = 5, 7]"});
}

TEST_F(ShapeMatcherTest, PlainNamesAreBoundBeforeExpressions) {
  begin("fn f(x: [2 * w, w]) {\n}\n");
  Tensor x = tensor({6, 3});
  EXPECT_TRUE(match(0, x));
  EXPECT_EQ(bound("w"), 3);
}

TEST_F(ShapeMatcherTest, AnEllipsisIsBoundAndThenCompared) {
  begin("fn f(x: [.., w], y: [..]) {\n}\n");
  Tensor x = tensor({2, 3, 4}), y = tensor({2, 3}), other = tensor({2, 4});
  EXPECT_TRUE(match(0, x));
  EXPECT_EQ(bound("w"), 4);
  EXPECT_TRUE(match(1, y));
  EXPECT_FALSE(match(1, other));
  EXPECT_EQ(messages(), Messages{"the value: `..` is [2, 3] but [2, 4] here, declared `[..]`, "
                                 "found f32[2, 4]"});
}

TEST_F(ShapeMatcherTest, RankAndElementTypeAreReported) {
  begin("fn f(x: [b, w], y: [b, .., w], z: i32[b]) {\n}\n");
  Tensor x = tensor({3}), y = tensor({3}), z = tensor({3});
  EXPECT_FALSE(match(0, x));
  EXPECT_FALSE(match(1, y));
  EXPECT_FALSE(match(2, z));
  Messages all = messages();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0], "the value has the wrong rank: 2 dimensions wanted, declared `[b, w]`, found "
                    "f32[3]");
  EXPECT_EQ(all[1], "the value has the wrong rank: at least 2 dimensions wanted, declared "
                    "`[b, .., w]`, found f32[3]");
  EXPECT_EQ(all[2], "the value has the wrong element type, declared `i32[b]`, found f32[3]");
}

TEST_F(ShapeMatcherTest, WhatNothingBindsIsReportedOnce) {
  begin("fn f(x: [b]) {\n}\n");
  Tensor x = tensor({3});
  EXPECT_FALSE(match(0, x, /*binds=*/false));
  EXPECT_FALSE(match(0, x, /*binds=*/false));
  EXPECT_EQ(messages(), Messages{"no argument says what the dimension `b` is"});
}

TEST_F(ShapeMatcherTest, DimensionsOfTypesAreEvaluated) {
  begin("fn f(x: [4, w], y: [w - 3]) {\n}\n");
  scope.names["w"] = Binding{int64_t(3), {}, {}, {}, true};
  auto dims = shapes->evaluateDims(parameterType(0));
  ASSERT_TRUE(dims);
  EXPECT_EQ(describe(*dims), "[4, w = 3]");
  EXPECT_FALSE(shapes->evaluateDims(parameterType(1)));
  EXPECT_EQ(messages(), Messages{"a dimension must be positive, but this is 0"});
}

TEST_F(ShapeMatcherTest, AResultHasTheCallersNames) {
  begin("fn f(x: [b, w]) -> [b, w] {\n}\n");
  Tensor x = tensor({3, 5});
  x.dims[0].name = "rows";
  ASSERT_TRUE(match(0, x));
  EXPECT_EQ(describe(x.dims), "[b = 3, w = 5]");
  Value result = x;
  shapes->restoreNames(result);
  EXPECT_EQ(describe(result.get<Tensor>()->dims), "[rows = 3, 5]");
}

TEST_F(ShapeMatcherTest, ADimensionThatNoCallBindsIsAMistake) {
  read("fn f(x: [2 * wide]) {\n}\nfn g(x: [batch], y: [batch, bacth]) {\n}\n");
  ShapeMatcher matcher(*evaluator, *files);
  Frame inner;
  enter(inner, scope, callable("f"));
  matcher.checkDimensionNames(callable("f"));
  matcher.checkDimensionNames(callable("g"));
  EXPECT_EQ(messages(), (Messages{"no argument says what the dimension `wide` is",
                                  "unknown dimension `bacth`, used only once"}));
}

} // namespace
} // namespace weir::elab
