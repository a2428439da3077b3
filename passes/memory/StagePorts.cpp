//===- StagePorts.cpp - The host side of transfers ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For devices with memory of their own. Runs on a plan without offsets, whose actions are all on
// queue 0.
//
//===----------------------------------------------------------------------===//

#include "ir/plan/PlanOps.h"
#include "passes/Passes.h"

namespace weir {
#define GEN_PASS_DEF_STAGEPORTS
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

constexpr uint64_t computeQueue = 0, copyQueue = 1;

class Stager {
public:
  explicit Stager(plan::EntryOp entry) : entry(entry), builder(entry.getContext()) {}

  LogicalResult run();

private:
  /// An input copy, and the first action of the entry that reads it; null: none does.
  struct Input {
    Value host, device;
    int64_t size;
    Location loc;
    Operation *user;
  };

  FailureOr<Value> stage(plan::PortOp port);
  void copyIn(ArrayRef<Input> inputs);
  Value event() { return plan::EventOp::create(builder, entry.getLoc()); }

  plan::EntryOp entry;
  OpBuilder builder;
};

/// Gives the port pinned memory of its own. Returns its old buffer.
FailureOr<Value> Stager::stage(plan::PortOp port) {
  auto buffer = port.getBuffer().getDefiningOp<plan::AllocOp>();
  if (!buffer || buffer.getOffset() ||
      buffer.getResult().getType().getSpace() != plan::Space::scratch)
    return port.emitOpError("cannot be staged: expected a buffer of scratch without a place");
  builder.setInsertionPoint(port);
  Value device = port.getBuffer();
  port.getBufferMutable().assign(plan::AllocOp::create(
      builder, port.getLoc(), storageBytes(port.getType()), port.getName(), plan::Space::pinned));
  return device;
}

/// The first top-level action of the entry that accesses the buffer, or contains an action that
/// does.
Operation *firstUser(Value buffer, plan::EntryOp entry) {
  Operation *first = nullptr;
  for (Operation *user : buffer.getUsers()) {
    Operation *action = isa<plan::PartOp>(user) ? firstUser(user->getResult(0), entry)
                        : isa<plan::Action>(user)
                            ? entry.getBody().front().findAncestorOpInBlock(*user)
                            : nullptr;
    if (action && (!first || action->isBeforeInBlock(first)))
      first = action;
  }
  return first;
}

/// Copies inputs on a queue of their own, in the order in which they are needed, so that the first
/// reader does not wait for the last copy.
void Stager::copyIn(ArrayRef<Input> inputs) {
  if (inputs.empty())
    return;
  Value begun = event();
  plan::RecordOp::create(builder, entry.getLoc(), begun, computeQueue);
  plan::WaitOp::create(builder, entry.getLoc(), begun, copyQueue);
  for (auto [i, input] : llvm::enumerate(inputs)) {
    plan::CopyOp::create(builder, input.loc, input.host, input.device,
                         builder.getI64IntegerAttr(input.size),
                         builder.getI64IntegerAttr(copyQueue));
    if (i + 1 < inputs.size() && inputs[i + 1].user == input.user)
      continue;
    Value copied = event();
    plan::RecordOp::create(builder, input.loc, copied, copyQueue);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(input.user);
    plan::WaitOp::create(builder, input.loc, copied, computeQueue);
  }
}

LogicalResult Stager::run() {
  SmallVector<plan::PortOp> outputs, inputs;
  for (auto port : entry.getOps<plan::PortOp>())
    (port.getKind() == plan::PortKind::input ? inputs : outputs).push_back(port);
  // Their copies are among the first users of values that are passed through.
  for (plan::PortOp port : outputs) {
    FailureOr<Value> device = stage(port);
    if (failed(device))
      return failure();
    plan::CopyOp::create(builder, port.getLoc(), *device, port.getBuffer(),
                         builder.getI64IntegerAttr(storageBytes(port.getType())));
  }
  SmallVector<Input> copied;
  for (plan::PortOp port : inputs) {
    FailureOr<Value> device = stage(port);
    if (failed(device))
      return failure();
    if (Operation *user = firstUser(*device, entry))
      copied.push_back(
          {port.getBuffer(), *device, storageBytes(port.getType()), port.getLoc(), user});
  }
  llvm::stable_sort(copied, [](const Input &a, const Input &b) {
    return a.user != b.user && a.user->isBeforeInBlock(b.user);
  });
  if (!inputs.empty())
    builder.setInsertionPointAfter(inputs.back());
  copyIn(copied);
  return success();
}

struct StagePorts : weir::impl::StagePortsBase<StagePorts> {
  void runOnOperation() override {
    for (auto entry : getOperation().getOps<plan::EntryOp>())
      if (failed(Stager(entry).run()))
        return signalPassFailure();
  }
};

} // namespace
