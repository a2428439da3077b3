//===- EntryLifetimes.cpp - Lifetimes of an entry's buffers ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/memory/EntryLifetimes.h"
#include "ir/plan/PlanOps.h"

using namespace mlir;

namespace weir {

EntryLifetimes::EntryLifetimes(plan::EntryOp entry) {
  number(entry.getBody().front());
  int64_t last = std::max<int64_t>(count - 1, 0);
  findJoins(entry.getBody().front());
  for (auto port : entry.getOps<plan::PortOp>()) {
    int64_t at = port.getKind() == plan::PortKind::input ? 0 : last;
    use(port.getBuffer(), at, at, entry);
  }
  entry.walk([&](Operation *action) {
    auto found = numbers.find(action);
    if (found == numbers.end())
      return;
    for (Value operand : action->getOperands())
      use(operand, found->second, joined(action, found->second), action);
  });
}

void EntryLifetimes::findJoins(Block &block) {
  // Buffers used on another queue stay alive until queue 0 waits for its record.
  llvm::DenseMap<Value, std::pair<uint64_t, size_t>> recorded;
  for (Operation &op : block) {
    if (auto loop = dyn_cast<plan::LoopOp>(op)) {
      findJoins(loop.getBody().front());
    } else if (auto record = dyn_cast<plan::RecordOp>(op); record && record.getQueue() != 0) {
      auto &list = joins[{&block, record.getQueue()}];
      recorded[record.getEvent()] = {record.getQueue(), list.size()};
      list.push_back({numbers.at(&op), INT64_MAX});
    } else if (auto wait = dyn_cast<plan::WaitOp>(op); wait && wait.getQueue() == 0) {
      if (auto found = recorded.find(wait.getEvent()); found != recorded.end()) {
        auto [queue, place] = found->second;
        joins[{&block, queue}][place].second = numbers.at(&op);
        recorded.erase(found);
      }
    }
  }
}

void EntryLifetimes::number(Block &block) {
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

/// How long the buffers of an action must stay: in a loop, at most to its end, if nothing in the
/// round waits for it.
int64_t EntryLifetimes::joined(Operation *action, int64_t at) const {
  uint64_t queue = cast<plan::Action>(action).getQueue();
  if (queue == 0)
    return at;
  int64_t until = count - 1;
  if (auto loop = spans.find(action->getParentOp()); loop != spans.end())
    until = loop->second.second;
  // A wait for a later record is enough.
  if (auto found = joins.find({action->getBlock(), queue}); found != joins.end())
    for (auto [recordedAt, waitedAt] : found->second)
      if (recordedAt > at)
        until = std::min(until, waitedAt);
  return std::max(at, until);
}

/// A buffer that is allocated outside a loop and used in it must live through all its rounds; with
/// nested loops, through those of the outermost in which it is not allocated.
void EntryLifetimes::use(Value value, int64_t first, int64_t last, Operation *user) {
  if (!isa<plan::BufferType>(value.getType()))
    return;
  auto buffer = dyn_cast<plan::AllocOp>(plan::placeOf(value).memory);
  if (!buffer)
    return;
  for (Operation *around = user; around != buffer->getParentOp() && around;
       around = around->getParentOp())
    if (auto span = spans.find(around); span != spans.end())
      std::tie(first, last) = span->second;
  Lifetime &lifetime =
      lifetimes.try_emplace(buffer, Lifetime{first, last, alignedBytes(buffer.getSize())})
          .first->second;
  lifetime.first = std::min(lifetime.first, first);
  lifetime.last = std::max(lifetime.last, last);
}

Placement EntryLifetimes::place(plan::Space space, int64_t base) const {
  SmallVector<Lifetime> some;
  for (auto &[op, lifetime] : lifetimes)
    if (cast<plan::AllocOp>(op).getResult().getType().getSpace() == space)
      some.push_back(lifetime);
  return placeBuffers(some, base);
}

} // namespace weir
