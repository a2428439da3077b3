//===- Elaborator.cpp - Names, places and reports ---------------------------===//
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
#include <tuple>
#include <utility>

namespace weir::elab {

Binding *Scope::find(const std::string &name) {
  for (Scope *scope = this; scope; scope = scope->outer) {
    auto found = scope->names.find(name);
    if (found != scope->names.end())
      return &found->second;
  }
  return nullptr;
}

static void collectCallables(FileScope &file) {
  for (const ast::ItemPtr &item : file.module->items)
    if (const auto *callable = llvm::dyn_cast<ast::CallableItem>(item.get()))
      file.callables.emplace(callable->name.text, callable);
}

Elaborator::Elaborator(const ast::Module &model, std::vector<const ast::Module *> prelude,
                       const ElaborateOptions &options, mlir::MLIRContext &context,
                       Diagnostics &diagnostics)
    : model(model), options(options), context(context), diagnostics(diagnostics),
      opBuilder(&context) {
  modelFile.module = &model;
  collectCallables(modelFile);
  for (const ast::Module *module : prelude) {
    auto file = std::make_unique<FileScope>();
    file->module = module;
    file->prelude = true;
    collectCallables(*file);
    preludeCallables.insert(file->callables.begin(), file->callables.end());
    preludeFiles.push_back(std::move(file));
  }
}

FileScope *Elaborator::fileOf(const ast::CallableItem &callable) {
  if (callable.range.file == model.file)
    return &modelFile;
  for (auto &file : preludeFiles)
    if (file->module->file == callable.range.file)
      return file.get();
  assert(false && "a callable of no file");
  return nullptr;
}

Diagnostic &Elaborator::stop(Range range, std::string message) {
  Diagnostic &report = error(range, std::move(message));
  stopped = true;
  return report;
}

Diagnostic &Elaborator::unknown(Range range, std::string message) {
  wrong = std::max(wrong, Wrong::names);
  return error(range, std::move(message));
}

void Elaborator::fault(Range range, const std::string &what) {
  faulted = true;
  error(range, what).help("this is a fault of Weir's, not of the model");
}

void Elaborator::requireReport(Range range, const std::string &what) {
  if (!diagnostics.hasErrors() && !supposing)
    fault(range, what + ", and nothing says why");
}

Diagnostic &Elaborator::error(Range range, std::string message) {
  if (stopped)
    return discarded = Diagnostic();
  // Evaluation is met after a step without errors: what is wrong is wrong in it alone.
  auto report = [&](Range place) -> Diagnostic & {
    Diagnostic &made = diagnostics.error(place, std::move(message));
    if (currentEntry && currentEntry->kind != EntryKind::step && recipe.item)
      made.note(recipe.item->keyword, "found in the evaluation of held-out data, where `training` "
                                      "is false");
    return made;
  };
  const Frame *frame = current;
  if (!frame || !frame->file->prelude || range.file == model.file)
    return report(range);
  Range inner = range;
  while (frame->file->prelude && frame->caller) {
    range = frame->callSite;
    message = "in `" + frame->callable->name.text + "`: " + message;
    frame = frame->caller;
  }
  return report(range).note(inner, "in the prelude here");
}

Range Elaborator::userPlace(Range range) const {
  for (const Frame *frame = current; frame && frame->file->prelude && frame->caller;
       frame = frame->caller)
    range = frame->callSite;
  return range;
}

mlir::Location Elaborator::fileLocation(Range range) {
  if (!range.valid())
    return mlir::UnknownLoc::get(&context);
  mlir::LocationAttr &known = locations[{range.file, range.begin}];
  if (!known) {
    LineColumn place = range.file->locate(range.begin);
    known = mlir::FileLineColLoc::get(&context, range.file->name(), place.line, place.column);
  }
  return mlir::Location(known);
}

mlir::Location Elaborator::location(Range range) {
  mlir::Location result = fileLocation(range);
  // Only the prelude's frames: in a user's own block its line says more than the call's.
  for (const Frame *frame = current; frame && frame->file->prelude && frame->caller;
       frame = frame->caller)
    if (range.file != model.file)
      result = mlir::CallSiteLoc::get(result, fileLocation(frame->callSite));
  if (!current || !current->instance || current->instance->path.path.empty())
    return result;
  return mlir::NameLoc::get(opBuilder.getStringAttr(current->instance->path.path), result);
}

const ast::CallableItem *Elaborator::findCallable(const std::string &name) {
  if (!current->file->prelude) {
    auto own = modelFile.callables.find(name);
    if (own != modelFile.callables.end())
      return own->second;
  }
  auto found = preludeCallables.find(name);
  return found == preludeCallables.end() ? nullptr : found->second;
}

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
  auto keptVariables = std::exchange(variables, {});
  auto keptBySymbol = std::exchange(variablesBySymbol, {});
  auto kept = std::make_tuple(init, initSeed, initZero);
  Restated keptRestated = std::exchange(restated, Restated());
  supposing = true;
  work = 0;
  for (const ast::CallableItem *callable : callables) {
    if (called.count(callable) || stopped)
      continue;
    bool optimizer = callable->callableKind == ast::CallableKind::optimizer;
    if (optimizer && !takesGradient(*callable))
      continue;
    module = mlir::ModuleOp::create(location(callable->name.range));
    beginInit(module->getLoc());
    Entry entry;
    beginEntry(entry, "uncalled", 1);
    std::vector<CallArgument> arguments;
    for (const ast::Parameter &parameter : callable->parameters)
      if (!parameter.defaultValue)
        arguments.push_back({parameter.name, Value(), parameter.range, {}});
    Variable nothing{{},
                     Role::parameter,
                     type({}, f32()),
                     {},
                     callable->name.range,
                     callable->name.range,
                     location(callable->name.range),
                     {}};
    OptimizerTarget target{
        &nothing, callable->parameters.empty() ? "" : callable->parameters[0].name.text, nullptr};
    for (size_t i = 0; optimizer && i < 2; ++i)
      arguments[i].name.reset();
    entry.training = true;
    callCallable(*callable, recipeFrame.instance, std::move(arguments), callable->name.range,
                 optimizer ? &target : nullptr);
    currentEntry = nullptr;
    current = nullptr;
    variables.clear();
    variablesBySymbol.clear();
  }
  supposing = false;
  module = std::move(keptModule);
  variables = std::move(keptVariables);
  variablesBySymbol = std::move(keptBySymbol);
  std::tie(init, initSeed, initZero) = kept;
  restated = std::move(keptRestated);
}

ElaborateResult Elaborator::run(const std::map<std::string, std::string> &sets) {
  Frame file;
  file.file = &modelFile;
  file.scope = &modelFile.globals;
  current = &file;
  if (!evaluateGlobals(sets) || wrong == Wrong::options)
    return {nullptr, wrong, faulted};
  for (auto &[name, callable] : modelFile.callables)
    checkDimensionNames(*callable);
  readRecipe();
  readPlan();
  if (!recipe.item) {
    checkUncalled();
    return {nullptr, wrong, faulted};
  }

  mlir::Location place = fileLocation(recipe.item->range);
  module = mlir::ModuleOp::create(place);
  beginInit(place);
  emitStep();
  current = &file;
  if (!stopped)
    checkUncalled();
  if (!diagnostics.hasErrors())
    emitEval();
  if (!diagnostics.hasErrors()) {
    endInit();
    describeModule();
    // Not before: until here the walks' own structures point to ops that nobody else uses.
    for (auto function : module->getOps<mlir::func::FuncOp>())
      eraseDead(function.getBody().front());
    current = &file;
    pinOps();
    markBlocks();
    pinShards();
  }
  if (!diagnostics.hasErrors()) {
    if (mlir::failed(mlir::verify(*module)))
      fault(recipe.item->keyword, "the program made of this model does not verify");
    else if (std::string missing = missingPart(*module); !missing.empty())
      fault(recipe.item->keyword, "in the program made of this model " + missing);
  }
  if (diagnostics.hasErrors())
    return {nullptr, wrong, faulted};
  return {std::move(module)};
}

} // namespace weir::elab
