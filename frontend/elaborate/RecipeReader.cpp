//===- RecipeReader.cpp - The recipe before anything runs -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/RecipeReader.h"

#include "support/program/Limits.h"

namespace weir::elab {

Recipe RecipeReader::read(const ast::Module &model) {
  recipe = Recipe();
  seen.clear();
  findItem(model);
  if (!recipe.item)
    return recipe;
  for (const auto &node : recipe.item->entries) {
    if (const auto *input = llvm::dyn_cast<ast::InputEntry>(node.get()))
      recipe.inputs.push_back(readInput(*input));
    else if (const auto *update = llvm::dyn_cast<ast::UpdateEntry>(node.get()))
      recipe.updates.push_back(update);
    else if (const auto *entry = llvm::dyn_cast<ast::ValueEntry>(node.get());
             entry && isFirst(*entry))
      readValue(*entry);
  }
  requireEntries();
  checkInputs();
  return recipe;
}

void RecipeReader::findItem(const ast::Module &model) {
  for (const ast::ItemPtr &item : model.items)
    if (const auto *train = llvm::dyn_cast<ast::TrainItem>(item.get())) {
      if (recipe.item)
        reporter.error(train->keyword, "a model has one `train`")
            .note(recipe.item->keyword, "the other one");
      else
        recipe.item = train;
    }
  if (!recipe.item)
    reporter
        .error({model.file, 0, 0},
               "the model has no `train { … }`: nothing says what it learns from")
        .help("add a recipe: train { input … steps … loss … update … }");
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

Recipe::Input RecipeReader::readInput(const ast::InputEntry &entry) {
  Recipe::Input input{&entry, nullptr, {}};
  const auto *type = llvm::dyn_cast<ast::TensorType>(entry.type.get());
  if (!type || type->element == Element::b8 || isLow(type->element) || type->dims.empty()) {
    reporter.error(entry.type->range,
                   "an input is a tensor of f32, i32 or u8 whose first dimension is the batch");
    return input;
  }
  auto dims = shapes.evaluateDims(*type);
  if (!dims)
    return input;
  input.element = typeOf(&context, type->element);
  input.dims = *dims;
  return input;
}

bool RecipeReader::isFirst(const ast::ValueEntry &entry) {
  auto [place, isNew] = seen.try_emplace(entry.kind(), entry.keyword);
  if (!isNew)
    reporter
        .error(entry.keyword, "the recipe has `" + std::string(entry.keyword.text()) + "` twice")
        .note(place->second, "first here");
  return isNew;
}

void RecipeReader::readValue(const ast::ValueEntry &entry) {
  switch (entry.kind()) {
  case ast::Kind::loss:
    recipe.loss = &entry;
    break;
  case ast::Kind::clip:
    recipe.clip = &entry;
    break;
  case ast::Kind::learningRate:
    recipe.learningRate = &entry;
    break;
  case ast::Kind::accumulate:
    recipe.accumulate = readCount(entry, limits::rounds);
    break;
  case ast::Kind::steps:
    recipe.steps = readCount(entry, INT32_MAX);
    break;
  default:
    recipe.epochs = readCount(entry, INT32_MAX);
    break;
  }
}

/// From 1 to `most`; 1 where it is anything else, which is reported.
int64_t RecipeReader::readCount(const ast::ValueEntry &entry, int64_t most) {
  std::string what = "`" + std::string(entry.keyword.text()) + "`";
  int64_t count = evaluator.evaluateInt(*entry.value, what).value_or(1);
  if (count >= 1 && count <= most)
    return count;
  std::string bound = count < 1 ? " must be at least 1" : " is at most " + std::to_string(most);
  reporter.error(entry.value->range, what + bound + ", but is " + std::to_string(count));
  return 1;
}

//===----------------------------------------------------------------------===//
// The recipe as a whole
//===----------------------------------------------------------------------===//

void RecipeReader::requireEntries() {
  Range keyword = recipe.item->keyword;
  if (recipe.inputs.empty())
    reporter.error(keyword, "the recipe has no `input`");
  if (!recipe.loss)
    reporter.error(keyword, "the recipe has no `loss`");
  if (recipe.updates.empty())
    reporter.error(keyword, "the recipe has no `update`: nothing would be learnt")
        .help("for example `update adamw(lr = 1e-3)`; `update frozen()` keeps all as it is, for a "
              "model that only predicts");
  if (!recipe.steps && !recipe.epochs)
    reporter.error(keyword, "the recipe has neither `steps` nor `epochs`");
  if (recipe.steps && recipe.epochs)
    reporter.error(seen[ast::Kind::epochs], "the recipe has both `steps` and `epochs`")
        .note(seen[ast::Kind::steps], "`steps` here");
}

/// Inputs have names of their own and one batch, which is the recipe's.
void RecipeReader::checkInputs() {
  const Recipe::Input *first = nullptr;
  std::map<std::string, Range> names;
  for (const Recipe::Input &input : recipe.inputs) {
    const ast::Identifier &name = input.entry->name;
    auto [place, isNew] = names.try_emplace(name.text, name.range);
    if (!isNew)
      reporter.error(name.range, "two inputs are called `" + name.text + "`")
          .note(place->second, "the other one");
    if (input.dims.empty())
      continue;
    if (!fits(input.dims, recipe.accumulate))
      reporter.error(input.entry->type->range,
                     "the input of one step, " + std::to_string(recipe.accumulate) +
                         " microbatches of " + describe(input.dims) + "," + tooLarge);
    if (!first) {
      first = &input;
      recipe.batch = input.dims[0].size;
    } else if (input.dims[0].size != recipe.batch) {
      const ast::Identifier &other = first->entry->name;
      reporter
          .error(input.entry->type->range,
                 "the first dimension of every input is the batch: " +
                     std::to_string(recipe.batch) + " for `" + other.text + "`, but " +
                     std::to_string(input.dims[0].size) + " for `" + name.text + "`")
          .note(first->entry->type->range, "`" + other.text + "` is declared here");
    }
  }
}

} // namespace weir::elab
