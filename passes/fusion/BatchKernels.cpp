//===- BatchKernels.cpp - Many small tensors in one launch ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// On a device with a launch overhead, launching a small kernel takes longer than running it.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/Collectives.h"
#include "ir/weir/Phase.h"
#include "ir/weir/Program.h"
#include "ir/weir/Shapes.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/kernel/KernelStructure.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Offload.h"
#include "ir/weir/program/Yield.h"
#include "ir/weir/transfer/Transfer.h"
#include "mlir/IR/IRMapping.h"
#include "passes/PassTarget.h"
#include "passes/Passes.h"

namespace weir {
#define GEN_PASS_DEF_BATCHKERNELS
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

/// Bytes that may be kept a while longer.
constexpr int64_t smallBytes = 64 << 10;

/// What uses a value of this block, through aliases: by an op of the block itself.
template <typename Fn> bool everyUser(Value value, Fn &&fn) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (isAlias(user))
      return everyUser(user->getResult(0), fn);
    return fn(user);
  });
}

/// Whether other ranks are sent it, by itself or together with others: that goes on beside what is
/// computed, and begins as soon as it is made.
bool isSent(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isCollective(user) || isTransfer(user) ||
           ((isAlias(user) || isPacking(user)) && llvm::any_of(user->getResults(), isSent));
  });
}

/// Whether a kernel computes of or for variables that are the host's: those come and go one by one.
bool streams(KernelOp kernel, const llvm::StringSet<> &onHost) {
  auto isElsewhere = [&](Operation *user) {
    auto write = dyn_cast<WriteOp>(user);
    return !write || !onHost.contains(write.getVariable());
  };
  return llvm::any_of(kernel.getInputs(),
                      [](Value input) { return memoryOf(input).getDefiningOp<ReloadOp>(); }) ||
         !llvm::all_of(kernel.getResults(),
                       [&](Value result) { return everyUser(result, isElsewhere); });
}

/// The kernels of a block by structure, in order.
std::vector<SmallVector<KernelOp>> kernelsByStructure(Block &block,
                                                      const llvm::StringSet<> &onHost) {
  std::vector<SmallVector<KernelOp>> groups;
  llvm::DenseMap<Operation *, size_t, KernelStructure> known;
  for (auto kernel : block.getOps<KernelOp>()) {
    if (streams(kernel, onHost))
      continue;
    size_t group = known.try_emplace(kernel, groups.size()).first->second;
    if (group == groups.size())
      groups.emplace_back();
    groups[group].push_back(kernel);
  }
  return groups;
}

/// Whether a value is a variable's, under whatever shape. What shows it so is added to `ops`, each
/// behind what it reads.
bool isOfVariable(Value value, llvm::SetVector<Operation *> &ops) {
  Operation *op = value.getDefiningOp();
  bool is =
      isa_and_nonnull<ReadOp>(op) || (op && isAlias(op) && isOfVariable(op->getOperand(0), ops));
  if (is)
    ops.insert(op);
  return is;
}

class Batcher {
public:
  Batcher(Block &block, const llvm::StringSet<> &onHost, const Target &target)
      : block(block), onHost(onHost), target(target) {}

  void run() {
    for (SmallVector<KernelOp> &kernels : kernelsByStructure(block, onHost)) {
      size_t most = kernels.size() > 1 ? size_t(target.mostCopies(kernels.front())) : 1;
      if (most < 2)
        continue;
      ahead(kernels, most);
      back(kernels, most);
    }
  }

private:
  /// Joins those that are computed of variables alone with the first of them, and takes them from
  /// the list.
  void ahead(SmallVector<KernelOp> &kernels, size_t most) {
    SmallVector<KernelOp> some;
    for (KernelOp kernel : kernels)
      if (llvm::SetVector<Operation *> ops;
          llvm::all_of(kernel.getInputs(), [&](Value input) { return isOfVariable(input, ops); }))
        some.push_back(kernel);
    llvm::erase_if(kernels, [&](KernelOp kernel) { return llvm::is_contained(some, kernel); });
    for (ArrayRef<KernelOp> rest = some; rest.size() > 1;) {
      ArrayRef<KernelOp> batch = rest.take_front(most);
      rest = rest.drop_front(batch.size());
      llvm::SetVector<Operation *> ops;
      for (KernelOp kernel : batch)
        for (Value input : kernel.getInputs())
          (void)isOfVariable(input, ops);
      for (Operation *op : ops)
        if (op->getBlock() == &block && !op->isBeforeInBlock(batch.front()))
          op->moveBefore(batch.front());
      join(batch, batch.front());
    }
  }

  /// Joins others with the last of those that may wait for it.
  void back(ArrayRef<KernelOp> kernels, size_t most) {
    SmallVector<KernelOp> rest(kernels);
    while (rest.size() > 1) {
      KernelOp last = rest.pop_back_val();
      SmallVector<KernelOp> batch{last};
      for (KernelOp kernel : llvm::reverse(kernels))
        if (batch.size() < most && llvm::is_contained(rest, kernel) && mayWait(kernel, last))
          batch.push_back(kernel);
      if (batch.size() == 1)
        continue;
      llvm::erase_if(rest, [&](KernelOp kernel) { return llvm::is_contained(batch, kernel); });
      std::reverse(batch.begin(), batch.end());
      for (KernelOp kernel : ArrayRef(batch).drop_back())
        for (Value result : kernel.getResults())
          moveUsersBehind(result, last);
      join(batch, last);
    }
  }

  bool mayWait(KernelOp kernel, KernelOp last) {
    bool isWritten = true, isSmall = true;
    for (Value result : kernel.getResults()) {
      isSmall &= storageBytes(result.getType()) <= smallBytes;
      bool can = everyUser(result, [&](Operation *user) {
        if (isa<WriteOp>(user))
          return true;
        isWritten = false;
        Operation *here = block.findAncestorOpInBlock(*user);
        return here && last->isBeforeInBlock(here);
      });
      if (!can || isSent(result))
        return false;
    }
    return isWritten || (isSmall && llvm::all_of(kernel.getInputs(),
                                                 [&](Value input) { return isKept(input, last); }));
  }

  /// Whether a value is in memory still when `last` is computed, or might as well be.
  bool isKept(Value value, KernelOp last) {
    if (storageBytes(value.getType()) <= smallBytes)
      return true;
    while (Operation *op = value.getDefiningOp()) {
      if (isa<ReadOp>(op))
        return true;
      if (!isAlias(op))
        break;
      value = op->getOperand(0);
    }
    return !everyUser(value, [&](Operation *user) {
      Operation *here = block.findAncestorOpInBlock(*user);
      return here && here->isBeforeInBlock(last);
    });
  }

  /// Writes and aliases that stand before the op they are to wait for.
  void moveUsersBehind(Value value, Operation *last) {
    for (Operation *user : llvm::make_early_inc_range(value.getUsers())) {
      if (isAlias(user))
        moveUsersBehind(user->getResult(0), last);
      if (user->getBlock() == &block && user->isBeforeInBlock(last))
        user->moveAfter(last);
    }
  }

  /// One kernel for all, where `at` is.
  void join(ArrayRef<KernelOp> kernels, KernelOp at) {
    SmallVector<Value> inputs;
    SmallVector<Type> types;
    SmallVector<Attribute> phases;
    for (KernelOp kernel : kernels) {
      llvm::append_range(inputs, kernel.getInputs());
      llvm::append_range(types, kernel->getResultTypes());
      if (auto own = kernel->getAttrOfType<ArrayAttr>(resultPhasesAttrName))
        llvm::append_range(phases, own);
    }
    OpBuilder builder(at);
    auto joined = KernelOp::create(builder, at.getLoc(), types, at.getShape(), at.getDomainAttr(),
                                   inputs, int64_t(kernels.size()));
    if (phases.size() == types.size())
      joined->setAttr(resultPhasesAttrName, builder.getArrayAttr(phases));
    Block *body = builder.createBlock(&joined.getBody());
    SmallVector<Value> yielded;
    size_t result = 0;
    for (KernelOp kernel : kernels) {
      Block &own = kernel.getBody().front();
      IRMapping mapping;
      for (BlockArgument argument : own.getArguments())
        mapping.map(argument, body->addArgument(argument.getType(), argument.getLoc()));
      for (Operation &op : own.without_terminator())
        builder.clone(op, mapping);
      for (Value value : own.getTerminator()->getOperands())
        yielded.push_back(mapping.lookup(value));
    }
    YieldOp::create(builder, joined.getLoc(), yielded);
    for (KernelOp kernel : kernels)
      for (Value old : kernel.getResults())
        old.replaceAllUsesWith(joined.getResult(result++));
    for (KernelOp kernel : kernels)
      kernel.erase();
  }

  Block &block;
  const llvm::StringSet<> &onHost;
  const Target &target;
};

struct BatchKernels : weir::impl::BatchKernelsBase<BatchKernels> {
  BatchKernels() = default;
  explicit BatchKernels(BatchKernelsOptions options) : BatchKernelsBase(options) {}
  explicit BatchKernels(std::shared_ptr<Target> target) : made(std::move(target)) {}

  LogicalResult initialize(MLIRContext *context) override { return made.make(context, target); }

  void runOnOperation() override {
    llvm::StringSet<> onHost = variablesOnHost(getOperation());
    SmallVector<Block *> blocks;
    getOperation().walk([&](MicrobatchesOp op) { blocks.push_back(&op.getBody().front()); });
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      blocks.push_back(&function.front());
    for (Block *block : blocks)
      Batcher(*block, onHost, *made).run();
  }

  PassTarget made;
};

} // namespace

std::unique_ptr<Pass> weir::createBatchKernels(std::shared_ptr<Target> target) {
  return std::make_unique<BatchKernels>(std::move(target));
}
