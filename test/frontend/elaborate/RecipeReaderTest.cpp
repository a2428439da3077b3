//===- RecipeReaderTest.cpp - Recipes, configs and rules before anything runs ===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/RecipeReader.h"
#include "frontend/elaborate/Globals.h"
#include "frontend/elaborate/UpdateRules.h"
#include "test/frontend/elaborate/Parts.h"

namespace weir::elab {
namespace {

class RecipeReaderTest : public Parts {
protected:
  Recipe readRecipe(const std::string &text) {
    read(text);
    ShapeMatcher shapes(*evaluator, *files);
    return RecipeReader(*evaluator, shapes, context).read(*parsed);
  }
};

TEST_F(RecipeReaderTest, CountsInputsAndEntries) {
  Recipe recipe = readRecipe("train {\n  input x: [4, 8]\n  input y: i32[4]\n  accumulate 2\n"
                             "  steps 5 * 2\n  loss 1\n  lr = 0.1\n  update sgd()\n}\n");
  EXPECT_TRUE(messages().empty());
  EXPECT_EQ(recipe.inputs.size(), 2u);
  EXPECT_TRUE(recipe.inputs[1].element.isInteger(32));
  EXPECT_EQ(recipe.batch, 4);
  EXPECT_EQ(recipe.accumulate, 2);
  EXPECT_EQ(recipe.steps, 10);
  EXPECT_EQ(recipe.epochs, 0);
  EXPECT_TRUE(recipe.loss);
  EXPECT_TRUE(recipe.learningRate);
  EXPECT_FALSE(recipe.clip);
  EXPECT_EQ(recipe.updates.size(), 1u);
}

TEST_F(RecipeReaderTest, AModelWithoutARecipeIsReported) {
  EXPECT_FALSE(readRecipe("fn f() {\n}\n").item);
  EXPECT_EQ(messages(),
            Messages{"the model has no `train { … }`: nothing says what it learns from"});
}

TEST_F(RecipeReaderTest, MissingEntriesAreReported) {
  readRecipe("train {\n}\n");
  EXPECT_EQ(messages(), (Messages{"the recipe has no `input`", "the recipe has no `loss`",
                                  "the recipe has no `update`: nothing would be learnt",
                                  "the recipe has neither `steps` nor `epochs`"}));
}

TEST_F(RecipeReaderTest, CountsOutOfTheirRangeAreReported) {
  Recipe recipe = readRecipe("train {\n  input x: [4]\n  accumulate 65537\n  steps 0\n  steps 3\n"
                             "  loss 1\n  update sgd()\n}\n");
  EXPECT_EQ(messages(),
            (Messages{"`accumulate` is at most 65536, but is 65537",
                      "`steps` must be at least 1, but is 0", "the recipe has `steps` twice"}));
  EXPECT_EQ(recipe.accumulate, 1);
  EXPECT_EQ(recipe.steps, 1);
}

TEST_F(RecipeReaderTest, InputsShareTheBatch) {
  readRecipe("train {\n  input x: [4, 8]\n  input y: [5]\n  input y: []\n  epochs 1\n  loss 1\n"
             "  update sgd()\n}\n");
  EXPECT_EQ(
      messages(),
      (Messages{"the first dimension of every input is the batch: 4 for `x`, but 5 for `y`",
                "two inputs are called `y`",
                "an input is a tensor of f32, i32 or u8 whose first dimension is the batch"}));
}

//===----------------------------------------------------------------------===//
// Configs
//===----------------------------------------------------------------------===//

class GlobalsTest : public Parts {
protected:
  bool evaluate(const std::string &text, const std::map<std::string, std::string> &sets = {}) {
    read(text);
    globals.emplace(*evaluator, files->model);
    return globals->evaluate(sets);
  }
  Value value(const std::string &name) { return files->model.globals.names.at(name).value; }

  std::optional<Globals> globals;
};

TEST_F(GlobalsTest, SetsReplaceConfigs) {
  EXPECT_TRUE(evaluate("config width = 8, rate = 0.1\nconst twice = 2 * width\n",
                       {{"width", "16"}, {"rate", "1e-3"}}));
  EXPECT_EQ(*value("width").get<int64_t>(), 16);
  EXPECT_EQ(*value("twice").get<int64_t>(), 32);
  EXPECT_EQ(globals->configTexts.at("width"), "16");
  EXPECT_EQ(globals->configTexts.at("rate"), "0.001");
}

TEST_F(GlobalsTest, ASetOfAnotherKindIsTheOptionsMistake) {
  EXPECT_TRUE(evaluate("config width = 8\n", {{"width", "4.5"}}));
  EXPECT_EQ(messages(), Messages{"--set width=4.5: `width` wants an int; the model's value is the "
                                 "int 8"});
  EXPECT_EQ(reporter->wrong, ElaborateResult::Wrong::options);
}

TEST_F(GlobalsTest, AnUnknownConfigStops) {
  EXPECT_FALSE(evaluate("config width = 8\n", {{"widht", "4"}}));
  EXPECT_EQ(diagnostics.sorted().front()->suggestion, "width");
  EXPECT_EQ(reporter->wrong, ElaborateResult::Wrong::options);
}

TEST_F(GlobalsTest, RequirementsAndNamesAreChecked) {
  EXPECT_FALSE(evaluate("config width = 8\nconst width = 9\nrequire width < 9, \"too wide\"\n"));
  EXPECT_EQ(messages(), (Messages{"`width` is declared twice",
                                  "the model requires `width < 9`: too wide, where `width` is 9"}));
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

TEST_F(RecipeReaderTest, TheFirstRuleThatMatchesTakesAParameter) {
  Recipe recipe = readRecipe(
      "optimizer sgd(p, g, lr = 0.1) {\n  next p = p\n}\noptimizer frozen(p, g) {\n}\n"
      "train {\n  input x: [4]\n  steps 1\n  loss 1\n  update sgd(lr = 2.0) where rank >= 2\n"
      "  update sgd() where name == \"none\"\n  update frozen()\n}\n");
  ASSERT_TRUE(messages().empty());
  Variables variables;
  auto add = [&](const std::string &path, const std::vector<int64_t> &shape) {
    Tensor made = tensor(shape);
    return variables.add(Variable{{path, path},
                                  Role::parameter,
                                  tensorType(made.value),
                                  made.dims,
                                  {},
                                  {},
                                  mlir::UnknownLoc::get(&context),
                                  {}});
  };
  Variable *weight = add("weight", {3, 4});
  add("bias", {4});
  EXPECT_EQ(variables.find("weight"), weight);
  EXPECT_EQ(variables.find("other"), nullptr);
  UpdateRules rules(*evaluator, *files, recipe, variables);
  std::vector<Trained> trained = rules.trainedParameters();
  ASSERT_EQ(trained.size(), 1u); // the other one's optimizer changes nothing
  EXPECT_EQ(trained[0].parameter, weight);
  EXPECT_EQ(trained[0].rule, recipe.updates[0]);
  EXPECT_EQ(rules.unused(), std::vector<const ast::UpdateEntry *>{recipe.updates[1]});
  UpdateRule rule = rules.resolve(*recipe.updates[0]);
  EXPECT_EQ(rule.optimizer, &callable("sgd"));
  ASSERT_TRUE(rule.learningRate);
  EXPECT_EQ(rule.learningRate->value.number(), 2);
}

} // namespace
} // namespace weir::elab
