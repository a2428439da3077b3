//===- Recipe.cpp - Configs, consts and the train block ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Elaborator.h"

#include "runtime/base/Limits.h"
#include "runtime/base/NearestName.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

namespace weir::elab {

//===----------------------------------------------------------------------===//
// Configs, consts, requirements
//===----------------------------------------------------------------------===//

/// No two configs, consts and callables of the file share a name with another of their kind, nor
/// two arguments of one callable.
void Elaborator::checkNames() {
  std::map<std::string, Range> values, callables;
  auto claim = [&](std::map<std::string, Range> &names, const ast::Identifier &name) {
    auto [place, isNew] = names.try_emplace(name.text, name.range);
    if (!isNew)
      error(name.range, "`" + name.text + "` is declared twice")
          .note(place->second, "declared here");
  };
  for (const ast::ItemPtr &item : model.items) {
    if (const auto *config = llvm::dyn_cast<ast::ConfigItem>(item.get()))
      for (const ast::NamedValue &entry : config->entries)
        claim(values, entry.name);
    else if (const auto *constants = llvm::dyn_cast<ast::ConstItem>(item.get()))
      for (const ast::NamedValue &entry : constants->entries)
        claim(values, entry.name);
    else if (const auto *callable = llvm::dyn_cast<ast::CallableItem>(item.get())) {
      claim(callables, callable->name);
      std::map<std::string, Range> arguments;
      for (const ast::Parameter &parameter : callable->parameters)
        claim(arguments, parameter.name);
    }
  }
}

/// The text of a `--set` as a value of the config's kind; false, reported, where it is none.
bool Elaborator::overrideConfig(const std::string &text, Value &value, const std::string &name) {
  llvm::StringRef written = llvm::StringRef(text).trim();
  const char *wanted = "a text";
  int64_t number;
  double real;
  if (value.get<int64_t>()) {
    if (!written.getAsInteger(10, number)) {
      value = number;
      return true;
    }
    llvm::StringRef digits = written;
    digits.consume_front("-");
    bool whole = !digits.empty() && llvm::all_of(digits, llvm::isDigit);
    wanted = whole ? "an int from -9223372036854775808 to 9223372036854775807" : "an int";
  } else if (value.get<double>()) {
    if (!written.empty() && !written.getAsDouble(real) && std::isfinite(real)) {
      value = real;
      return true;
    }
    wanted = "a finite number";
  } else if (value.get<bool>()) {
    if (written == "true" || written == "false") {
      value = written == "true";
      return true;
    }
    wanted = "`true` or `false`";
  } else {
    value = text;
    return true;
  }
  diagnostics.error({}, "--set " + name + "=" + text + ": `" + name + "` wants " + wanted +
                            "; the model's value is " + value.describe());
  return false;
}

static std::string textOf(const Value &value) {
  if (const auto *number = value.get<int64_t>())
    return std::to_string(*number);
  if (const auto *number = value.get<double>())
    return describe(*number);
  if (const auto *truth = value.get<bool>())
    return *truth ? "true" : "false";
  const auto *text = value.get<std::string>();
  return text ? *text : "";
}

bool Elaborator::evaluateGlobals(const std::map<std::string, std::string> &sets) {
  checkNames();
  opBuilder.setInsertionPointToEnd(&scratch);
  std::vector<std::string> configs;
  for (const ast::ItemPtr &item : model.items)
    if (const auto *config = llvm::dyn_cast<ast::ConfigItem>(item.get()))
      for (const ast::NamedValue &entry : config->entries)
        configs.push_back(entry.name.text);
  for (const auto &[name, text] : sets)
    if (!llvm::is_contained(configs, name)) {
      Diagnostic &report = diagnostics.error({}, "--set " + name + "=" + text +
                                                     ": the model has no config `" + name + "`");
      if (auto meant = nearestName(name, configs))
        report.suggest(meant);
      else if (!configs.empty())
        report.help("its configs are " + llvm::join(configs, ", "));
      wrong = Wrong::options;
    }
  if (wrong == Wrong::options)
    return false;

  auto evaluateStatic = [&](const ast::NamedValue &entry, const char *what) {
    Value value = evaluate(*entry.value);
    if (value.isPoison() || value.isStatic())
      return value;
    error(entry.value->range, std::string("a ") + what +
                                  " must be known when compiling, but this is " + value.describe());
    return Value();
  };
  Scope &globals = modelFile.globals;
  for (const ast::ItemPtr &item : model.items) {
    if (const auto *config = llvm::dyn_cast<ast::ConfigItem>(item.get())) {
      for (const ast::NamedValue &entry : config->entries) {
        const std::string &name = entry.name.text;
        Value value = evaluateStatic(entry, "config");
        if (!value.isPoison() && !value.isNumber() && !value.get<bool>() &&
            !value.get<std::string>()) {
          error(entry.value->range,
                "a config is a number, a truth value or a text, not " + value.describe());
          value = Value();
        }
        auto set = sets.find(name);
        if (set != sets.end() && !value.isPoison() && !overrideConfig(set->second, value, name))
          wrong = Wrong::options;
        configTexts[name] = textOf(value);
        globals.names[name] =
            Binding{value, entry.name.range, name, "the config `" + name + "`", false};
      }
    } else if (const auto *constants = llvm::dyn_cast<ast::ConstItem>(item.get())) {
      for (const ast::NamedValue &entry : constants->entries)
        globals.names[entry.name.text] =
            Binding{evaluateStatic(entry, "const"), entry.name.range, configOf(*entry.value),
                    "the const `" + entry.name.text + "`", false};
    }
  }
  bool holdAll = true;
  for (const ast::ItemPtr &item : model.items) {
    const auto *require = llvm::dyn_cast<ast::RequireItem>(item.get());
    if (!require)
      continue;
    holdAll &= check(require->requirement);
  }
  return holdAll;
}

//===----------------------------------------------------------------------===//
// What the recipe says before anything runs
//===----------------------------------------------------------------------===//

Recipe::Input Elaborator::readInput(const ast::InputEntry &entry) {
  Recipe::Input input{&entry, nullptr, {}};
  const auto *type = llvm::dyn_cast<ast::TensorType>(entry.type.get());
  if (!type || type->element == Element::b8 || isLow(type->element) || type->dims.empty()) {
    error(entry.type->range,
          "an input is a tensor of f32, i32 or u8 whose first dimension is the batch");
    return input;
  }
  auto dims = evaluateDims(*type);
  if (!dims)
    return input;
  input.element = element(type->element);
  input.dims = *dims;
  return input;
}

void Elaborator::readRecipe() {
  for (const ast::ItemPtr &item : model.items)
    if (const auto *train = llvm::dyn_cast<ast::TrainItem>(item.get())) {
      if (recipe.item)
        error(train->keyword, "a model has one `train`")
            .note(recipe.item->keyword, "the other one");
      else
        recipe.item = train;
    }
  if (!recipe.item) {
    error({model.file, 0, 0}, "the model has no `train { … }`: nothing says what it learns from")
        .help("add a recipe: train { input … steps … loss … update … }");
    return;
  }

  std::map<ast::Kind, Range> seen;
  auto once = [&](const ast::ValueEntry &entry) {
    auto [place, isNew] = seen.try_emplace(entry.kind(), entry.keyword);
    if (!isNew)
      error(entry.keyword, "the recipe has `" + std::string(entry.keyword.text()) + "` twice")
          .note(place->second, "first here");
    return isNew;
  };
  auto positive = [&](const ast::ValueEntry &entry, int64_t &target, int64_t most = INT32_MAX) {
    std::string what = "`" + std::string(entry.keyword.text()) + "`";
    auto number = evaluateInt(*entry.value, what);
    target = number.value_or(1);
    if (target < 1) {
      error(entry.value->range, what + " must be at least 1, but is " + std::to_string(target));
      target = 1;
    } else if (target > most) {
      error(entry.value->range,
            what + " is at most " + std::to_string(most) + ", but is " + std::to_string(target));
      target = 1;
    }
  };
  for (const auto &node : recipe.item->entries) {
    if (const auto *input = llvm::dyn_cast<ast::InputEntry>(node.get())) {
      recipe.inputs.push_back(readInput(*input));
    } else if (const auto *update = llvm::dyn_cast<ast::UpdateEntry>(node.get())) {
      recipe.updates.push_back(update);
    } else if (const auto *entry = llvm::dyn_cast<ast::ValueEntry>(node.get());
               entry && once(*entry)) {
      switch (entry->kind()) {
      case ast::Kind::loss:
        recipe.loss = entry;
        break;
      case ast::Kind::clip:
        recipe.clip = entry;
        break;
      case ast::Kind::learningRate:
        recipe.learningRate = entry;
        break;
      case ast::Kind::accumulate:
        positive(*entry, recipe.accumulate, limits::rounds);
        break;
      case ast::Kind::steps:
        positive(*entry, recipe.steps);
        break;
      default:
        positive(*entry, recipe.epochs);
        break;
      }
    }
  }

  Range keyword = recipe.item->keyword;
  if (recipe.inputs.empty())
    error(keyword, "the recipe has no `input`");
  if (!recipe.loss)
    error(keyword, "the recipe has no `loss`");
  if (recipe.updates.empty())
    error(keyword, "the recipe has no `update`: nothing would be learnt")
        .help("for example `update adamw(lr = 1e-3)`; `update frozen()` keeps all as it is, for a "
              "model that only predicts");
  if (!recipe.steps && !recipe.epochs)
    error(keyword, "the recipe has neither `steps` nor `epochs`");
  if (recipe.steps && recipe.epochs)
    error(seen[ast::Kind::epochs], "the recipe has both `steps` and `epochs`")
        .note(seen[ast::Kind::steps], "`steps` here");

  const Recipe::Input *first = nullptr;
  std::map<std::string, Range> names;
  for (const Recipe::Input &input : recipe.inputs) {
    const ast::Identifier &name = input.entry->name;
    auto [place, isNew] = names.try_emplace(name.text, name.range);
    if (!isNew)
      error(name.range, "two inputs are called `" + name.text + "`")
          .note(place->second, "the other one");
    if (input.dims.empty())
      continue;
    if (!fits(input.dims, recipe.accumulate))
      error(input.entry->type->range, "the input of one step, " +
                                          std::to_string(recipe.accumulate) + " microbatches of " +
                                          describe(input.dims) + "," + tooLarge);
    if (!first) {
      first = &input;
      recipe.batch = input.dims[0].size;
    } else if (input.dims[0].size != recipe.batch) {
      error(input.entry->type->range,
            "the first dimension of every input is the batch: " + std::to_string(recipe.batch) +
                " for `" + first->entry->name.text + "`, but " +
                std::to_string(input.dims[0].size) + " for `" + name.text + "`")
          .note(first->entry->type->range, "`" + first->entry->name.text + "` is declared here");
    }
  }
}

//===----------------------------------------------------------------------===//
// One walk over the recipe
//===----------------------------------------------------------------------===//

/// What metrics files, results and charts call something else.
static bool isReserved(const std::string &metric) {
  for (const char *name : {"loss", "lr", "grad_norm", "loss_scale", "skipped", "skipped_steps",
                           "step", "steps", "step_ms", "event", "seconds", "tokens_per_second",
                           "samples_per_second", "rows", "windows", "rows_left_out"})
    if (metric == name)
      return true;
  return llvm::StringRef(metric).starts_with("heldout_");
}

Elaborator::Forward Elaborator::walkRecipe(llvm::ArrayRef<mlir::Value> inputs) {
  recipeScope = Scope();
  recipeFrame.scope = &recipeScope;
  work = 0;
  for (auto [input, value] : llvm::zip(recipe.inputs, inputs)) {
    const ast::Identifier &name = input.entry->name;
    Value tensor;
    if (value) {
      Dims dims = input.dims;
      dims[0].size = shapeOf(value)[0];
      for (Dim &dim : dims)
        if (!dim.bound.valid())
          dim.bound = input.entry->type->range;
      tensor = Tensor{value, dims};
    }
    recipeScope.names.emplace(name.text, Binding{tensor, name.range, {}, {}, false});
  }
  Forward result;
  auto ratioOf = [&](const ast::Expr &expr, const std::string &what) -> std::optional<Ratio> {
    Value value = evaluate(expr);
    if (const auto *ratio = value.get<Ratio>())
      return *ratio;
    if (!value.isPoison())
      error(expr.range, what + " must be a ratio, a sum and a count, but is " + value.describe())
          .help("`ratio(sum(x), size(x))` makes one; `cross_entropy` and `mse` are ratios");
    return std::nullopt;
  };
  std::map<std::string, Range> names;
  for (const auto &node : recipe.item->entries) {
    if (const auto *stmt = llvm::dyn_cast<ast::AssignStmt>(node.get())) {
      assign(*stmt);
    } else if (const auto *metric = llvm::dyn_cast<ast::MetricEntry>(node.get())) {
      auto [place, isNew] = names.try_emplace(metric->name.text, metric->name.range);
      if (!isNew)
        error(metric->name.range, "two metrics are called `" + metric->name.text + "`")
            .note(place->second, "the other one");
      if (isReserved(metric->name.text))
        error(metric->name.range, "a metric cannot be called `" + metric->name.text +
                                      "`: every run reports that already");
      if (auto ratio = ratioOf(*metric->value, "a metric"))
        result.metrics.push_back({metric->name.text, *ratio, metric->range});
    } else if (node.get() == recipe.loss) {
      result.loss = ratioOf(*recipe.loss->value, "a loss");
    }
  }
  hideTensors();
  return result;
}

/// What is left of the recipe, from the learning rate on, is about the whole step, not about a
/// microbatch.
void Elaborator::hideTensors() {
  for (auto it = recipeScope.names.begin(); it != recipeScope.names.end();) {
    const Value &value = it->second.value;
    if (value.isPoison() || value.isStatic()) {
      ++it;
      continue;
    }
    recipeScope.hidden[it->first] = {
        it->second.range, "belongs to one microbatch; `clip`, `lr` and `update` see whole steps"};
    it = recipeScope.names.erase(it);
  }
}

} // namespace weir::elab
