//===- Step.cpp - One step of training --------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Elaborator.h"

#include <set>

namespace weir::elab {

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
  std::set<mlir::Operation *> seen;
  for (const RatioTerm &term : loss.terms) {
    std::vector<mlir::Value> open = {term.count ? term.count : mlir::Value()};
    while (!open.empty()) {
      mlir::Operation *op = open.back() ? open.back().getDefiningOp() : nullptr;
      open.pop_back();
      if (!op || !seen.insert(op).second)
        continue;
      open.insert(open.end(), op->operand_begin(), op->operand_end());
      auto read = llvm::dyn_cast<ReadOp>(op);
      const Variable *variable = read ? findVariable(read.getVariable().str()) : nullptr;
      if (!variable || variable->role != Role::parameter || variable->path.misplaced())
        continue;
      error(recipe.loss->value->range,
            "a count of the loss depends on the parameter `" + variable->path.path + "`")
          .note(term.range, "the count is given here")
          .help("counts are computed first, from the inputs alone");
      return;
    }
  }
}

void Elaborator::takeGradients(std::vector<Trained> &trained, mlir::Value loss, Range range) {
  std::vector<mlir::Value> sources;
  for (const Trained &one : trained)
    sources.push_back(
        readAtTop(one.parameter->path.symbol, one.parameter->type, one.parameter->range));
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
  warnUntrained(trained, loss, forward.metrics);
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

/// A body: the round, then a slice of each input. Until it gets its op it stands behind the entry's
/// own block, whose ops may use its values after an error: the two go together, with the module.
static mlir::Block *makeBody(mlir::func::FuncOp function, mlir::OpBuilder &builder,
                             llvm::ArrayRef<mlir::Value> inputs, int64_t rows,
                             mlir::Location place) {
  auto *block = new mlir::Block();
  function.getBody().push_back(block);
  block->addArgument(mlir::RankedTensorType::get({}, builder.getI32Type()), place);
  for (mlir::Value input : inputs) {
    llvm::SmallVector<int64_t> shape(shapeOf(input));
    shape[0] = rows;
    block->addArgument(mlir::RankedTensorType::get(shape, tensorType(input).getElementType()),
                       input.getLoc());
  }
  return block;
}

/// Ends the body and puts it into an op at the end of the entry's block.
static MicrobatchesOp finishBody(mlir::func::FuncOp function, mlir::OpBuilder &builder,
                                 mlir::Location place, int64_t count, mlir::Block *body,
                                 llvm::ArrayRef<mlir::Value> inputs,
                                 llvm::ArrayRef<mlir::Value> carried,
                                 llvm::ArrayRef<mlir::Value> yielded) {
  builder.setInsertionPointToEnd(body);
  YieldOp::create(builder, place, yielded);
  builder.setInsertionPointToEnd(&function.getBody().front());
  std::vector<mlir::Type> types;
  for (mlir::Value value : yielded)
    types.push_back(value.getType());
  auto op = MicrobatchesOp::create(builder, place, types, count, inputs, carried);
  body->moveBefore(&op.getBody(), op.getBody().end());
  return op;
}

mlir::Value Entry::nextOf(const Variable *state) const {
  auto next = nexts.find(state);
  return next != nexts.end() ? next->second.value : carriedValues.at(state);
}

/// The carried states that values of the body depend on, in this round or an earlier one.
static std::set<const Variable *> statesBehind(std::vector<mlir::Value> open, const Entry &entry) {
  llvm::DenseMap<mlir::Value, const Variable *> carried;
  for (const Variable *state : entry.carried)
    carried[entry.carriedValues.at(state)] = state;
  std::set<const Variable *> states;
  std::set<mlir::Operation *> seen;
  while (!open.empty()) {
    mlir::Value value = open.back();
    open.pop_back();
    if (mlir::Operation *op = value.getDefiningOp()) {
      if (seen.insert(op).second)
        open.insert(open.end(), op->operand_begin(), op->operand_end());
      continue;
    }
    const Variable *state = carried.lookup(value);
    if (state && states.insert(state).second)
      open.push_back(entry.nextOf(state));
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
  mlir::Block *body = makeBody(main.function, opBuilder, inputs, recipe.batch, place);
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
  std::set<const Variable *> needed = statesBehind(yielded, counting);
  for (size_t i = counting.carried.size(); i-- > 0;) {
    const Variable *state = counting.carried[i];
    mlir::Value old = readAtTop(state->path.symbol, state->type, state->range);
    if (needed.count(state))
      continue;
    mlir::BlockArgument argument = body->getArgument(1 + inputs.size() + i);
    argument.replaceAllUsesWith(old); // by ops that are dead
    body->eraseArgument(argument.getArgNumber());
  }
  for (const Variable *state : counting.carried)
    if (needed.count(state)) {
      carried.push_back(counting.reads[state->path.symbol]);
      yielded.push_back(counting.nextOf(state));
    }
  main.lastRead = counting.lastRead;
  main.reads = counting.reads;
  main.limitConfigs.insert(counting.limitConfigs.begin(), counting.limitConfigs.end());
  currentEntry = &main;
  auto op = finishBody(main.function, opBuilder, place, recipe.accumulate, body, inputs, carried,
                       yielded);
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

  mlir::Block *body = makeBody(entry.function, opBuilder, whole, recipe.batch, place);
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
  warnUntrained(trained, share, forward.metrics);
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
  llvm::DenseMap<const Variable *, size_t> resultOf;
  for (const Variable *state : entry.carried) {
    resultOf[state] = yielded.size();
    yielded.push_back(entry.nextOf(state));
    carried.push_back(readAtTop(state->path.symbol, state->type, state->range));
  }
  auto op = finishBody(entry.function, opBuilder, place, recipe.accumulate, body, whole, carried,
                       yielded);
  entry.body = nullptr;
  entry.round = nullptr;
  for (auto &[state, after] : entry.nexts)
    after.value = op.getResult(resultOf.at(state));

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
