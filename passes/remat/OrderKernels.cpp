//===- OrderKernels.cpp - Orders kernels to reduce the peak ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel that allocates more than it frees moves down to the first kernel that reads it, and a
// kernel that frees more than it allocates runs as early as possible. Only the peak shows what such
// a move is worth. So the pass takes a new order only if the entry needs less memory with it.
// Order.h has a lower bound for any order.
//
//===----------------------------------------------------------------------===//

#include "ir/weir/OpOrder.h"
#include "ir/weir/Program.h"
#include "ir/weir/kernel/Kernel.h"
#include "ir/weir/program/Access.h"
#include "ir/weir/program/Microbatches.h"
#include "ir/weir/program/Offload.h"
#include "passes/PassTarget.h"
#include "passes/Passes.h"
#include "passes/buffers/ReadStep.h"
#include "passes/stages/GatherSections.h"

namespace weir {
#define GEN_PASS_DEF_ORDERKERNELS
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

int64_t bytesOf(Value value) {
  return int64_t(llvm::alignTo(storageBytes(value.getType()), plan::alignment));
}

/// Moves the kernels of a block.
class Orderer {
public:
  explicit Orderer(Block &block) : block(block), places(block), sections(sectionsIn(block)) {
    for (Operation &op : block.without_terminator()) {
      order.push_back(&op);
      if (auto kernel = dyn_cast<KernelOp>(op); kernel && mayMove(kernel))
        kernels.push_back(kernel);
    }
  }

  /// Puts kernels that make more than they let go ahead of whoever reads them first.
  void delay();
  /// Puts kernels that let go of more than they make behind whoever makes what they read last.
  void hasten();
  /// As it was.
  void undo() {
    for (Operation *op : order)
      op->moveBefore(block.getTerminator());
  }

private:
  /// The op of the block in which a use is: of sections, which stay together, the first.
  Operation *placeOf(Operation *user) const {
    Operation *place = block.findAncestorOpInBlock(*user);
    return llvm::is_contained(sections, place) ? sections.front() : place;
  }
  /// Where what an op makes is there.
  Operation *madeBy(Operation *maker) const {
    return llvm::is_contained(sections, maker) ? sections.back() : maker;
  }

  /// Every op of the block that uses a value, under whatever shape.
  template <typename Fn> void eachUser(Value value, Fn &&fn) const {
    for (Operation *user : value.getUsers()) {
      if (isAlias(user))
        eachUser(user->getResult(0), fn);
      else
        fn(placeOf(user));
    }
  }

  bool mayMove(KernelOp kernel) const;
  Operation *lastUser(Value memory) const;
  /// Of what the kernel reads, the bytes that nothing reads behind `op`, or behind the kernel where
  /// it is that.
  int64_t bytesLetGo(KernelOp kernel, Operation *op) const;
  static int64_t bytesMade(KernelOp kernel) {
    int64_t bytes = 0;
    for (Value result : kernel.getResults())
      bytes += bytesOf(result);
    return bytes;
  }
  void moveAliasesBehind(Operation *op);

  Block &block;
  OpOrder places;
  const SmallVector<MicrobatchesOp> sections;
  std::vector<Operation *> order; ///< that there was
  std::vector<KernelOp> kernels;
};

/// Whether a loop gives a value to each of its rounds.
bool isOfLoop(Value memory) {
  return isa<BlockArgument>(memory) && isa<MicrobatchesOp>(memory.getParentBlock()->getParentOp());
}

/// What reads variables, or is written to them, stays, and so does what reads what a loop carries:
/// in which order those are read and written decides where values may be written in place.
bool Orderer::mayMove(KernelOp kernel) const {
  for (Value input : kernel.getInputs()) {
    Value memory = memoryOf(input);
    if (isOfLoop(memory) || isa_and_nonnull<ReadOp, ReloadOp>(memory.getDefiningOp()))
      return false;
  }
  bool may = true;
  for (Value result : kernel.getResults())
    eachUser(result, [&](Operation *user) { may &= isa<KernelOp, MicrobatchesOp>(user); });
  return may;
}

Operation *Orderer::lastUser(Value memory) const {
  Operation *last = nullptr;
  eachUser(memory, [&](Operation *user) {
    if (!last || places.isBefore(last, user))
      last = user;
  });
  return last;
}

int64_t Orderer::bytesLetGo(KernelOp kernel, Operation *op) const {
  int64_t bytes = 0;
  llvm::SmallDenseSet<Value> seen;
  for (Value input : kernel.getInputs()) {
    Value memory = memoryOf(input);
    // What comes from outside the block stays as long as that runs.
    if (memory.getParentBlock() != &block || !seen.insert(memory).second)
      continue;
    Operation *last = lastUser(memory);
    if (last == kernel || places.isBefore(last, op))
      bytes += bytesOf(memory);
  }
  return bytes;
}

void Orderer::moveAliasesBehind(Operation *op) {
  for (Value result : op->getResults())
    for (Operation *user : llvm::make_early_inc_range(result.getUsers()))
      if (isAlias(user) && user->getBlock() == &block && places.isBefore(user, op)) {
        places.moveAfter(user, op);
        moveAliasesBehind(user);
      }
}

void Orderer::delay() {
  for (KernelOp kernel : llvm::reverse(kernels)) {
    Operation *first = nullptr;
    for (Value result : kernel.getResults())
      eachUser(result, [&](Operation *user) {
        if (!first || places.isBefore(user, first))
          first = user;
      });
    if (!first || bytesMade(kernel) <= bytesLetGo(kernel, first))
      continue;
    places.moveBefore(kernel, first);
    moveAliasesBehind(kernel);
  }
}

void Orderer::hasten() {
  for (KernelOp kernel : kernels) {
    if (bytesLetGo(kernel, kernel) <= bytesMade(kernel))
      continue;
    Operation *last = nullptr;
    for (Value input : kernel.getInputs())
      if (Operation *maker = input.getDefiningOp(); maker && maker->getBlock() == &block)
        if (maker = madeBy(maker); !last || places.isBefore(last, maker))
          last = maker;
    if (last)
      places.moveAfter(kernel, last);
    else
      places.moveBefore(kernel, &block.front());
  }
}

struct OrderKernels : weir::impl::OrderKernelsBase<OrderKernels> {
  OrderKernels() = default;
  explicit OrderKernels(OrderKernelsOptions options) : OrderKernelsBase(options) {}
  explicit OrderKernels(std::shared_ptr<Target> target) : made(std::move(target)) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    OrderKernelsBase::getDependentDialects(registry);
    registerTargetDialects(registry);
  }

  LogicalResult initialize(MLIRContext *context) override { return made.make(context, target); }

  void runOnOperation() override {
    buffers::KernelFacts facts(*made);
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (failed(requireBody(function)))
        return signalPassFailure();
      gatherSections(function.front());
      if (failed(order(function, facts)))
        return signalPassFailure();
    }
  }

private:
  LogicalResult order(func::FuncOp function, buffers::KernelFacts &facts) {
    FailureOr<int64_t> least = measure(function, facts);
    if (failed(least))
      return failure();
    SmallVector<Block *> blocks = {&function.front()};
    function.walk([&](MicrobatchesOp op) { blocks.push_back(&op.getBody().front()); });
    for (Block *block : blocks)
      for (auto change : {&Orderer::delay, &Orderer::hasten}) {
        Orderer orderer(*block);
        (orderer.*change)();
        FailureOr<int64_t> bytes = measure(function, facts);
        if (failed(bytes))
          return failure();
        if (*bytes < *least)
          least = bytes;
        else
          orderer.undo();
      }
    return success();
  }

  static FailureOr<int64_t> measure(func::FuncOp function, buffers::KernelFacts &facts) {
    FailureOr<buffers::EntryStep> step = buffers::readStep(function, facts);
    if (failed(step))
      return failure();
    return buffers::measure(step->step).bytes;
  }

  PassTarget made;
};

} // namespace

std::unique_ptr<Pass> weir::createOrderKernels(std::shared_ptr<Target> target) {
  return std::make_unique<OrderKernels>(std::move(target));
}
