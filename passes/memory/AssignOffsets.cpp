//===- AssignOffsets.cpp - Assigns buffers to offsets in the arena --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs last, when the order of actions is final. Placement.h has the algorithm.
//
//===----------------------------------------------------------------------===//

#include "ir/plan/PlanOps.h"
#include "passes/Passes.h"
#include "passes/memory/EntryLifetimes.h"

namespace weir {
#define GEN_PASS_DEF_ASSIGNOFFSETS
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

/// Sets the lifetimes of the buffers of a space and, from `base` on, their offsets. Returns the
/// end.
int64_t assign(const EntryLifetimes &lifetimes, plan::Space space, int64_t base) {
  Placement placement = lifetimes.place(space, base);
  size_t next = 0;
  for (auto &[op, lifetime] : lifetimes.all()) {
    auto buffer = cast<plan::AllocOp>(op);
    if (buffer.getResult().getType().getSpace() != space)
      continue;
    buffer.setFirst(lifetime.first);
    buffer.setLast(lifetime.last);
    buffer.setOffset(placement.offsets[next++]);
  }
  return placement.end;
}

/// The same for pinned memory, without reuse: the host may write the inputs of a run before it has
/// read the outputs of the previous one.
int64_t assignPinned(const EntryLifetimes &lifetimes) {
  int64_t end = 0;
  for (auto &[op, lifetime] : lifetimes.all())
    if (auto buffer = cast<plan::AllocOp>(op);
        buffer.getResult().getType().getSpace() == plan::Space::pinned) {
      buffer.setFirst(lifetime.first);
      buffer.setLast(lifetime.last);
      buffer.setOffset(end);
      end += lifetime.size;
    }
  return end;
}

/// An unused buffer, and views of it.
void eraseWithParts(Operation *buffer) {
  for (Operation *part : llvm::make_early_inc_range(buffer->getUsers()))
    eraseWithParts(part);
  buffer->erase();
}

struct AssignOffsets : weir::impl::AssignOffsetsBase<AssignOffsets> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Builder builder(module.getContext());
    int64_t persistent = 0, onHost = 0;
    for (auto variable : module.getOps<plan::VariableOp>()) {
      int64_t &end = variable.getHost() ? onHost : persistent;
      variable.setOffset(end);
      end += alignedBytes(storageBytes(variable.getType()));
    }
    int64_t arena = persistent, pinned = 0, host = onHost;
    for (auto entry : module.getOps<plan::EntryOp>()) {
      SmallVector<Operation *> unused;
      EntryLifetimes lifetimes(entry);
      arena = std::max(arena, assign(lifetimes, plan::Space::scratch, persistent));
      host = std::max(host, assign(lifetimes, plan::Space::host, onHost));
      pinned = std::max(pinned, assignPinned(lifetimes));
      entry.walk([&](plan::AllocOp buffer) {
        if (!buffer.getOffset())
          unused.push_back(buffer);
      });
      llvm::for_each(unused, eraseWithParts);
    }
    module->setAttr(plan::persistentAttrName, builder.getI64IntegerAttr(persistent));
    module->setAttr(plan::arenaAttrName, builder.getI64IntegerAttr(arena));
    if (pinned)
      module->setAttr(plan::pinnedAttrName, builder.getI64IntegerAttr(pinned));
    if (host)
      module->setAttr(plan::hostAttrName, builder.getI64IntegerAttr(host));
  }
};

} // namespace
