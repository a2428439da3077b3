//===- OverlapTransfers.cpp - Overlaps transfers with kernels -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fetch from the host's memory moves to a queue of its own, and starts before its use by the time
// that it takes. In the same way, the wait for a transfer to the host moves behind later kernels.
// Both occupy memory for that time, so the pass overlaps only as much as fits. It runs on a plan
// without offsets, and tries offsets to measure the arena: the arena does not exceed the budget, or
// the size without overlap.
//
//===----------------------------------------------------------------------===//

#include "ir/plan/PlanOps.h"
#include "ir/plan/Queues.h"
#include "ir/weir/Strategy.h"
#include "passes/PassTarget.h"
#include "passes/Passes.h"
#include "passes/memory/EntryLifetimes.h"
#include "passes/memory/Reserve.h"

namespace weir {
#define GEN_PASS_DEF_OVERLAPTRANSFERS
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

plan::Space spaceOf(Value buffer) { return cast<plan::BufferType>(buffer.getType()).getSpace(); }
bool isReload(plan::CopyOp copy) {
  return spaceOf(copy.getFrom()) == plan::Space::host &&
         spaceOf(copy.getTo()) == plan::Space::scratch;
}
bool isOffload(plan::CopyOp copy) {
  return spaceOf(copy.getFrom()) == plan::Space::scratch &&
         spaceOf(copy.getTo()) == plan::Space::host;
}

/// Overlaps the transfers of one entry.
class Overlap {
public:
  Overlap(plan::EntryOp entry, const Target &target, int64_t most)
      : entry(entry), target(target), most(most), builder(entry.getContext()) {}

  void run() {
    readActions();
    planOffloads();
    planReloads();
    emit();
  }

private:
  /// A transfer, and the action of the entry before which it starts, or before which the wait for
  /// it stands.
  struct Transfer {
    plan::CopyOp copy;
    size_t at, moved;
  };

  void readActions();
  void planReloads();
  void planOffloads();
  void emit();
  /// Reserves memory while the entry's action runs, if there is room.
  bool take(size_t action, int64_t bytes);
  double secondsOf(plan::CopyOp copy) const {
    return target.transferSeconds(double(copy.getSize()));
  }
  Value event() { return plan::EventOp::create(builder, entry.getLoc()); }

  plan::EntryOp entry;
  const Target &target;
  const int64_t most; ///< bytes of scratch that may be alive
  OpBuilder builder;
  std::vector<Operation *> actions; ///< of the entry itself
  std::vector<double> begins;       ///< when each begins, were there no transfers
  std::vector<int64_t> alive;       ///< bytes at each
  std::vector<Transfer> reloads, offloads;
};

void Overlap::readActions() {
  SymbolTableCollection symbols;
  EntryLifetimes lifetimes(entry);
  double now = 0;
  std::vector<size_t> topOf; // the top-level action around each action, by number
  for (Operation &op : entry.getBody().front()) {
    auto action = dyn_cast<plan::Action>(op);
    if (!action)
      continue;
    begins.push_back(now);
    double seconds = 0;
    auto add = [&](plan::Action one, double times) {
      if (one.getQueue() != computeQueue)
        return; // runs in parallel
      spec::Cost cost = one.cost(symbols);
      seconds += times * target.secondsOf(double(cost.flops), double(cost.bytes));
    };
    if (auto loop = dyn_cast<plan::LoopOp>(op))
      loop.walk([&](plan::Action inner) { add(inner, double(loop.getCount())); });
    else if (auto copy = dyn_cast<plan::CopyOp>(op); !copy || (!isReload(copy) && !isOffload(copy)))
      add(action, 1);
    if (auto copy = dyn_cast<plan::CopyOp>(op); copy && action.getQueue() == computeQueue) {
      Transfer transfer{copy, actions.size(), actions.size()};
      if (isReload(copy))
        reloads.push_back(transfer);
      else if (isOffload(copy))
        offloads.push_back(transfer);
    }
    op.walk([&](plan::Action) { topOf.push_back(actions.size()); });
    actions.push_back(&op);
    now += seconds;
  }
  std::vector<int64_t> change(actions.size() + 1);
  for (auto &[buffer, lifetime] : lifetimes.all())
    if (cast<plan::AllocOp>(buffer).getResult().getType().getSpace() == plan::Space::scratch &&
        !topOf.empty()) {
      change[topOf[lifetime.first]] += lifetime.size;
      change[topOf[lifetime.last] + 1] -= lifetime.size;
    }
  for (int64_t bytes = 0; size_t i : llvm::seq(actions.size()))
    alive.push_back(bytes += change[i]);
}

bool Overlap::take(size_t action, int64_t bytes) {
  if (alive[action] + bytes > most)
    return false;
  alive[action] += bytes;
  return true;
}

/// Whether an action, or one in its loop, accesses a memory: a plan.alloc, or a plan.use of the
/// same variable.
static bool touches(Operation *around, Operation *memory, SymbolTableCollection &symbols,
                    bool writesAlone = false) {
  auto isIt = [&](Operation *other) {
    auto one = dyn_cast<plan::UseOp>(other), two = dyn_cast<plan::UseOp>(memory);
    return other == memory || (one && two && one.getVariable() == two.getVariable());
  };
  return around
      ->walk([&](plan::Action action) {
        SmallVector<Value> operands;
        llvm::copy_if(action->getOperands(), std::back_inserter(operands),
                      [](Value operand) { return isa<plan::BufferType>(operand.getType()); });
        for (auto [operand, footprint] : llvm::zip_equal(operands, action.footprints(symbols)))
          if ((!writesAlone || footprint.mode != spec::Mode::read) &&
              isIt(plan::placeOf(operand).memory))
            return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

/// From the last on: each is there when its user begins, and the transfers behind it have begun.
void Overlap::planReloads() {
  SymbolTableCollection symbols;
  double begun = INFINITY;
  for (Transfer &reload : llvm::reverse(reloads)) {
    int64_t bytes = alignedBytes(reload.copy.getSize());
    Operation *from = plan::placeOf(reload.copy.getFrom()).memory;
    Operation *to = plan::placeOf(reload.copy.getTo()).memory;
    double begin = std::min(begins[reload.at], begun) - secondsOf(reload.copy);
    // What is put there is there when queue 0 has waited for it.
    size_t at = reload.at, earliest = 0;
    for (const Transfer &offload : offloads)
      if (offload.at < reload.at && offload.moved > offload.at + 1 &&
          (touches(offload.copy, from, symbols) || touches(offload.copy, to, symbols)))
        earliest = std::max(earliest, offload.moved);
    while (at > earliest && begins[at] > begin && !touches(actions[at - 1], to, symbols) &&
           !touches(actions[at - 1], from, symbols, /*writesAlone=*/true) && take(at - 1, bytes))
      --at;
    reload.moved = at;
    begun = std::min(begun, std::max(begin, begins[at]));
  }
}

/// Whether it starts work on a queue other than 0.
static bool isBegun(Operation *action) {
  return isa<plan::RecordOp>(action) || cast<plan::Action>(action).getQueue() != computeQueue;
}

/// From the first on: each begins when it is made, and the transfers before it are done.
void Overlap::planOffloads() {
  SymbolTableCollection symbols;
  double done = 0;
  for (Transfer &offload : offloads) {
    int64_t bytes = alignedBytes(offload.copy.getSize());
    done = std::max(done, begins[offload.at]) + secondsOf(offload.copy);
    // What its user holds anyway costs nothing.
    size_t at = offload.at + 1;
    Operation *from = plan::placeOf(offload.copy.getFrom()).memory;
    Operation *to = plan::placeOf(offload.copy.getTo()).memory;
    while (at < actions.size() && begins[at] < done &&
           !touches(actions[at], from, symbols, /*writesAlone=*/true) &&
           !touches(actions[at], to, symbols) && take(at, bytes))
      ++at;
    // What is begun on another queue comes behind what queue 0 had done when it recorded that: of a
    // wait behind the record it would not know, and may have the place of what is put.
    while (at > offload.at + 1 && isBegun(actions[at - 1]))
      --at;
    offload.moved = at;
  }
}

void Overlap::emit() {
  Location loc = entry.getLoc();
  // Events stand before all actions.
  auto makeEvent = [&]() -> Value {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&entry.getBody().front());
    return event();
  };
  auto after = [&](size_t at) {
    if (at < actions.size())
      builder.setInsertionPoint(actions[at]);
    else
      builder.setInsertionPointAfter(actions.back());
  };
  // Ahead of one action offloads are waited for before reloads, which may have their place, begin.
  for (const Transfer &offload : offloads) {
    if (offload.moved <= offload.at + 1)
      continue;
    Value made = makeEvent(), gone = makeEvent();
    builder.setInsertionPoint(offload.copy);
    plan::RecordOp::create(builder, loc, made, computeQueue);
    plan::WaitOp::create(builder, loc, made, toHostQueue);
    offload.copy->setAttr("queue", builder.getI64IntegerAttr(toHostQueue));
    builder.setInsertionPointAfter(offload.copy);
    plan::RecordOp::create(builder, loc, gone, toHostQueue);
    after(offload.moved);
    plan::WaitOp::create(builder, loc, gone, computeQueue);
  }
  size_t recordedAt = SIZE_MAX;
  for (Transfer &reload : reloads) {
    if (reload.moved == reload.at)
      continue;
    Value there = makeEvent();
    builder.setInsertionPointAfter(reload.copy);
    // What is to stand ahead of the copy's place, stands ahead of the wait from now on.
    actions[reload.at] = plan::WaitOp::create(builder, loc, there, computeQueue);
    builder.setInsertionPoint(actions[reload.moved]);
    if (recordedAt != reload.moved) {
      Value free = makeEvent();
      plan::RecordOp::create(builder, loc, free, computeQueue);
      plan::WaitOp::create(builder, loc, free, fromHostQueue);
      recordedAt = reload.moved;
    }
    reload.copy->moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
    plan::placeOf(reload.copy.getTo()).memory->moveBefore(reload.copy);
    reload.copy->setAttr("queue", builder.getI64IntegerAttr(fromHostQueue));
    plan::RecordOp::create(builder, loc, there, fromHostQueue);
  }
}

struct OverlapTransfers : weir::impl::OverlapTransfersBase<OverlapTransfers> {
  OverlapTransfers() = default;
  explicit OverlapTransfers(OverlapTransfersOptions options) : OverlapTransfersBase(options) {}
  explicit OverlapTransfers(std::shared_ptr<Target> target) : made(std::move(target)) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    OverlapTransfersBase::getDependentDialects(registry);
    registerTargetDialects(registry);
  }

  LogicalResult initialize(MLIRContext *context) override { return made.make(context, target); }

  void runOnOperation() override {
    const Strategy &strategy = strategyOf(getOperation());
    int64_t room = roomIn(getOperation(), *made, strategy.memory.value_or(0), strategy.threads);
    for (auto entry : llvm::to_vector(getOperation().getOps<plan::EntryOp>()))
      overlap(entry, room);
  }

private:
  static bool hasTransfers(plan::EntryOp entry) {
    return llvm::any_of(entry.getOps<plan::CopyOp>(),
                        [](plan::CopyOp copy) { return isReload(copy) || isOffload(copy); });
  }
  static int64_t scratchOf(plan::EntryOp entry) {
    return EntryLifetimes(entry).place(plan::Space::scratch, 0).end;
  }

  void overlap(plan::EntryOp entry, int64_t room) {
    if (!hasTransfers(entry))
      return;
    int64_t most = std::max(room, scratchOf(entry)), aim = most;
    constexpr int mostTried = 6;
    for (int i = 0; i < mostTried; ++i) {
      // Transfers that do not fit are dropped.
      OpBuilder builder(entry);
      auto trial = cast<plan::EntryOp>(builder.clone(*entry));
      Overlap(trial, *made, aim).run();
      int64_t takes = scratchOf(trial);
      if (takes <= most) {
        entry.erase();
        return;
      }
      trial.erase();
      aim -= takes - most;
    }
  }

  PassTarget made;
};

} // namespace

std::unique_ptr<Pass> weir::createOverlapTransfers(std::shared_ptr<Target> target) {
  return std::make_unique<OverlapTransfers>(std::move(target));
}
