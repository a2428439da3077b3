//===- Dependences.cpp - Dependences between actions ----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/collectives/Dependences.h"
#include "ir/plan/PlanOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace weir {
namespace {

using Memory = Dependences::Memory;

Memory memoryBehind(Value buffer) {
  Operation *memory = plan::placeOf(buffer).memory;
  if (auto use = dyn_cast<plan::UseOp>(memory))
    return use.getVariableAttr().getAsOpaquePointer();
  return memory;
}

bool isPort(plan::AllocOp memory) {
  return llvm::any_of(memory.getResult().getUsers(), llvm::IsaPred<plan::PortOp>);
}

/// Calls `visit` for each memory that an action, or one in its loop, accesses.
template <class Visit>
void eachTouched(Operation *around, SymbolTableCollection &symbols, Visit visit) {
  around->walk([&](plan::Action action) {
    SmallVector<Value> operands;
    llvm::copy_if(action->getOperands(), std::back_inserter(operands),
                  [](Value operand) { return isa<plan::BufferType>(operand.getType()); });
    for (auto [operand, footprint] : llvm::zip_equal(operands, action.footprints(symbols)))
      visit(operand, footprint.mode != spec::Mode::read);
  });
}

/// Values that actions before a loop computed from the host's data: each round of the loop may read
/// another part of them, and values that follow from them depend on no variable.
llvm::DenseSet<Memory> ofHostBefore(plan::LoopOp loop) {
  SymbolTableCollection symbols;
  llvm::DenseSet<Memory> found;
  for (auto action : loop->getBlock()->getOps<plan::Action>()) {
    if (action == loop.getOperation())
      break;
    bool reads = false;
    eachTouched(action, symbols, [&](Value buffer, bool writes) {
      auto alloc = dyn_cast<plan::AllocOp>(plan::placeOf(buffer).memory);
      reads |= !writes && (found.contains(memoryBehind(buffer)) || (alloc && isPort(alloc)));
    });
    if (reads)
      eachTouched(action, symbols, [&](Value buffer, bool writes) {
        if (writes)
          found.insert(memoryBehind(buffer));
      });
  }
  return found;
}

/// The last writer of a memory, and its readers since.
struct Touched {
  std::optional<unsigned> writer;
  SmallVector<unsigned, 4> readers;
};

} // namespace

Dependences::Dependences(Block &block) {
  SymbolTableCollection symbols;
  llvm::DenseMap<Memory, Touched> last;
  std::optional<unsigned> fence; // the last wait of queue 0, or another action that does not move
  SmallVector<unsigned> sinceFence; // all actions after it
  llvm::DenseSet<Memory> written, ofHost;
  if (auto loop = dyn_cast<plan::LoopOp>(block.getParentOp()))
    ofHost = ofHostBefore(loop);
  for (auto action : block.getOps<plan::Action>())
    eachTouched(action, symbols, [&](Value buffer, bool writes) {
      if (writes)
        written.insert(memoryBehind(buffer));
    });
  for (auto action : block.getOps<plan::Action>()) {
    Operation *op = action;
    unsigned number = nodes.size();
    Node node{op, {}, {}};
    op->walk([&](plan::CollectiveOp) { node.hasCollectives = true; });
    llvm::MapVector<Memory, bool> touches; // with whether it is written
    eachTouched(op, symbols, [&](Value buffer, bool writes) {
      Memory memory = memoryBehind(buffer);
      touches[memory] |= writes;
      auto alloc = dyn_cast<plan::AllocOp>(plan::placeOf(buffer).memory);
      if (!alloc)
        return;
      bool isOwn = alloc->getBlock() == &block;
      if (isOwn && !isPort(alloc) && alloc.getResult().getType().getSpace() == plan::Space::scratch)
        sizes[memory] = llvm::alignTo(alloc.getSize(), plan::alignment);
      // The operands of a loop are data of the host, carried values, and invariants.
      if (isPort(alloc) || ofHost.contains(memory) ||
          (!isOwn && written.contains(memory) && !op->isAncestor(alloc)))
        node.ofVariables = false;
    });
    llvm::SmallSetVector<unsigned, 8> behind;
    for (auto [memory, writes] : touches) {
      node.touches.push_back(memory);
      if (sizes.contains(memory))
        ++touched[memory];
      Touched &known = last[memory];
      if (known.writer)
        behind.insert(*known.writer);
      if (writes) {
        behind.insert(known.readers.begin(), known.readers.end());
        known = {number, {}};
      } else {
        known.readers.push_back(number);
      }
    }
    for (unsigned before : behind)
      node.ofVariables &= nodes[before].ofVariables;
    bool stays = action.getQueue() != 0 || isa<plan::RecordOp, plan::WaitOp>(op);
    if (fence)
      behind.insert(*fence);
    if (stays) {
      behind.insert(sinceFence.begin(), sinceFence.end());
      sinceFence.clear();
      fence = number;
    } else {
      sinceFence.push_back(number);
    }
    node.behind.assign(behind.begin(), behind.end());
    llvm::sort(node.behind);
    nodes.push_back(std::move(node));
  }
}

} // namespace weir
