//===- Entries.cpp - The program's entries --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Elaborator.h"
#include "ir/weir/Locations.h"
#include "ir/weir/Names.h"
#include "ir/weir/elementwise/Cast.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Variable.h"
#include "ir/weir/structure/Structure.h"

namespace weir::elab {

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

static const char *const runScalars[] = {runSeedName, runStepName, runTotalStepsName};

void Elaborator::beginModule(mlir::Location place) {
  module = mlir::ModuleOp::create(place);
  initial = std::make_unique<InitialValues>(opBuilder, tensors, locations, current, reporter);
  initial->begin(*module, place);
}

void Elaborator::describeModule() {
  opBuilder.setInsertionPointToStart(module->getBody());
  for (const char *name : runScalars)
    VariableOp::create(opBuilder, module->getLoc(), name, Role::run,
                       tensors.type({}, tensors.i32()));
  for (auto &variable : variables)
    VariableOp::create(opBuilder, variable->location, variable->path.symbol, variable->role,
                       variable->type);
  std::vector<mlir::NamedAttribute> configs;
  for (const auto &[name, text] : globals.configTexts)
    configs.push_back(opBuilder.getNamedAttr(name, opBuilder.getStringAttr(text)));
  mlir::Operation *op = module->getOperation();
  op->setAttr(modelAttrName, opBuilder.getStringAttr(modelName));
  op->setAttr(configsAttrName, opBuilder.getDictionaryAttr(configs));
  op->setAttr(batchAttrName, opBuilder.getI64IntegerAttr(recipe.batch));
  op->setAttr(accumulateAttrName, opBuilder.getI64IntegerAttr(recipe.accumulate));
  op->setAttr(stepsAttrName, opBuilder.getI64IntegerAttr(recipe.steps));
  op->setAttr(epochsAttrName, opBuilder.getI64IntegerAttr(recipe.epochs));
  if (recipe.warmup)
    op->setAttr(warmupAttrName, opBuilder.getI64IntegerAttr(recipe.warmup));
  if (recipe.clip)
    op->setAttr(clipsAttrName, opBuilder.getUnitAttr());
  if (!tiedEntries.empty())
    op->setAttr(tiedAttrName, opBuilder.getDictionaryAttr(tiedEntries));
}

//===----------------------------------------------------------------------===//
// Beginning and ending an entry
//===----------------------------------------------------------------------===//

/// Makes an entry the one that is walked; null for none.
void Elaborator::enter(Entry *entry) {
  currentEntry = entry;
  bool evaluates = entry && entry->kind != EntryKind::step && recipe.item;
  reporter.heldOut = evaluates ? recipe.item->keyword : Range();
}

std::vector<mlir::Value> Elaborator::beginEntry(Entry &entry, llvm::StringRef name, int64_t rows) {
  enter(&entry);
  recipeFrame = Frame();
  recipeFrame.file = &files.model;
  recipeFrame.scope = &recipeScope;
  recipeFrame.instance = std::make_shared<Instance>();
  current = &recipeFrame;
  std::vector<mlir::Type> types;
  for (const Recipe::Input &input : recipe.inputs) {
    Dims dims = input.dims;
    if (dims.empty())
      continue;
    dims[0].size = rows;
    types.push_back(tensors.type(dims, input.element));
  }
  opBuilder.setInsertionPointToEnd(module->getBody());
  mlir::Location place = recipe.item ? location(recipe.item->keyword) : module->getLoc();
  entry.function =
      mlir::func::FuncOp::create(opBuilder, place, name, opBuilder.getFunctionType(types, {}));
  mlir::Block *block = entry.function.addEntryBlock();
  opBuilder.setInsertionPointToStart(block);
  std::vector<mlir::Value> arguments;
  unsigned next = 0;
  for (const Recipe::Input &input : recipe.inputs) {
    if (input.dims.empty()) {
      arguments.push_back(nullptr); // faulty
      continue;
    }
    entry.function.setArgAttr(next, inputAttrName, opBuilder.getStringAttr(input.entry->name.text));
    mlir::BlockArgument argument = block->getArgument(next++);
    argument.setLoc(location(input.entry->name.range));
    arguments.push_back(argument);
  }
  return arguments;
}

static void finishFunction(mlir::func::FuncOp function, llvm::ArrayRef<Output> outputs,
                           mlir::OpBuilder &builder) {
  std::vector<mlir::Type> types;
  std::vector<mlir::Value> values;
  for (const Output &output : outputs) {
    types.push_back(output.value.getType());
    values.push_back(output.value);
  }
  mlir::func::ReturnOp::create(builder, function.getLoc(), values);
  function.setFunctionType(builder.getFunctionType(function.getArgumentTypes(), types));
  std::vector<mlir::DictionaryAttr> attributes;
  for (const Output &output : outputs) {
    mlir::NamedAttrList list;
    list.set(outputAttrName, builder.getStringAttr(output.name));
    list.set(partAttrName, builder.getStringAttr(output.part));
    if (output.part != "scalar" && output.part != "tensor") {
      list.set(termAttrName, builder.getI64IntegerAttr(output.term));
      list.set(weightAttrName, builder.getF64FloatAttr(output.weight));
    }
    attributes.push_back(list.getDictionary(builder.getContext()));
  }
  function.setAllResultAttrs(attributes);
}

/// The input a value is a part of, or nothing.
static std::optional<unsigned> inputOf(mlir::Value value, mlir::func::FuncOp function) {
  while (mlir::Operation *op = value.getDefiningOp()) {
    if (!llvm::isa<View, CastOp>(op))
      return std::nullopt;
    value = op->getOperand(0);
    if (!tensorType(value).getElementType().isInteger())
      return std::nullopt;
  }
  auto argument = llvm::cast<mlir::BlockArgument>(value);
  if (argument.getOwner()->getParentOp() == function)
    return argument.getArgNumber();
  auto microbatches = llvm::dyn_cast<MicrobatchesOp>(argument.getOwner()->getParentOp());
  unsigned at = argument.getArgNumber();
  if (!microbatches || at == 0 || at > microbatches.getSliced().size())
    return std::nullopt;
  return inputOf(microbatches.getSliced()[at - 1], function);
}

/// Integers that select rows or name classes lie below their number: the runtime checks the inputs
/// they come from.
static void setLimits(mlir::func::FuncOp function, const LimitConfigs &configs) {
  mlir::Builder builder(function.getContext());
  auto limit = [&](mlir::Operation *op, mlir::Value indices, int64_t size) {
    auto input = inputOf(indices, function);
    if (!input)
      return;
    auto known = function.getArgAttrOfType<mlir::IntegerAttr>(*input, limitAttrName);
    if (known && known.getInt() <= size)
      return;
    function.setArgAttr(*input, limitAttrName, builder.getI64IntegerAttr(size));
    auto config = configs.find(op);
    if (config != configs.end())
      function.setArgAttr(*input, limitConfigAttrName, builder.getStringAttr(config->second));
    else
      function.removeArgAttr(*input, limitConfigAttrName);
  };
  function.walk([&](Picking op) {
    Picks picks = op.picks();
    limit(op, picks.integers, picks.count);
  });
}

void Elaborator::endEntry(llvm::ArrayRef<Output> outputs) {
  // After an error there is no program, and what was emitted may be in pieces.
  if (!diagnostics.hasErrors()) {
    finishFunction(currentEntry->function, outputs, opBuilder);
    setLimits(currentEntry->function, currentEntry->limitConfigs);
  }
  enter(nullptr);
  current = nullptr;
}

//===----------------------------------------------------------------------===//
// eval, eval_one, predict
//===----------------------------------------------------------------------===//

void Elaborator::addTerms(std::vector<Output> &outputs, const std::string &name, Ratio &ratio,
                          int64_t batches, Range range) {
  for (auto [i, term] : llvm::enumerate(ratio.terms)) {
    if (!term.count)
      term.count = tensors.scalar(term.staticCount * batches, range);
    outputs.push_back({name, "sum", term.sum, int64_t(i), term.weight});
    outputs.push_back({name, "count", term.count, int64_t(i), term.weight});
  }
}

void Elaborator::tieRows(llvm::StringRef entry, const TiedRows &tied) {
  tiedEntries.push_back(opBuilder.getNamedAttr(
      entry, opBuilder.getStringAttr(weir::describe(tied.location) + ": " + tied.why)));
}

using ReplaceTensor = llvm::function_ref<Tensor(const Tensor &, const std::string &)>;

/// An argument with its tensors replaced, each by what its name stands for: `x`, `xs.0` of a list.
/// Nothing where something else in it is computed.
static std::optional<Value> replaceTensors(const Value &value, const std::string &name,
                                           ReplaceTensor replace) {
  if (const auto *tensor = value.get<Tensor>())
    return replace(*tensor, name);
  const std::vector<Value> *elements = value.elements();
  if (!elements)
    return value.get<Ratio>() ? std::nullopt : std::optional(value);
  std::vector<Value> result;
  for (auto [i, element] : llvm::enumerate(*elements)) {
    auto replaced = replaceTensors(element, name + "." + std::to_string(i), replace);
    if (!replaced)
      return std::nullopt;
    result.push_back(*replaced);
  }
  return Value::list(std::move(result));
}

void Elaborator::emitEval() {
  Entry entry;
  entry.kind = EntryKind::eval;
  std::vector<mlir::Value> inputs = beginEntry(entry, "eval", recipe.batch);
  Forward forward = walkRecipe(inputs);
  if (diagnostics.hasErrors())
    return;
  std::vector<Output> outputs;
  addTerms(outputs, "loss", *forward.loss, 1, recipe.loss->range);
  for (Metric &metric : forward.metrics)
    addTerms(outputs, metric.name, metric.value, 1, metric.range);
  auto predicted = entry.model ? predictInputs(entry) : std::nullopt;
  endEntry(outputs);
  // A remainder is evaluated row by row where a row's part of the figures is its own.
  BatchRows rows = BatchRows::ofInputs(entry.function);
  if (!rows.independent())
    tieRows("eval", rows.tied());
  else if (recipe.batch > 1)
    cutRows(rows, 1, "eval_one");
  if (predicted)
    emitPredict(entry, *predicted);
}

/// The tensors that the first call of a model was given, each of which begins with the batch;
/// nothing where one does not.
std::optional<std::vector<mlir::Type>> Elaborator::predictInputs(const Entry &eval) {
  std::vector<mlir::Value> values;
  std::vector<std::string> names;
  auto addValue = [&](const Tensor &tensor, const std::string &name) {
    values.push_back(tensor.value);
    names.push_back(name);
    return tensor;
  };
  for (const CallArgument &argument : eval.modelArguments)
    if (!replaceTensors(argument.value, argument.name->text, addValue))
      return std::nullopt; // a model of losses predicts nothing
  mlir::func::FuncOp function = eval.function;
  llvm::SmallVector<std::optional<RowPlace>> first(function.getNumArguments(), RowPlace{0, 1});
  BatchRows rows(function, recipe.batch, first, values);
  std::vector<mlir::Type> types;
  for (auto [value, name] : llvm::zip_equal(values, names)) {
    if (rows.findRows(value) != RowPlace{0, 1} || shapeOf(value)[0] != recipe.batch) {
      tieRows("predict", {value.getDefiningOp(), location(eval.modelInstance->range),
                          "the model's `" + name + "` does not begin with a dimension of rows"});
      return std::nullopt;
    }
    types.push_back(value.getType());
  }
  return types;
}

/// What the model makes of one row, or of a batch where its rows are tied; nothing where its
/// results do not begin with them.
void Elaborator::emitPredict(const Entry &eval, llvm::ArrayRef<mlir::Type> inputs) {
  Entry entry;
  entry.kind = EntryKind::predict;
  work = 0;
  enter(&entry);
  current = &recipeFrame;
  opBuilder.setInsertionPointToEnd(module->getBody());
  entry.function = mlir::func::FuncOp::create(opBuilder, location(eval.model->name.range),
                                              "predict", opBuilder.getFunctionType(inputs, {}));
  mlir::Block *block = entry.function.addEntryBlock();
  opBuilder.setInsertionPointToStart(block);
  std::vector<CallArgument> arguments = eval.modelArguments;
  unsigned next = 0;
  auto takeInput = [&](const Tensor &tensor, const std::string &name) {
    entry.function.setArgAttr(next, inputAttrName, opBuilder.getStringAttr(name));
    return Tensor{block->getArgument(next++), tensor.dims};
  };
  for (CallArgument &argument : arguments)
    argument.value = *replaceTensors(argument.value, argument.name->text, takeInput);
  auto instance = std::make_shared<Instance>();
  instance->callable = eval.model;
  instance->path = eval.modelInstance->path;
  instance->range = eval.modelInstance->range;
  Value result =
      callCallable(*eval.model, instance, std::move(arguments), eval.modelInstance->range);
  std::vector<Output> outputs;
  std::vector<Value> values = result.members() ? *result.members() : std::vector<Value>{result};
  for (const Value &value : values)
    if (const auto *tensor = value.get<Tensor>()) {
      std::string number = outputs.empty() ? "" : "_" + std::to_string(outputs.size());
      outputs.push_back({"output" + number, "tensor", tensor->value});
    }
  endEntry(outputs);
  if (diagnostics.hasErrors())
    return;
  // A model whose results are ratios and numbers predicts nothing.
  if (outputs.empty())
    return entry.function.erase();
  llvm::SmallVector<std::optional<RowPlace>> first(inputs.size(), RowPlace{0, 1});
  BatchRows rows(entry.function, recipe.batch, first);
  // Of results that do not begin with the rows nobody could say which row's they are.
  if (rows.misplaced())
    tieRows("predict", *rows.misplaced());
  else if (!rows.independent())
    return tieRows("predict", rows.tied());
  else if (recipe.batch > 1)
    cutRows(rows, 1, "predict");
  else
    return;
  entry.function.erase();
}

} // namespace weir::elab
