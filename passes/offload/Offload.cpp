//===- Offload.cpp - Offloads variables to the host's memory --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs after every pass that merges equal ops, and before the pass that batches kernels. Each
// kernel that uses an offloaded variable gets a copy of its own, fetched right before it, and a new
// value goes to the host as soon as it is computed. So the device holds only the offloaded
// variables that a kernel currently uses. passes/memory/OverlapTransfers.cpp later overlaps
// transfers with kernels as far as the memory allows.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/program/Offload.h"
#include "ir/weir/Program.h"
#include "ir/weir/Strategy.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Variable.h"
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "passes/buffers/BufferRules.h"

namespace weir {
#define GEN_PASS_DEF_OFFLOAD
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

/// Streams the offloaded variables of one entry.
class Streamer {
public:
  Streamer(func::FuncOp entry, const llvm::StringSet<> &onHost) : entry(entry), onHost(onHost) {}

  void run() {
    SmallVector<ReadOp> reads;
    entry.walk([&](ReadOp read) {
      if (onHost.contains(read.getVariable()))
        reads.push_back(read);
    });
    for (ReadOp read : reads)
      stream(read);
    for (WriteOp write : llvm::to_vector(entry.getOps<WriteOp>()))
      if (onHost.contains(write.getVariable()))
        hasten(write);
  }

private:
  static void collect(Value value, SmallVectorImpl<OpOperand *> &uses) {
    for (OpOperand &use : value.getUses()) {
      if (isAlias(use.getOwner()))
        collect(use.getOwner()->getResult(0), uses);
      else
        uses.push_back(&use);
    }
  }

  /// The top-level op of the entry that contains the use.
  Operation *placeOf(OpOperand *use) {
    return entry.front().findAncestorOpInBlock(*use->getOwner());
  }

  /// Whether no op between two ops of a block computes.
  static bool areNeighbours(Operation *first, Operation *second) {
    for (Operation *op = first->getNextNode(); op && op != second; op = op->getNextNode())
      if (isa<KernelOp, MicrobatchesOp>(op))
        return false;
    return true;
  }

  void stream(ReadOp read) {
    SmallVector<OpOperand *> uses;
    collect(read.getResult(), uses);
    llvm::stable_sort(uses, [&](OpOperand *a, OpOperand *b) {
      Operation *one = placeOf(a), *other = placeOf(b);
      if (one == other) // both in the microbatches of one op
        return a->getOwner()->getBlock() == b->getOwner()->getBlock() &&
               a->getOwner() != b->getOwner() && a->getOwner()->isBeforeInBlock(b->getOwner());
      return one->isBeforeInBlock(other);
    });
    Operation *last = nullptr;
    ReloadOp reloaded;
    llvm::DenseMap<Value, Value> shown; ///< of what is reloaded, by what the read is shown as
    SmallVector<Operation *> aliases;
    for (OpOperand *use : uses) {
      Operation *user = use->getOwner();
      OpBuilder builder(user);
      bool isNear = last && last->getBlock() == user->getBlock() && areNeighbours(last, user);
      if (last != user && !isNear) {
        reloaded = ReloadOp::create(builder, read.getLoc(), read.getResult());
        reloads[read.getVariable()].push_back(reloaded);
        shown.clear();
      }
      last = user;
      use->set(shownAs(builder, use->get(), read.getResult(), reloaded.getResult(), shown));
    }
    eraseUnusedAliases(read.getResult());
  }

  /// What is reloaded in the shape of `value`, which shows the read.
  static Value shownAs(OpBuilder &builder, Value value, Value read, Value reloaded,
                       llvm::DenseMap<Value, Value> &shown) {
    if (value == read)
      return reloaded;
    if (Value known = shown.lookup(value))
      return known;
    Operation *alias = value.getDefiningOp();
    Value below = shownAs(builder, alias->getOperand(0), read, reloaded, shown);
    Operation *copy = builder.clone(*alias);
    copy->setOperand(0, below);
    return shown[value] = copy->getResult(0);
  }

  static void eraseUnusedAliases(Value value) {
    for (Operation *user : llvm::make_early_inc_range(value.getUsers()))
      if (isAlias(user)) {
        eraseUnusedAliases(user->getResult(0));
        if (user->use_empty())
          user->erase();
      }
  }

  /// To where the value is made, and all that want the old one have reloaded it.
  void hasten(WriteOp write) {
    assert(!write.getCondition() && "the recipe's passes are done");
    Block &block = entry.front();
    Operation *last = write.getValue().getDefiningOp();
    for (ReloadOp reload : reloads[write.getVariable()]) {
      Operation *here = block.findAncestorOpInBlock(*reload);
      if (!last || last->isBeforeInBlock(here))
        last = here;
    }
    if (last)
      write->moveAfter(last);
    else
      write->moveBefore(&block.front());
  }

  func::FuncOp entry;
  const llvm::StringSet<> &onHost;
  llvm::StringMap<SmallVector<ReloadOp>> reloads; ///< by variable
};

struct OffloadVariables : weir::impl::OffloadBase<OffloadVariables> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    what = strategyOf(module).offload->variables;
    for (auto variable : module.getOps<VariableOp>())
      if (mayGo(variable))
        variable.setHost(true);
    llvm::StringSet<> onHost = variablesOnHost(module);
    if (onHost.empty())
      return markAllAnalysesPreserved();
    for (auto entry : module.getOps<func::FuncOp>())
      Streamer(entry, onHost).run();
  }

private:
  bool mayGo(VariableOp variable) {
    if (variable.getHost())
      return true;
    if (what == OffloadedVariables::none || storageBytes(variable.getType()) < smallestOffloaded)
      return false;
    return variable.getRole() == Role::optimizer ||
           (what == OffloadedVariables::parameters && variable.getRole() == Role::parameter);
  }

  OffloadedVariables what = OffloadedVariables::none;
};

} // namespace
