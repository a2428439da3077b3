//===- Step.cpp - One step of training --------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Elaborator.h"

#include <set>

namespace weir::elab {

mlir::Value Elaborator::spread(mlir::Value scalar, mlir::RankedTensorType type, Range range) {
  if (type.getRank() == 0)
    return scalar;
  auto result = mlir::RankedTensorType::get(type.getShape(), tensorType(scalar).getElementType());
  return BroadcastOp::create(opBuilder, location(range), result, scalar, llvm::ArrayRef<int64_t>());
}

/// sum over terms of weight * sum / count
mlir::Value Elaborator::totalLoss(const Ratio &loss, llvm::ArrayRef<mlir::Value> sums,
                                  llvm::ArrayRef<mlir::Value> counts, Range range) {
  Value total;
  for (size_t i = 0; i < loss.terms.size(); ++i) {
    Value part = binary(ast::BinaryOp::div, Tensor{sums[i], {}}, Tensor{counts[i], {}}, range);
    if (loss.terms[i].weight != 1)
      part = binary(ast::BinaryOp::mul, part, loss.terms[i].weight, range);
    total = i == 0 ? part : binary(ast::BinaryOp::add, total, part, range);
  }
  return total.get<Tensor>()->value;
}

static std::vector<mlir::Value> sumsOf(const Ratio &ratio) {
  std::vector<mlir::Value> sums;
  for (const RatioTerm &term : ratio.terms)
    sums.push_back(term.sum);
  return sums;
}

/// Counts are computed before the gradients they divide, so they may not depend on what is trained.
void Elaborator::checkCounts(const Ratio &loss) {
  for (const RatioTerm &term : loss.terms) {
    std::vector<mlir::Value> open = {term.count ? term.count : mlir::Value()};
    std::set<mlir::Operation *> seen;
    while (!open.empty()) {
      mlir::Operation *op = open.back() ? open.back().getDefiningOp() : nullptr;
      open.pop_back();
      if (!op || !seen.insert(op).second)
        continue;
      open.insert(open.end(), op->operand_begin(), op->operand_end());
      auto read = llvm::dyn_cast<ReadOp>(op);
      const Variable *variable = read ? findVariable(read.getVariable().str()) : nullptr;
      if (!variable || variable->role != Role::parameter)
        continue;
      error(recipe.loss->value->range,
            "a count of the loss depends on the parameter `" + variable->path + "`")
          .note(term.range, "the count is given here")
          .help("counts are computed first, from the inputs alone");
      return;
    }
  }
}

void Elaborator::takeGradients(std::vector<Trained> &trained, mlir::Value loss, Range range) {
  std::vector<mlir::Value> sources;
  for (const Trained &one : trained)
    sources.push_back(readAtTop(one.parameter->path, one.parameter->type, one.parameter->range));
  auto gradient = GradientOp::create(opBuilder, location(range), loss, sources);
  for (size_t i = 0; i < trained.size(); ++i)
    trained[i].gradient = gradient.getGradients()[i];
}

void Elaborator::emitStep() {
  Entry entry;
  entry.kind = EntryKind::step;
  entry.training = true;
  std::vector<mlir::Value> inputs = beginEntry(entry, "step", recipe.batch * recipe.accumulate);
  if (recipe.accumulate > 1)
    return emitMicrobatches(inputs);

  Forward forward = walkRecipe(inputs);
  Range range = recipe.loss ? recipe.loss->range : recipe.item->keyword;
  std::vector<Output> outputs;
  mlir::Value loss;
  std::vector<Trained> trained = trainedParameters();
  if (forward.loss) {
    checkCounts(*forward.loss);
    std::vector<mlir::Value> counts;
    for (const RatioTerm &term : forward.loss->terms)
      counts.push_back(countOf(term, 1, range));
    loss = totalLoss(*forward.loss, sumsOf(*forward.loss), counts, range);
    addTerms(outputs, "loss", *forward.loss, sumsOf(*forward.loss), counts);
  } else {
    loss = scalar(0, range); // to check the rest of the recipe
  }
  takeGradients(trained, loss, range);
  for (const Metric &metric : forward.metrics) {
    std::vector<mlir::Value> counts;
    for (const RatioTerm &term : metric.value.terms)
      counts.push_back(countOf(term, 1, metric.range));
    addTerms(outputs, metric.name, metric.value, sumsOf(metric.value), counts);
  }
  if (entry.model)
    modelName = entry.model->name.text;
  emitUpdate(loss, trained, outputs);
  endEntry(outputs);
}

//===----------------------------------------------------------------------===//
// Microbatches
//===----------------------------------------------------------------------===//

/// A detached body: the round, then a slice of each input.
static mlir::Block *makeBody(mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Value> inputs,
                             int64_t rows, mlir::Location place) {
  auto *block = new mlir::Block();
  block->addArgument(mlir::RankedTensorType::get({}, builder.getI32Type()), place);
  for (mlir::Value input : inputs) {
    llvm::SmallVector<int64_t> shape(shapeOf(input));
    shape[0] = rows;
    block->addArgument(mlir::RankedTensorType::get(shape, tensorType(input).getElementType()),
                       input.getLoc());
  }
  return block;
}

/// Ends the body and puts it into an op at the end of `function`.
static MicrobatchesOp finishBody(mlir::OpBuilder &builder, mlir::Location place, int64_t count,
                                 mlir::Block *body, llvm::ArrayRef<mlir::Value> inputs,
                                 llvm::ArrayRef<mlir::Value> carried,
                                 llvm::ArrayRef<mlir::Value> yielded, mlir::Block &function) {
  builder.setInsertionPointToEnd(body);
  YieldOp::create(builder, place, yielded);
  builder.setInsertionPointToEnd(&function);
  std::vector<mlir::Type> types;
  for (mlir::Value value : yielded)
    types.push_back(value.getType());
  auto op = MicrobatchesOp::create(builder, place, types, count, inputs, carried);
  op.getBody().push_back(body);
  return op;
}

mlir::Value Entry::nextOf(const std::string &path) const {
  for (const auto &[other, next] : nexts)
    if (other == path)
      return next.value;
  return carriedValues.at(path);
}

/// The carried states that values of the body depend on, in this round or an earlier one.
static std::set<std::string> statesBehind(std::vector<mlir::Value> open, const Entry &entry) {
  std::set<std::string> states;
  std::set<mlir::Operation *> seen;
  while (!open.empty()) {
    mlir::Value value = open.back();
    open.pop_back();
    if (mlir::Operation *op = value.getDefiningOp()) {
      if (seen.insert(op).second)
        open.insert(open.end(), op->operand_begin(), op->operand_end());
      continue;
    }
    for (const auto &[path, state] : entry.carriedValues)
      if (state == value && states.insert(path).second)
        open.push_back(entry.nextOf(path));
  }
  return states;
}

/// The loss's counts that are not known when compiling, summed over all microbatches: null for the
/// others. They come first, since every microbatch's gradient is divided by them.
std::vector<mlir::Value> Elaborator::countMicrobatches(llvm::ArrayRef<mlir::Value> inputs,
                                                       Entry &main) {
  Range range = recipe.loss->range;
  mlir::Location place = location(range);
  Entry counting;
  counting.kind = EntryKind::step;
  counting.training = true;
  counting.function = main.function;
  counting.lastRead = main.lastRead;
  counting.reads = main.reads;
  mlir::Block *body = makeBody(opBuilder, inputs, recipe.batch, place);
  counting.body = body;
  counting.round = body->getArgument(0);
  currentEntry = &counting;
  opBuilder.setInsertionPointToEnd(body);
  std::vector<mlir::Value> slices(body->getArguments().begin() + 1, body->getArguments().end());
  Forward forward = walkRecipe(slices);
  std::vector<mlir::Value> yielded, carried;
  std::vector<size_t> terms;
  for (auto [i, term] : llvm::enumerate(forward.loss->terms))
    if (term.count) {
      terms.push_back(i);
      yielded.push_back(term.count);
    }
  // Of the states only those that the counts depend on are carried: nothing that depends on a
  // parameter may come through this op, where no gradient flows.
  std::set<std::string> needed = statesBehind(yielded, counting);
  for (size_t i = counting.carried.size(); i-- > 0;) {
    const Variable *state = findVariable(counting.carried[i]);
    mlir::Value old = readAtTop(state->path, state->type, state->range);
    if (needed.count(state->path))
      continue;
    mlir::BlockArgument argument = body->getArgument(1 + inputs.size() + i);
    argument.replaceAllUsesWith(old); // by ops that are dead
    body->eraseArgument(argument.getArgNumber());
  }
  for (const std::string &path : counting.carried)
    if (needed.count(path)) {
      carried.push_back(counting.reads[path]);
      yielded.push_back(counting.nextOf(path));
    }
  main.lastRead = counting.lastRead;
  main.reads = counting.reads;
  main.limitConfigs.insert(counting.limitConfigs.begin(), counting.limitConfigs.end());
  currentEntry = &main;
  auto op = finishBody(opBuilder, place, recipe.accumulate, body, inputs, carried, yielded,
                       main.function.getBody().front());
  std::vector<mlir::Value> counts(forward.loss->terms.size());
  for (auto [i, term] : llvm::enumerate(terms))
    counts[term] = op.getResult(i);
  return counts;
}

void Elaborator::emitMicrobatches(llvm::ArrayRef<mlir::Value> inputs) {
  Entry &entry = *currentEntry;
  mlir::Block &function = entry.function.getBody().front();
  Range range = recipe.loss ? recipe.loss->range : recipe.item->keyword;
  mlir::Location place = location(range);
  std::vector<mlir::Value> whole;
  for (mlir::Value input : inputs)
    if (input)
      whole.push_back(input);
  std::vector<Output> outputs;

  mlir::Block *body = makeBody(opBuilder, whole, recipe.batch, place);
  entry.body = body;
  entry.round = body->getArgument(0);
  opBuilder.setInsertionPointToEnd(body);
  std::vector<mlir::Value> slices;
  unsigned next = 1;
  for (mlir::Value input : inputs)
    slices.push_back(input ? mlir::Value(body->getArgument(next++)) : mlir::Value());
  Forward forward = walkRecipe(slices);
  std::vector<Trained> trained = trainedParameters();
  if (entry.model)
    modelName = entry.model->name.text;
  if (forward.loss)
    checkCounts(*forward.loss);
  if (diagnostics.hasErrors()) {
    // What is left of the recipe is checked without the microbatches.
    entry.body = nullptr;
    opBuilder.setInsertionPointToEnd(&function);
    mlir::Value loss = scalar(0, range);
    takeGradients(trained, loss, range);
    emitUpdate(loss, trained, outputs);
    delete body;
    return endEntry(outputs);
  }

  const Ratio &loss = *forward.loss;
  bool counted =
      llvm::any_of(loss.terms, [](const RatioTerm &term) { return term.count != nullptr; });
  Scope afterWalk = recipeScope;
  opBuilder.setInsertionPointToEnd(&function);
  std::vector<mlir::Value> counts(loss.terms.size());
  if (counted)
    counts = countMicrobatches(whole, entry);
  recipeScope = afterWalk;
  for (auto [i, term] : llvm::enumerate(loss.terms))
    if (!counts[i])
      counts[i] = scalar(term.staticCount * recipe.accumulate, range);

  opBuilder.setInsertionPointToEnd(body);
  mlir::Value share = totalLoss(loss, sumsOf(loss), counts, range);
  takeGradients(trained, share, range);
  std::vector<mlir::Value> yielded, carried;
  for (const Trained &one : trained)
    yielded.push_back(one.gradient);
  for (const RatioTerm &term : loss.terms)
    yielded.push_back(term.sum);
  for (const Metric &metric : forward.metrics)
    for (const RatioTerm &term : metric.value.terms) {
      yielded.push_back(term.sum);
      if (term.count)
        yielded.push_back(term.count);
    }
  std::map<std::string, size_t> resultOf;
  for (const std::string &path : entry.carried) {
    const Variable *state = findVariable(path);
    resultOf[path] = yielded.size();
    yielded.push_back(entry.nextOf(path));
    carried.push_back(readAtTop(path, state->type, state->range));
  }
  auto op =
      finishBody(opBuilder, place, recipe.accumulate, body, whole, carried, yielded, function);
  entry.body = nullptr;
  entry.round = nullptr;
  for (auto &[path, after] : entry.nexts)
    after.value = op.getResult(resultOf.at(path));

  size_t at = 0;
  for (Trained &one : trained)
    one.gradient = op.getResult(at++);
  std::vector<mlir::Value> sums;
  for (size_t i = 0; i < loss.terms.size(); ++i)
    sums.push_back(op.getResult(at++));
  addTerms(outputs, "loss", loss, sums, counts);
  for (const Metric &metric : forward.metrics) {
    std::vector<mlir::Value> metricSums, metricCounts;
    for (const RatioTerm &term : metric.value.terms) {
      metricSums.push_back(op.getResult(at++));
      metricCounts.push_back(term.count
                                 ? mlir::Value(op.getResult(at++))
                                 : scalar(term.staticCount * recipe.accumulate, metric.range));
    }
    addTerms(outputs, metric.name, metric.value, metricSums, metricCounts);
  }
  emitUpdate(totalLoss(loss, sums, counts, range), trained, outputs);
  endEntry(outputs);
}

} // namespace weir::elab
