//===- Domain.cpp - The iteration domain of a kernel ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/fusion/Domain.h"
#include "ir/weir/Strategy.h"
#include "ir/weir/elementwise/Binary.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/kernel/KernelStructure.h"
#include "ir/weir/reduction/Reduction.h"
#include "ir/weir/structure/Structure.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/fusion/Groups.h"
#include "support/mesh/RankPlacement.h"

using namespace mlir;

namespace weir {
namespace {

int64_t elementsOf(Value tensor) { return tensorType(tensor).getNumElements(); }

/// Columns where whole tensors alone are reduced: any cut will do. A broadcast along the last
/// dimensions should not be cut in the middle; else, rows of a thousand elements are good ones.
int64_t columnsOfWhole(ArrayRef<int64_t> shape) {
  int64_t suffix = 1, best = 0;
  for (int64_t size : llvm::reverse(shape)) {
    suffix *= size;
    if (suffix <= 8192 && suffix >= 64)
      best = suffix;
  }
  int64_t elements = suffix;
  if (best || elements <= 2048)
    return best ? best : elements;
  for (int64_t columns = 1024; columns <= 8192; columns += 64)
    if (elements % columns == 0)
      return columns;
  for (int64_t columns = 2048; columns >= 128; --columns)
    if (elements % columns == 0)
      return columns;
  return elements;
}

/// The largest tensor that is reduced in part says what a row is; where none is, the largest that
/// is reduced as a whole; where nothing is reduced at all, the largest result.
RowsAttr rowsOf(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  Value partial, whole;
  int64_t columns = 0;
  bool keepsColumns = strategyOf(kernel->getParentOfType<ModuleOp>()).hosts.axes.empty();
  auto isLarger = [](Value value, Value than) {
    return !than || elementsOf(value) > elementsOf(than);
  };
  auto reduces = [&](Value input, bool isWhole, int64_t itsColumns) {
    if (isWhole && isLarger(input, whole))
      whole = input;
    if (isWhole || !itsColumns || !isLarger(input, partial))
      return;
    partial = input;
    columns = itsColumns;
  };
  for (Operation &op : body.without_terminator()) {
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      ReducedElements axes = reducedElements(reduce);
      Value input = reduce.getInput();
      if (reducesNothing(reduce))
        continue; // and says nothing of rows
      keepsColumns |= reduce.reductionSplit() && reduce.reductionSplit()->alongRow;
      reduces(input, elementsOf(reduce.getResult()) == 1,
              axes.trailing  ? axes.trailing
              : axes.leading ? elementsOf(input) / axes.leading
                             : 0);
    } else if (auto split = reductionSplit(&op)) {
      Value input = op.getOperand(0);
      int64_t width = shapeOf(input).empty() ? 1 : shapeOf(input).back();
      keepsColumns = true;
      reduces(input, elementsOf(input) == width, width);
    }
  }
  if (!partial && !whole) {
    Value largest;
    for (Value result : body.getTerminator()->getOperands())
      if (isLarger(result, largest))
        largest = result;
    whole = largest;
    columns = shapeOf(largest).empty() ? 1 : shapeOf(largest).back();
  } else if (whole && isLarger(whole, partial)) {
    // Smaller tensors that are reduced in part must be parts of the whole.
    if (!partial || elementsOf(whole) % elementsOf(partial) != 0)
      // What ranks have of one number has the bits of what they have of several, which are columns.
      columns = !keepsColumns && elementsOf(whole) <= deterministicRanks
                    ? 1
                    : columnsOfWhole(shapeOf(whole));
  } else {
    whole = partial;
  }
  return RowsAttr::get(kernel.getContext(), elementsOf(whole) / columns, columns);
}

/// A product's group has been given its neighbours (Epilogues.h): a bias, and what relu compares
/// with.
EpilogueAttr epilogueOf(KernelOp kernel) {
  std::optional<int64_t> bias;
  bool relu = false;
  for (Operation &op : kernel.getBody().front()) {
    auto isScaled = [](Operation *user) { return isa<MulOp>(user); };
    if (auto broadcast = dyn_cast<BroadcastOp>(op);
        broadcast && llvm::none_of(broadcast->getUsers(), isScaled))
      if (auto vector = dyn_cast<BlockArgument>(broadcast.getInput()))
        bias = vector.getArgNumber();
    relu |= isa<MaxOp>(op);
  }
  return EpilogueAttr::get(kernel.getContext(), bias, relu);
}

} // namespace

Attribute domainOf(KernelOp kernel) {
  switch (kernel.getShape()) {
  case KernelShape::row:
    return rowsOf(kernel);
  case KernelShape::product:
    return epilogueOf(kernel);
  default:
    return {};
  }
}

} // namespace weir
