//===- Elaborator.cpp - Walks a model and emits the program ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Elaborator.h"

#include "ir/weir/Program.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <utility>

namespace weir::elab {

Elaborator::Elaborator(const ast::Module &model, std::vector<const ast::Module *> prelude,
                       const ElaborateOptions &options, mlir::MLIRContext &context,
                       Diagnostics &diagnostics)
    : Evaluator(reports, current), model(model), options(options), context(context),
      diagnostics(diagnostics), opBuilder(&context), files(model, prelude),
      reports(diagnostics, current, model.file), locations(context, current, model.file),
      tensors(opBuilder, locations, reports), globals(*this, files.model), shapes(*this, files),
      types(current, shapes, tensors, reports), instances(*this),
      rules(*this, files, recipe, variables), warnings(current, reports, recipe, variables, rules),
      plan(*this, locations, variables) {}

/// Erases what nobody uses. Ops stand in order, so one pass from the end is enough.
static void eraseDead(mlir::Block &block) {
  for (mlir::Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    for (mlir::Region &region : op.getRegions())
      for (mlir::Block &inner : region)
        eraseDead(inner);
    if (mlir::isOpTriviallyDead(&op))
      op.erase();
  }
}

/// What nobody calls has no sizes; names and static arguments in it can be checked all the same,
/// with arguments of which nothing is known. What that emits is thrown away.
void Elaborator::checkUncalled() {
  std::vector<const ast::CallableItem *> callables;
  for (const ast::ItemPtr &item : model.items)
    if (const auto *callable = llvm::dyn_cast<ast::CallableItem>(item.get()))
      callables.push_back(callable);
  // A model reaches most of the others.
  std::stable_partition(callables.begin(), callables.end(), [](const auto *callable) {
    return callable->callableKind == ast::CallableKind::model;
  });
  auto keptModule = std::move(module);
  Variables keptVariables = std::exchange(variables, Variables());
  auto keptInitial = std::move(initial);
  reporter.supposing = true;
  work = 0;
  for (const ast::CallableItem *callable : callables)
    if (!called.count(callable) && !reporter.stopped)
      checkUncalled(*callable);
  reporter.supposing = false;
  module = std::move(keptModule);
  variables = std::move(keptVariables);
  initial = std::move(keptInitial);
}

void Elaborator::checkUncalled(const ast::CallableItem &callable) {
  bool optimizer = callable.callableKind == ast::CallableKind::optimizer;
  if (optimizer && !rules.takesGradient(callable))
    return;
  beginModule(location(callable.name.range));
  Entry entry;
  beginEntry(entry, "uncalled", 1);
  std::vector<CallArgument> arguments;
  for (const ast::Parameter &parameter : callable.parameters)
    if (!parameter.defaultValue)
      arguments.push_back({std::nullopt, Value(), parameter.range, {}});
  Range range = callable.name.range;
  mlir::RankedTensorType scalar = tensors.type({}, tensors.f32());
  Variable nothing{{}, Role::parameter, scalar, {}, range, range, location(range), {}};
  OptimizerTarget target{
      &nothing, callable.parameters.empty() ? "" : callable.parameters[0].name.text, nullptr};
  entry.training = true;
  callCallable(callable, recipeFrame.instance, std::move(arguments), range,
               optimizer ? &target : nullptr);
  enter(nullptr);
  current = nullptr;
  variables = Variables();
}

ElaborateResult Elaborator::run(const std::map<std::string, std::string> &sets) {
  Frame file;
  file.file = &files.model;
  file.scope = &files.model.globals;
  current = &file;
  opBuilder.setInsertionPointToEnd(&scratch);
  auto failure = [&] { return ElaborateResult{nullptr, reporter.wrong, reporter.faulted}; };
  if (!globals.evaluate(sets) || reporter.wrong == ElaborateResult::Wrong::options)
    return failure();
  for (auto &[name, callable] : files.model.callables)
    shapes.checkDimensionNames(*callable);
  recipe = RecipeReader(*this, shapes, context).read(model);
  plan.read(model);
  if (!recipe.item) {
    checkUncalled();
    return failure();
  }

  beginModule(locations.inFile(recipe.item->range));
  emitStep();
  current = &file;
  if (!reporter.stopped)
    checkUncalled();
  if (!diagnostics.hasErrors())
    emitEval();
  if (!diagnostics.hasErrors()) {
    initial->end();
    describeModule();
    // Not before: until here the walks' own structures point to ops that nobody else uses.
    for (auto function : module->getOps<mlir::func::FuncOp>())
      eraseDead(function.getBody().front());
    current = &file;
    plan.apply(*module);
  }
  if (!diagnostics.hasErrors()) {
    if (mlir::failed(mlir::verify(*module)))
      reporter.fault(recipe.item->keyword, "the program made of this model does not verify");
    else if (std::string missing = missingPart(*module); !missing.empty())
      reporter.fault(recipe.item->keyword, "in the program made of this model " + missing);
  }
  if (diagnostics.hasErrors())
    return failure();
  return {std::move(module)};
}

} // namespace weir::elab
