//===- AssignOffsets.cpp - Places buffers in the arena --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs last, when the order of actions is final. Finding the least arena is NP-hard; largest-first,
// best-fit is the usual good answer (Pisarchyk and Lee, "Efficient memory management for deep
// neural net inference", 2020, greedy by size).
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

namespace weir {
#define GEN_PASS_DEF_ASSIGNOFFSETS
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

int64_t aligned(int64_t bytes) { return llvm::alignTo(bytes, plan::alignment); }

/// When a buffer is alive, in numbers of actions, and where it lies once placed.
struct Lifetime {
  plan::AllocOp buffer;
  int64_t first = INT64_MAX;
  int64_t last = -1;
  int64_t offset = -1;

  bool meets(const Lifetime &other) const { return first <= other.last && other.first <= last; }
  int64_t size() const { return aligned(plan::AllocOp(buffer).getSize()); }
};

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

  /// Lowest first offset that is free while each is alive; the largest are placed first.
  int64_t place(int64_t base) {
    SmallVector<Lifetime *> order;
    for (auto &[op, lifetime] : lifetimes)
      order.push_back(&lifetime);
    llvm::stable_sort(order, [](const Lifetime *a, const Lifetime *b) {
      return a->size() != b->size() ? a->size() > b->size() : a->first < b->first;
    });
    int64_t end = base;
    SmallVector<Lifetime *> placed;
    for (Lifetime *lifetime : order) {
      SmallVector<Lifetime *> around;
      for (Lifetime *other : placed)
        if (other->meets(*lifetime))
          around.push_back(other);
      llvm::sort(around,
                 [](const Lifetime *a, const Lifetime *b) { return a->offset < b->offset; });
      int64_t at = base, best = -1, bestGap = INT64_MAX;
      for (Lifetime *other : around) {
        int64_t gap = other->offset - at;
        if (gap >= lifetime->size() && gap < bestGap) {
          best = at;
          bestGap = gap;
        }
        at = std::max(at, other->offset + other->size());
      }
      lifetime->offset = best >= 0 ? best : at;
      placed.push_back(lifetime);
      end = std::max(end, lifetime->offset + lifetime->size());
    }
    for (Lifetime *lifetime : order) {
      Builder builder(lifetime->buffer.getContext());
      lifetime->buffer.setOffsetAttr(builder.getI64IntegerAttr(lifetime->offset));
      lifetime->buffer.setFirstAttr(builder.getI64IntegerAttr(lifetime->first));
      lifetime->buffer.setLastAttr(builder.getI64IntegerAttr(lifetime->last));
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
    Lifetime &lifetime = lifetimes[buffer];
    lifetime.buffer = buffer;
    lifetime.first = std::min(lifetime.first, first);
    lifetime.last = std::max(lifetime.last, last);
  }

  int64_t count = 0;
  llvm::DenseMap<Operation *, int64_t> numbers;
  llvm::DenseMap<Operation *, std::pair<int64_t, int64_t>> spans;
  llvm::MapVector<Operation *, Lifetime> lifetimes;
};

struct AssignOffsets : weir::impl::AssignOffsetsBase<AssignOffsets> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Builder builder(module.getContext());
    int64_t persistent = 0;
    for (auto variable : module.getOps<plan::VariableOp>()) {
      variable.setOffsetAttr(builder.getI64IntegerAttr(persistent));
      persistent += aligned(storageBytes(variable.getType()));
    }
    int64_t arena = persistent;
    for (auto entry : module.getOps<plan::EntryOp>()) {
      SmallVector<Operation *> unused;
      arena = std::max(arena, EntryLifetimes(entry).place(persistent));
      entry.walk([&](plan::AllocOp buffer) {
        if (!buffer.getOffset())
          unused.push_back(buffer);
      });
      for (Operation *op : unused)
        op->erase();
    }
    module->setAttr("plan.persistent", builder.getI64IntegerAttr(persistent));
    module->setAttr("plan.arena", builder.getI64IntegerAttr(arena));
  }
};

} // namespace
