//===- Step.cpp - One step of training ------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/elaborate/Elaborator.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Gradient.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Yield.h"
#include "ir/weir/recipe/Recipe.h"

#include <set>

namespace weir::elab {

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
      const Variable *variable = read ? variables.find(read.getVariable().str()) : nullptr;
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
  if (trained.empty())
    return;
  std::vector<mlir::Value> sources;
  for (const Trained &one : trained)
    sources.push_back(
        readAtTop(one.parameter->path.symbol, one.parameter->type, one.parameter->range));
  auto gradient = GradientOp::create(opBuilder, location(range), loss, sources);
  for (size_t i = 0; i < trained.size(); ++i)
    trained[i].gradient = gradient.getGradients()[i];
}

mlir::Value Entry::nextOf(const Variable *state) const {
  auto next = nexts.find(state);
  return next != nexts.end() ? next->second.value : carriedValues.at(state);
}

/// The body of the recipe's microbatches: the round, then a batch of each input. Until it gets its
/// op it stands behind the entry's own block, whose ops may use its values after an error: the two
/// go together, with the module.
std::vector<mlir::Value> Elaborator::beginBatch(llvm::ArrayRef<mlir::Value> inputs, Range range) {
  auto *block = new mlir::Block();
  currentEntry->function.getBody().push_back(block);
  currentEntry->body = block;
  currentEntry->round = block->addArgument(tensors.type({}, tensors.i32()), location(range));
  std::vector<mlir::Value> slices;
  for (mlir::Value input : inputs) {
    if (!input) {
      slices.push_back(nullptr); // faulty
      continue;
    }
    llvm::SmallVector<int64_t> shape(shapeOf(input));
    shape[0] = recipe.batch;
    slices.push_back(block->addArgument(
        mlir::RankedTensorType::get(shape, tensorType(input).getElementType()), input.getLoc()));
  }
  opBuilder.setInsertionPointToEnd(block);
  return slices;
}

/// Ends the body and puts it into its op at the end of the entry's block. The sums are those over
/// all batches then, and the states' next values those after the last.
void Elaborator::endBatch(llvm::ArrayRef<mlir::Value> inputs, llvm::ArrayRef<mlir::Value *> sums,
                          Range range) {
  Entry &entry = *currentEntry;
  mlir::Location place = location(range);
  std::vector<mlir::Value> yielded, carried;
  for (mlir::Value *sum : sums)
    yielded.push_back(*sum);
  llvm::DenseMap<const Variable *, size_t> resultOf;
  for (const Variable *state : entry.carried) {
    resultOf[state] = yielded.size();
    yielded.push_back(entry.nextOf(state));
    carried.push_back(readAtTop(state->path.symbol, state->type, state->range));
  }
  YieldOp::create(opBuilder, place, yielded);
  opBuilder.setInsertionPointToEnd(&entry.function.getBody().front());
  std::vector<mlir::Type> types;
  for (mlir::Value value : yielded)
    types.push_back(value.getType());
  auto op = MicrobatchesOp::create(opBuilder, place, types, recipe.accumulate, inputs, carried);
  entry.body->moveBefore(&op.getBody(), op.getBody().end());
  entry.body = nullptr;
  entry.round = nullptr;
  for (auto [sum, result] : llvm::zip(sums, op.getResults()))
    *sum = result;
  for (auto &[state, after] : entry.nexts)
    after.value = op.getResult(resultOf.at(state));
}

/// Every sum of the ratio, and every count that is not known when compiling.
static void addParts(Ratio &ratio, std::vector<mlir::Value *> &parts) {
  for (RatioTerm &term : ratio.terms) {
    parts.push_back(&term.sum);
    if (term.count)
      parts.push_back(&term.count);
  }
}

void Elaborator::emitStep() {
  Entry entry;
  entry.kind = EntryKind::step;
  entry.training = true;
  std::vector<mlir::Value> inputs = beginEntry(entry, "step", recipe.batch * recipe.accumulate);
  Range range = recipe.loss ? recipe.loss->range : recipe.item->keyword;
  Forward forward = walkRecipe(beginBatch(inputs, range));
  std::vector<Trained> trained = rules.trainedParameters();
  if (entry.model)
    modelName = entry.model->name.text;
  std::vector<Output> outputs;
  if (forward.loss)
    checkCounts(*forward.loss);
  if (diagnostics.hasErrors()) {
    // What is left of the recipe is checked all the same.
    entry.body = nullptr;
    opBuilder.setInsertionPointToEnd(&entry.function.getBody().front());
    mlir::Value loss = tensors.scalar(0, range);
    takeGradients(trained, loss, range);
    emitUpdate(loss, trained, outputs);
    return endEntry(outputs);
  }

  Ratio &loss = *forward.loss;
  warnings.warnUntrained(trained, loss, forward.metrics);
  std::vector<mlir::Value *> parts;
  addParts(loss, parts);
  for (Metric &metric : forward.metrics)
    addParts(metric.value, parts);
  endBatch(inputs, parts, range);

  addTerms(outputs, "loss", loss, recipe.accumulate, range);
  std::vector<mlir::Value> sums, counts;
  std::vector<double> weights;
  for (const RatioTerm &term : loss.terms) {
    sums.push_back(term.sum);
    counts.push_back(term.count);
    weights.push_back(term.weight);
  }
  mlir::Value total = LossOp::create(opBuilder, location(range), tensors.type({}, tensors.f32()),
                                     weights, sums, counts);
  takeGradients(trained, total, range);
  for (Metric &metric : forward.metrics)
    addTerms(outputs, metric.name, metric.value, recipe.accumulate, metric.range);
  emitUpdate(total, trained, outputs);
  endEntry(outputs);
}

} // namespace weir::elab
