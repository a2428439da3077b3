//===- Regather.cpp - Parameters that the backward pass gathers again -----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/remat/Regather.h"
#include "ir/weir/Names.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace weir::remat {

AllGatherOp gatheredAgain(AllGatherOp first, Block &block) {
  if (first.getAgain() || !first->getParentOfType<ModuleOp>()->hasAttr(equalShardsAttrName))
    return {};
  for (Operation *user : first.getInput().getUsers())
    if (auto other = dyn_cast<AllGatherOp>(user);
        other && other.getAgain() && other->getBlock() == &block &&
        other.getAxis() == first.getAxis() && other.getRows() == first.getRows())
      return other;
  return {};
}

void findRegathered(EntryStep &entry) {
  for (Operation *maker : entry.makers)
    if (auto first = dyn_cast_or_null<AllGatherOp>(maker))
      if (AllGatherOp again = gatheredAgain(first, *first->getBlock()))
        entry.step.tensors[entry.tensorOf.at(first.getResult())].regathered =
            entry.tensorOf.at(again.getResult());
}

} // namespace weir::remat
