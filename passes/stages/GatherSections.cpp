//===- GatherSections.cpp - Moves the sections of microbatches together ---===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/stages/GatherSections.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/transfer/Transfer.h"

using namespace mlir;

namespace weir {

SmallVector<MicrobatchesOp> sectionsIn(Block &block) {
  SmallVector<MicrobatchesOp> sections;
  for (auto loop : block.getOps<MicrobatchesOp>())
    if (loop->hasAttr(orderAttrName))
      sections.push_back(loop);
  return sections;
}

SmallVector<MicrobatchesOp> gatherSections(Block &block) {
  SmallVector<MicrobatchesOp> sections = sectionsIn(block);
  if (sections.empty())
    return sections;
  llvm::DenseSet<Operation *> behind(sections.begin(), sections.end());
  SmallVector<Operation *> later;
  Operation *end = sections.back()->getNextNode();
  for (Operation *op = sections.front(); op != end; op = op->getNextNode()) {
    bool reads = false;
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *maker = operand.getDefiningOp())
          reads |= behind.contains(maker);
    });
    if (behind.contains(op) || !reads)
      continue;
    behind.insert(op);
    later.push_back(op);
  }
  for (Operation *op : later)
    op->moveBefore(end);
  Operation *first = sections.front();
  llvm::DenseSet<Operation *> all(sections.begin(), sections.end());
  for (Operation *op = first->getNextNode(); op != (later.empty() ? end : later.front());) {
    Operation *next = op->getNextNode();
    if (!all.contains(op))
      op->moveBefore(first);
    op = next;
  }
  return sections;
}

} // namespace weir
