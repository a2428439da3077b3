//===- RowSpace.cpp - What a row kernel computes, and when ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "codegen/kernel/RowSpace.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/kernel/KernelStructure.h"
#include "ir/weir/reduction/Reduction.h"

using namespace mlir;

namespace weir {
namespace {

int64_t elementsOf(Value tensor) { return tensorType(tensor).getNumElements(); }

} // namespace

void RowSpace::classify(Block &body) {
  for (Operation &op : body.without_terminator()) {
    int stage = 0, level = 0;
    for (Value operand : op.getOperands()) {
      stage = std::max(stage, stageOf(operand));
      level = std::max(level, levelOf(operand));
    }
    if (auto reduce = dyn_cast<ReduceOp>(op); reduce && !reducesNothing(reduce)) {
      Value input = reduce.getInput();
      int64_t elements = elementsOf(input);
      ReducedElements axes = reducedElements(reduce);
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

RowSpace::RowSpace(KernelOp kernel)
    : rows(kernel.rows().getRows()), columns(kernel.rows().getColumns()),
      body(kernel.getBody().front()) {
  classify(body);
}

SmallVector<RowSpace::Output> RowSpace::outputsOf(int stage, Extent extent) const {
  SmallVector<Output> outputs;
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands()))
    if (extentOf(value) == extent && stageOf(value) == stage)
      outputs.push_back({unsigned(i), value, levelOf(value)});
  return outputs;
}

SmallVector<RowSpace::Output> RowSpace::afterwards(int stage, Extent extent) const {
  SmallVector<Output> outputs = outputsOf(stage + 1, extent);
  if (stage == 0)
    outputs.append(outputsOf(0, extent));
  return outputs;
}

SmallVector<Sum *> RowSpace::sumsOf(int stage) {
  SmallVector<Sum *> list;
  for (Sum &sum : sums)
    if (sum.stage == stage)
      list.push_back(&sum);
  return list;
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
