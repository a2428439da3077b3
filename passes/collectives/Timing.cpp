//===- Timing.cpp - Estimated times of a plan's actions -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/collectives/Timing.h"
#include "ir/plan/PlanOps.h"
#include "ir/plan/PlanTransfers.h"
#include "ir/weir/requests/Recompute.h"

using namespace mlir;

namespace weir {

std::pair<uint64_t, uint64_t> bytesMoved(plan::CollectiveOp collective) {
  spec::Exchange exchange = plan::exchangeOf(collective);
  return {exchange.sent(), exchange.received()};
}

double TargetPrices::secondsOf(plan::Action action, SymbolTableCollection &symbols) {
  if (auto collective = dyn_cast<plan::CollectiveOp>(*action)) {
    auto [sent, got] = bytesMoved(collective);
    return link.secondsOf(sent, got);
  }
  if (isFromOrToHost(action))
    return target.transferSeconds(double(cast<plan::CopyOp>(*action).getSize()));
  spec::Cost cost = action.cost(symbols);
  return target.secondsOf(double(cost.flops), double(cost.bytes));
}

bool isFromOrToHost(plan::Action action) {
  auto copy = dyn_cast<plan::CopyOp>(*action);
  auto isOfHost = [](Value buffer) {
    plan::Space space = cast<plan::BufferType>(buffer.getType()).getSpace();
    return space == plan::Space::host || space == plan::Space::pinned;
  };
  return copy && (isOfHost(copy.getFrom()) || isOfHost(copy.getTo()));
}

double Timing::secondsOf(Operation *action) {
  if (auto loop = dyn_cast<plan::LoopOp>(action)) {
    double seconds = 0;
    for (auto inner : loop.getBody().getOps<plan::Action>())
      seconds += secondsOf(inner);
    return double(loop.getCount()) * seconds;
  }
  if (isa<plan::RecordOp, plan::WaitOp>(action))
    return 0;
  return prices.secondsOf(cast<plan::Action>(action), symbols);
}

std::vector<planned::TimedAction> Timing::timed(Block &block) {
  using Kind = planned::TimedAction::Kind;
  std::vector<planned::TimedAction> all;
  for (auto action : block.getOps<plan::Action>()) {
    planned::TimedAction one{.queue = uint32_t(action.getQueue())};
    auto eventOf = [&](Value event) {
      return events.try_emplace(event, uint32_t(events.size())).first->second;
    };
    if (auto loop = dyn_cast<plan::LoopOp>(*action)) {
      one.kind = Kind::loop;
      one.count = loop.getCount();
      one.body = timed(loop.getBody().front());
    } else if (auto record = dyn_cast<plan::RecordOp>(*action)) {
      one.kind = Kind::record;
      one.event = eventOf(record.getEvent());
    } else if (auto wait = dyn_cast<plan::WaitOp>(*action)) {
      one.kind = Kind::wait;
      one.event = eventOf(wait.getEvent());
    } else if (isa<plan::SendOp, plan::ReceiveOp>(*action)) {
      bool sends = isa<plan::SendOp>(*action);
      auto read = [&](auto transfer) {
        one.peer = uint32_t(transfer.getPeer());
        one.number = uint32_t(transfer.getNumber());
        one.round = uint32_t(transfer.getRound());
      };
      one.kind = sends ? Kind::send : Kind::receive;
      if (sends)
        read(cast<plan::SendOp>(*action));
      else
        read(cast<plan::ReceiveOp>(*action));
      one.seconds = sends ? secondsOf(action) : 0;
    } else {
      one.kind = isa<plan::CollectiveOp>(*action) ? Kind::collective : Kind::work;
      one.seconds = secondsOf(action);
      one.again = action->hasAttr(againAttrName);
      if (one.kind == Kind::collective && !prices.overlaps(action))
        one.queue = 0; // it starts there; the wait for it comes later
    }
    all.push_back(std::move(one));
    // A rank that does not overlap waits for a send until the data has arrived.
    if (all.back().kind == Kind::send && !prices.overlaps(action))
      all.push_back(
          {.kind = Kind::sending, .queue = all.back().queue, .seconds = all.back().seconds});
  }
  return all;
}

} // namespace weir
