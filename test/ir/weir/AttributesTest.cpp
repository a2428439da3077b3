//===- AttributesTest.cpp - Malformed attributes of the dialect are refused by name ===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Attributes.h"
#include "ir/weir/WeirDialect.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace weir;

namespace {

/// What is said of a module with an attribute at a place; "" where nothing is.
std::string saidOf(const std::string &attribute, unsigned place) {
  auto at = [&](unsigned one, const char *otherwise = "") {
    return place == one ? "{" + attribute + "}" : std::string(otherwise);
  };
  const std::string onModule =
      place == AttributeRow::module ? "module attributes {" + attribute + "}" : "module";
  const std::string text =
      onModule + " {\n  func.func @f(%x: tensor<4xf32> " + at(AttributeRow::argument) +
      ") -> (tensor<4xf32> " + at(AttributeRow::result) + ") {\n    %y = weir.exp %x " +
      at(AttributeRow::op) + " : tensor<4xf32>\n    return %y : tensor<4xf32>\n  }\n}\n";
  mlir::MLIRContext context;
  context.loadDialect<WeirDialect, mlir::func::FuncDialect>();
  std::string said;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    said += diagnostic.str();
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  EXPECT_EQ(bool(module), said.empty()) << text;
  return said;
}

constexpr unsigned places[] = {AttributeRow::module, AttributeRow::argument, AttributeRow::result,
                               AttributeRow::op};

/// `[[]]` is none of the kinds.
TEST(Attributes, OfAnotherKindAreRefusedByName) {
  EXPECT_GT(attributeRows().size(), 50u);
  for (const AttributeRow &row : attributeRows())
    for (unsigned place : places) {
      std::string said = saidOf(row.name.str() + " = [[]]", place);
      EXPECT_NE(said.find(row.name.str()), std::string::npos) << row.name.str() << ": " << said;
      std::string expected =
          row.places & place ? "expected " + row.expected.str() : std::string("does not belong to");
      EXPECT_NE(said.find(expected), std::string::npos) << row.name.str() << ": " << said;
    }
}

TEST(Attributes, ThatNobodyKnowsAreRefused) {
  for (unsigned place : places)
    EXPECT_EQ(saidOf("weir.nothing", place),
              "weir.nothing is no attribute of the dialect (ir/weir/Attributes.cpp)");
}

/// What is there of each kind, as it may be and as it may not.
TEST(Attributes, ValuesAreChecked) {
  struct Case {
    const char *attribute;
    AttributeRow::Place place;
    bool isRight;
  };
  for (const auto &[attribute, place, isRight] : std::initializer_list<Case>{
           {"weir.rank = 0", AttributeRow::module, true},
           {"weir.rank = -1", AttributeRow::module, false},
           {"weir.equal_shards", AttributeRow::module, true},
           {"weir.equal_shards = 1", AttributeRow::module, false},
           {"weir.batch = 0", AttributeRow::module, false},
           {"weir.loss_scale = \"1000\"", AttributeRow::module, false},
           {"weir.strategy = #weir.strategy<\"zero=1\">", AttributeRow::module, true},
           {"weir.strategy = \"zero=1\"", AttributeRow::module, false},
           {"weir.recompute = [\"h\", 3]", AttributeRow::module, false},
           {"weir.keeping = [1.0, 2, 3, [[1]]]", AttributeRow::module, false},
           {"weir.mesh = #weir.mesh<dp = 2>", AttributeRow::module, true},
           {"weir.part = \"sum\"", AttributeRow::result, true},
           {"weir.part = \"some\"", AttributeRow::result, false},
           {"weir.term = -1", AttributeRow::result, false},
           {"weir.stage = -1", AttributeRow::op, false},
           {"weir.number = 0", AttributeRow::op, false},
           {"weir.factor_sharding = #weir.sharding<[4@dp]>", AttributeRow::op, true},
           {"weir.body_shardings = [#weir.sharding<[4@dp]>]", AttributeRow::op, false},
           {"weir.sum_shardings = [#weir.sharding<[4@dp]>]", AttributeRow::op, false},
           {"weir.result_shardings = [#weir.sharding<[4@dp]>]", AttributeRow::op, true},
           {"weir.result_shardings = [unit]", AttributeRow::op, true},
           {"weir.result_shardings = []", AttributeRow::op, false},
           {"weir.phase = #weir.phase<backward>", AttributeRow::op, true},
           {"weir.result_phases = [#weir.phase<update>]", AttributeRow::op, true},
           {"weir.result_phases = []", AttributeRow::op, false},
           {"weir.ring_sharding = #weir.sharding<[3, 1, 6@cp, 4]>", AttributeRow::op, true},
           {"weir.ring_sharding = #weir.sharding<[3, 1, 6, 4@cp]>", AttributeRow::op, false},
           {"weir.sharding = #weir.sharding<[4@dp]>", AttributeRow::argument, true},
           {"weir.sharding = #weir.sharding<[2, 2]>", AttributeRow::argument, false},
           {"weir.sharding = \"4@dp\"", AttributeRow::argument, false},
       })
    EXPECT_EQ(saidOf(attribute, place).empty(), isRight)
        << attribute << ": " << saidOf(attribute, place);
}

} // namespace
