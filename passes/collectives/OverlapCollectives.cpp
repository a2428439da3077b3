//===- OverlapCollectives.cpp - Overlaps collectives with computation -----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The collectives along an axis move to a queue of their own. A collective starts when its operands
// are computed, and the rank waits for it where its result is used. Independent computation runs in
// between (ListScheduler.h chooses the order). Operands and results occupy memory for that time, so
// the pass overlaps only as much as fits. It runs on a plan without offsets, and tries offsets to
// measure the arena. In a loop, each round waits for the collectives that it started.
//
// Runs before weir-overlap-transfers, which moves fetches ahead of actions whose order is final.
//
//===----------------------------------------------------------------------===//

#include "ir/plan/PlanOps.h"
#include "ir/plan/Queues.h"
#include "ir/weir/Names.h"
#include "ir/weir/Sharding.h"
#include "ir/weir/Strategy.h"
#include "passes/PassTarget.h"
#include "passes/Passes.h"
#include "passes/collectives/ListScheduler.h"
#include "passes/collectives/Timing.h"
#include "passes/memory/EntryLifetimes.h"
#include "passes/memory/Reserve.h"
#include "support/mesh/MachineRates.h"
#include "support/mesh/Mesh.h"
#include <map>

namespace weir {
#define GEN_PASS_DEF_OVERLAPCOLLECTIVES
#include "passes/Passes.h.inc"
} // namespace weir

using namespace mlir;
using namespace weir;

namespace {

/// Reorders the actions of an entry, and of its loops.
class Overlap {
public:
  Overlap(plan::EntryOp entry, const Mesh &mesh, const Target &target, const Link &link,
          const SchedulingLimits &limits)
      : entry(entry), mesh(mesh), prices(target, link), timing(prices), limits(limits),
        isOneAtATime(target.stagesPorts()), builder(entry.getContext()) {}

  void run() { run(entry.getBody().front()); }

private:
  /// The events and waits that a block has so far.
  struct Told {
    size_t onCompute = 0;                             ///< actions of queue 0 so far
    std::optional<std::pair<size_t, Value>> recorded; ///< an event after so many of them
    llvm::DenseMap<uint64_t, size_t> waitedFor; ///< by queue, how many of them it has waited for
    /// By queue, its collectives for which queue 0 has not waited.
    std::map<uint64_t, SmallVector<plan::CollectiveOp>> underWay;
  };

  void run(Block &block);
  void emit(Block &block, const Dependences &actions, ArrayRef<unsigned> order,
            ArrayRef<uint64_t> queues);
  void await(plan::CollectiveOp collective, uint64_t by, Block &block);
  void move(Operation *op, Block &block);
  double secondsOf(const Dependences::Node &node);
  Value makeEvent() {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&entry.getBody().front());
    return plan::EventOp::create(builder, entry.getLoc());
  }
  uint64_t queueOf(Operation *op) const {
    auto collective = dyn_cast<plan::CollectiveOp>(op);
    if (!collective || collective.getQueue() != computeQueue)
      return computeQueue;
    return queueOfAxis(isOneAtATime ? 0 : unsigned(mesh.find(collective.getAxis().str())));
  }

  plan::EntryOp entry;
  const Mesh &mesh;
  TargetPrices prices;
  Timing timing;
  const SchedulingLimits limits;
  /// On a GPU, a collective is a kernel that occupies a part of it while it waits. With two at
  /// once, each may lack room until the other is done, while another rank has started them in the
  /// other order.
  const bool isOneAtATime;
  OpBuilder builder;
  llvm::DenseSet<Operation *> moved;            ///< buffers that moved down
  llvm::DenseMap<Operation *, Value> endEvents; ///< of collectives with waits
};

double Overlap::secondsOf(const Dependences::Node &node) {
  auto loop = dyn_cast<plan::LoopOp>(node.op);
  if (!loop || !node.hasCollectives)
    return timing.secondsOf(node.op);
  return double(loop.getCount()) * planned::secondsOf(timing.timed(loop.getBody().front()));
}

void Overlap::run(Block &block) {
  for (auto loop : block.getOps<plan::LoopOp>())
    run(loop.getBody().front());
  Dependences actions(block);
  std::vector<double> seconds;
  std::vector<uint64_t> queues;
  for (const Dependences::Node &node : actions.nodes) {
    seconds.push_back(secondsOf(node));
    queues.push_back(queueOf(node.op));
  }
  if (llvm::all_of(queues, [](uint64_t queue) { return queue == computeQueue; }))
    return;
  std::vector<unsigned> order = ListScheduler(actions, std::move(seconds), queues, limits).order();
  emit(block, actions, order, queues);
}

void Overlap::emit(Block &block, const Dependences &actions, ArrayRef<unsigned> order,
                   ArrayRef<uint64_t> queues) {
  // Ports surround all actions.
  auto ports = llvm::to_vector(block.getOps<plan::PortOp>());
  auto movePorts = [&](bool inputs) {
    for (plan::PortOp port : ports)
      if ((port.getKind() == plan::PortKind::input) == inputs)
        move(port, block);
  };
  movePorts(true);
  Told told;
  // Those of one queue complete in order, so the last one's event stands for all.
  auto awaitAll = [&](ArrayRef<unsigned> some) {
    for (auto &[queue, underWay] : told.underWay)
      for (size_t i = underWay.size(); i-- > 0;)
        if (llvm::any_of(some,
                         [&](unsigned one) { return actions.nodes[one].op == underWay[i]; })) {
          await(underWay[i], computeQueue, block);
          underWay.erase(underWay.begin(), underWay.begin() + i + 1);
          break;
        }
  };
  for (unsigned number : order) {
    const Dependences::Node &node = actions.nodes[number];
    if (uint64_t queue = queues[number]) {
      auto collective = cast<plan::CollectiveOp>(node.op);
      builder.setInsertionPointToEnd(&block);
      if (!told.recorded || told.recorded->first != told.onCompute) {
        told.recorded = {told.onCompute, makeEvent()};
        plan::RecordOp::create(builder, node.op->getLoc(), told.recorded->second, computeQueue);
      }
      auto [known, isNew] = told.waitedFor.try_emplace(queue, told.onCompute);
      if (isNew || known->second != told.onCompute)
        plan::WaitOp::create(builder, node.op->getLoc(), told.recorded->second, queue);
      known->second = told.onCompute;
      for (auto &[other, underWay] : told.underWay)
        if (other != queue)
          for (plan::CollectiveOp before : llvm::reverse(underWay))
            if (llvm::any_of(node.behind,
                             [&](unsigned one) { return actions.nodes[one].op == before; })) {
              await(before, queue, block);
              break;
            }
      move(collective, block);
      collective->setAttr("queue", builder.getI64IntegerAttr(int64_t(queue)));
      told.underWay[queue].push_back(collective);
      continue;
    }
    awaitAll(node.behind);
    move(node.op, block);
    ++told.onCompute;
  }
  // No collective is in flight at the end of a block.
  for (auto &[queue, underWay] : told.underWay)
    if (!underWay.empty())
      await(underWay.back(), computeQueue, block);
  movePorts(false);
}

void Overlap::await(plan::CollectiveOp collective, uint64_t by, Block &block) {
  Value &event = endEvents[collective];
  if (!event) {
    event = makeEvent();
    builder.setInsertionPointAfter(collective);
    plan::RecordOp::create(builder, collective.getLoc(), event, collective.getQueue());
  }
  builder.setInsertionPointToEnd(&block);
  plan::WaitOp::create(builder, collective.getLoc(), event, by);
}

/// To the end of the block, with the buffers of the block that it uses first. Variables come before
/// everything that moves, so that transfers that start earlier find them.
void Overlap::move(Operation *op, Block &block) {
  auto moveBuffer = [&](auto &&self, Operation *buffer) -> void {
    if (!isa_and_nonnull<plan::AllocOp, plan::PartOp>(buffer) || buffer->getBlock() != &block ||
        !moved.insert(buffer).second)
      return;
    for (Value operand : buffer->getOperands())
      self(self, operand.getDefiningOp());
    buffer->moveBefore(&block, block.end());
  };
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      moveBuffer(moveBuffer, operand.getDefiningOp());
  });
  op->moveBefore(&block, block.end());
}

struct OverlapCollectives : weir::impl::OverlapCollectivesBase<OverlapCollectives> {
  OverlapCollectives() = default;
  explicit OverlapCollectives(OverlapCollectivesOptions options)
      : OverlapCollectivesBase(options) {}
  explicit OverlapCollectives(std::shared_ptr<Target> target) : made(std::move(target)) {}

  void getDependentDialects(DialectRegistry &registry) const override {
    OverlapCollectivesBase::getDependentDialects(registry);
    registerTargetDialects(registry);
  }

  LogicalResult initialize(MLIRContext *context) override { return made.make(context, target); }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const Mesh *mesh = meshOf(module);
    if (!mesh)
      return;
    const Strategy &strategy = strategyOf(module);
    link = *strategy.link;
    std::optional<int64_t> most;
    if (strategy.memory)
      most = roomIn(module, *made, *strategy.memory, strategy.threads);
    for (auto entry : llvm::to_vector(module.getOps<plan::EntryOp>()))
      overlap(entry, *mesh, most);
  }

private:
  static int64_t scratchOf(plan::EntryOp entry) {
    return EntryLifetimes(entry).place(plan::Space::scratch, 0).end;
  }

  double secondsOf(plan::EntryOp entry) {
    TargetPrices prices(*made, link);
    return planned::secondsOf(Timing(prices).timed(entry.getBody().front()));
  }

  /// The bytes by which overlap may raise the peak without a budget: the memory of two collectives.
  /// One is in flight while another fills, as parameters are prefetched and gradients are reduced.
  static int64_t inFlight(plan::EntryOp entry) {
    int64_t largest = 0;
    entry.walk([&](plan::CollectiveOp op) {
      int64_t all = 0;
      for (int64_t bytes : op.getBytes())
        all += bytes;
      const bool sendsAll = op.getKind() == plan::CollectiveKind::all_to_all;
      largest = std::max<int64_t>(largest, all + (sendsAll ? all : int64_t(op.getOwn())));
    });
    return 2 * largest;
  }

  /// The fastest of some orders that fit; the original one if none is faster.
  void overlap(plan::EntryOp entry, const Mesh &mesh, std::optional<int64_t> room) {
    if (!entry.walk([](plan::CollectiveOp) { return WalkResult::interrupt(); }).wasInterrupted())
      return;
    constexpr double worth = 0.999; // of the time: a smaller gain is not worth its memory
    constexpr int mostTried = 6;
    double best = worth * secondsOf(entry);
    int64_t scratch = scratchOf(entry);
    int64_t most = std::max<int64_t>(room.value_or(0), scratch + (room ? 0 : inFlight(entry)));
    SchedulingLimits limits{most, true};
    for (int i = 0; i < mostTried; ++i) {
      OpBuilder builder(entry);
      auto trial = cast<plan::EntryOp>(builder.clone(*entry));
      Overlap(trial, mesh, *made, link, limits).run();
      int64_t takes = scratchOf(trial);
      if (takes <= most && secondsOf(trial) < best) {
        entry.erase();
        return;
      }
      trial.erase();
      if (takes <= most)
        break; // with less memory it is not faster
      // Orders that do not fit are discarded.
      limits.most -= takes - most;
      limits.passes = i < mostTried / 2;
    }
  }

  PassTarget made;
  Link link; ///< the link that the strategy assumes
};

} // namespace

std::unique_ptr<Pass> weir::createOverlapCollectives(std::shared_ptr<Target> target) {
  return std::make_unique<OverlapCollectives>(std::move(target));
}
