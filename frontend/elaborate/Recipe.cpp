//===- Recipe.cpp - One walk over the recipe ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Elaborator.h"

namespace weir::elab {

/// What metrics files, results and charts call something else.
static bool isReserved(const std::string &metric) {
  for (const char *name : {"loss", "lr", "grad_norm", "loss_scale", "skipped", "skipped_steps",
                           "step", "steps", "step_ms", "event", "seconds", "tokens_per_second",
                           "samples_per_second", "rows", "windows", "rows_left_out"})
    if (metric == name)
      return true;
  return llvm::StringRef(metric).starts_with("heldout_");
}

/// What is left of the recipe, from the learning rate on, is about the whole step, not about a
/// microbatch.
static void hideTensors(Scope &scope) {
  for (auto it = scope.names.begin(); it != scope.names.end();) {
    const Value &value = it->second.value;
    if (value.isPoison() || value.isStatic()) {
      ++it;
      continue;
    }
    scope.hidden[it->first] = {
        it->second.range, "belongs to one microbatch; `clip`, `lr` and `update` see whole steps"};
    it = scope.names.erase(it);
  }
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
  hideTensors(recipeScope);
  return result;
}

} // namespace weir::elab
