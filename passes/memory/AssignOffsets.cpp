//===- AssignOffsets.cpp - Places buffers in the arena --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs last, when the order of actions is final. How places are chosen is in Placement.h.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/memory/Placement.h"

namespace weir {
#define GEN_PASS_DEF_ASSIGNOFFSETS
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

int64_t aligned(int64_t bytes) { return llvm::alignTo(bytes, plan::alignment); }

class EntryLifetimes {
public:
  explicit EntryLifetimes(plan::EntryOp entry) {
    number(entry.getBody().front());
    for (auto port : entry.getOps<plan::PortOp>())
      use(port.getBuffer(),
          port.getKind() == plan::PortKind::input ? 0 : std::max<int64_t>(count - 1, 0), entry);
    entry.walk([&](Operation *action) {
      auto found = numbers.find(action);
      if (found == numbers.end())
        return;
      for (Value operand : action->getOperands())
        use(operand, found->second, action);
    });
  }

  /// Gives every buffer its lifetime, and those of scratch offsets from `base` on. Returns the
  /// arena's end.
  int64_t place(int64_t base) {
    SmallVector<Lifetime> all;
    SmallVector<plan::AllocOp> buffers;
    for (auto &[op, lifetime] : lifetimes) {
      auto buffer = cast<plan::AllocOp>(op);
      buffer.setFirst(lifetime.first);
      buffer.setLast(lifetime.last);
      if (buffer.getResult().getType().getSpace() != plan::Space::scratch)
        continue;
      all.push_back(lifetime);
      buffers.push_back(buffer);
    }
    Placement placement = placeBuffers(all, base);
    for (auto [buffer, offset] : llvm::zip_equal(buffers, placement.offsets))
      buffer.setOffset(offset);
    return placement.end;
  }

  /// Gives pinned buffers their offsets, one behind the other: the host may write the inputs of a
  /// run while it has not yet read the outputs of one before. Returns the end.
  int64_t placePinned() {
    int64_t end = 0;
    for (auto &[op, lifetime] : lifetimes)
      if (auto buffer = cast<plan::AllocOp>(op);
          buffer.getResult().getType().getSpace() == plan::Space::pinned) {
        buffer.setOffset(end);
        end += lifetime.size;
      }
    return end;
  }

private:
  void number(Block &block) {
    for (Operation &op : block) {
      if (!isa<plan::Action>(op))
        continue;
      numbers[&op] = count++;
      if (auto loop = dyn_cast<plan::LoopOp>(op)) {
        int64_t first = numbers[&op];
        number(loop.getBody().front());
        spans[loop] = {first, count - 1};
      }
    }
  }

  /// What is allocated outside a loop and used in it must last for all its rounds; of loops around
  /// one another, for those of the outermost that it was not allocated in.
  void use(Value value, int64_t at, Operation *user) {
    if (!isa<plan::BufferType>(value.getType()))
      return;
    auto buffer = dyn_cast<plan::AllocOp>(plan::placeOf(value).memory);
    if (!buffer)
      return;
    int64_t first = at, last = at;
    for (Operation *around = user; around != buffer->getParentOp() && around;
         around = around->getParentOp())
      if (auto span = spans.find(around); span != spans.end())
        std::tie(first, last) = span->second;
    int64_t size = aligned(buffer.getSize());
    Lifetime &lifetime = lifetimes.try_emplace(buffer, Lifetime{first, last, size}).first->second;
    lifetime.first = std::min(lifetime.first, first);
    lifetime.last = std::max(lifetime.last, last);
  }

  int64_t count = 0;
  llvm::DenseMap<Operation *, int64_t> numbers;
  llvm::DenseMap<Operation *, std::pair<int64_t, int64_t>> spans;
  llvm::MapVector<Operation *, Lifetime> lifetimes;
};

/// A buffer that no action uses, and parts of it.
void eraseWithParts(Operation *buffer) {
  for (Operation *part : llvm::make_early_inc_range(buffer->getUsers()))
    eraseWithParts(part);
  buffer->erase();
}

struct AssignOffsets : weir::impl::AssignOffsetsBase<AssignOffsets> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Builder builder(module.getContext());
    int64_t persistent = 0;
    for (auto variable : module.getOps<plan::VariableOp>()) {
      variable.setOffsetAttr(builder.getI64IntegerAttr(persistent));
      persistent += aligned(storageBytes(variable.getType()));
    }
    int64_t arena = persistent, pinned = 0;
    for (auto entry : module.getOps<plan::EntryOp>()) {
      SmallVector<Operation *> unused;
      EntryLifetimes lifetimes(entry);
      arena = std::max(arena, lifetimes.place(persistent));
      pinned = std::max(pinned, lifetimes.placePinned());
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
  }
};

} // namespace
