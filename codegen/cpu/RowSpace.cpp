//===- RowSpace.cpp - What a row kernel computes, and when ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/RowSpace.h"

using namespace mlir;

namespace weir {
namespace {

int64_t elementsOf(Value tensor) { return tensorType(tensor).getNumElements(); }

/// The elements along a reduction's axes, where these come first or last; 0 where they do neither.
struct Axes {
  int64_t leading = 0, trailing = 0;
};

Axes axesOf(ReduceOp op) {
  ArrayRef<int64_t> axes = op.getAxes(), shape = shapeOf(op.getInput());
  int64_t count = 1;
  // Axes of size 1 may be left out or put in at will.
  int64_t first = shape.size(), last = -1;
  for (int64_t axis : axes) {
    count *= shape[axis];
    if (shape[axis] > 1) {
      first = std::min(first, axis);
      last = std::max(last, axis);
    }
  }
  Axes result;
  int64_t suffix = 1, prefix = 1;
  for (size_t i = first; i < shape.size(); ++i)
    suffix *= shape[i];
  for (int64_t i = 0; i <= last; ++i)
    prefix *= shape[i];
  if (suffix == count)
    result.trailing = count;
  if (prefix == count)
    result.leading = count;
  return result;
}

/// Columns for a kernel that only reduces whole tensors: any cut will do, rows of a thousand
/// elements are good ones.
int64_t columnsOfWhole(int64_t elements) {
  if (elements <= 2048)
    return elements;
  for (int64_t columns = 1024; columns <= 8192; columns += 64)
    if (elements % columns == 0)
      return columns;
  for (int64_t columns = 2048; columns >= 128; --columns)
    if (elements % columns == 0)
      return columns;
  return elements;
}

} // namespace

bool RowSpace::findExtents(Block &body) {
  int64_t largest = 0, whole = 0;
  Value wholeInput;
  for (auto op : body.getOps<ReduceOp>()) {
    int64_t elements = elementsOf(op.getInput());
    Axes axes = axesOf(op);
    bool all = elementsOf(op.getResult()) == 1;
    if (all && elements > whole) {
      whole = elements;
      wholeInput = op.getInput();
    }
    if (all || elements <= largest || (!axes.leading && !axes.trailing))
      continue;
    largest = elements;
    columns = axes.trailing ? axes.trailing : elements / axes.leading;
    rows = elements / columns;
  }
  if (whole > largest) {
    // Nothing but whole tensors are reduced, unless smaller ones are in parts: those must be parts
    // of the whole.
    columns = largest && whole % largest == 0 ? columns : columnsOfWhole(whole);
    rows = whole / columns;
    // A broadcast along the last dimension should not be cut in the middle.
    if (!largest && !shapeOf(wholeInput).empty()) {
      int64_t suffix = 1, best = 0;
      for (int64_t size : llvm::reverse(shapeOf(wholeInput))) {
        suffix *= size;
        if (suffix <= 8192 && suffix >= 64)
          best = suffix;
      }
      if (best) {
        columns = best;
        rows = whole / columns;
      }
    }
  }
  return largest || whole;
}

void RowSpace::classify(Block &body) {
  for (Operation &op : body.without_terminator()) {
    int stage = 0, level = 0;
    for (Value operand : op.getOperands()) {
      stage = std::max(stage, stageOf(operand));
      level = std::max(level, levelOf(operand));
    }
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      Value input = reduce.getInput();
      int64_t elements = elementsOf(input);
      Axes axes = axesOf(reduce);
      bool all = elementsOf(reduce.getResult()) == 1;
      std::optional<Sum::Kind> kind;
      if (elements == rows * columns && axes.trailing == columns) {
        rowReductions.insert(reduce);
        ++level;
      } else if (elements == rows * columns && all) {
        rowReductions.insert(reduce);
        kind = Sum::total;
      } else if (elements == rows * columns && axes.leading == rows) {
        kind = Sum::perColumn;
      } else if (elements == rows && all && rows > 1) {
        kind = Sum::perRow;
      }
      if (kind) {
        sums.push_back({reduce, *kind, *kind == Sum::perColumn ? columns : 1, stage, level});
        sumResults.insert(reduce.getResult());
        ++stage;
        level = 0;
      }
    }
    for (Value result : op.getResults()) {
      stages[result] = stage;
      levels[result] = level;
    }
    lastStage = std::max(lastStage, stage);
  }
}

FailureOr<RowSpace> RowSpace::analyze(KernelOp kernel) {
  RowSpace space;
  Block &body = kernel.getBody().front();
  if (!space.findExtents(body)) {
    // Nothing is reduced: the largest result's last dimension makes the columns.
    Value largest = body.getTerminator()->getOperand(0);
    for (Value result : body.getTerminator()->getOperands())
      if (elementsOf(result) > elementsOf(largest))
        largest = result;
    space.columns = shapeOf(largest).empty() ? 1 : shapeOf(largest).back();
    space.rows = elementsOf(largest) / space.columns;
  }
  space.classify(body);
  for (Value result : body.getTerminator()->getOperands()) {
    int64_t elements = elementsOf(result);
    if (elements != 1 && elements != space.rows && elements != space.columns &&
        elements != space.rows * space.columns)
      return kernel.emitError("a row kernel of ")
             << space.rows << " rows and " << space.columns
             << " columns cannot have a result of type " << result.getType();
  }
  return space;
}

Extent RowSpace::extentOf(Value result) const {
  if (sumResults.contains(result))
    return Extent::sum;
  int64_t elements = elementsOf(result);
  if (elements == 1 && rows > 1)
    return Extent::scalar;
  if (elements == 1)
    return columns == 1 && levelOf(result) == 0 ? Extent::full : Extent::row;
  if (elements == rows * columns)
    return Extent::full;
  bool asColumn = elements == columns && levelOf(result) == 0 && stageOf(result) > 0;
  return elements == rows && !asColumn ? Extent::row : Extent::column;
}

llvm::SetVector<Operation *> RowSpace::rowReductionsFor(ArrayRef<Value> outputs) const {
  llvm::SetVector<Operation *> needed, seen;
  SmallVector<Value> worklist(outputs);
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op))
      continue;
    if (rowReductions.contains(op))
      needed.insert(op);
    for (Value operand : op->getOperands())
      if (!sumResults.contains(operand))
        worklist.push_back(operand);
  }
  return needed;
}

} // namespace weir
