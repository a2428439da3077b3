//===- Lifetimes.cpp - Checks the lifetimes of buffers --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/Text.h"
#include "support/planned/FlatPlan.h"
#include "support/planned/Words.h"
#include <algorithm>
#include <map>
#include <tuple>

namespace weir::planned {
namespace {

std::string lifetimeWords(const Entry &entry, uint32_t index) {
  const Buffer &buffer = entry.buffers[index];
  return concat(bufferWords(entry, index), ", alive in actions ", buffer.first, " to ",
                buffer.last);
}

Finding checkBuffer(const FlatPlan &plan, uint32_t index) {
  const Buffer &buffer = plan.entry.buffers[index];
  auto fail = [&](const std::string &what) {
    return Fault{FaultKind::badLifetime, lifetimeWords(plan.entry, index) + ": " + what};
  };
  if (buffer.first > buffer.last || buffer.last > plan.lastAction())
    return fail(concat("the entry's are 0 to ", plan.lastAction()));
  if ((buffer.holds || buffer.space == Space::constant) && buffer.first != 0)
    return fail("it has its contents from the entry's begin");
  if (buffer.space == Space::persistent && buffer.last != plan.lastAction())
    return fail(concat("it is persistent, and the entry ends with action ", plan.lastAction()));
  return {};
}

/// Sweeps over time with the ranges alive in order of place, so that a hostile entry costs n log n.
Finding checkOverlaps(const Entry &entry) {
  struct Change {
    uint32_t action;
    bool ends; // both ends belong to a lifetime: what begins at an action comes before what ends
    uint32_t buffer;
    bool operator<(const Change &other) const {
      return std::tie(action, ends, buffer) < std::tie(other.action, other.ends, other.buffer);
    }
  };
  std::vector<Change> changes;
  for (uint32_t i = 0; i < entry.buffers.size(); ++i) {
    if (!entry.buffers[i].size)
      continue; // another stage's
    changes.push_back({entry.buffers[i].first, false, i});
    changes.push_back({entry.buffers[i].last, true, i});
  }
  std::sort(changes.begin(), changes.end());
  std::map<uint64_t, uint32_t> alive[spaceCount]; // offset -> buffer
  auto end = [&](uint32_t i) { return entry.buffers[i].offset + entry.buffers[i].size; };
  for (const Change &change : changes) {
    const Buffer &buffer = entry.buffers[change.buffer];
    std::map<uint64_t, uint32_t> &row = alive[size_t(buffer.space)];
    if (change.ends) {
      row.erase(buffer.offset);
      continue;
    }
    auto next = row.lower_bound(buffer.offset);
    auto other = row.end();
    if (next != row.end() && next->first < end(change.buffer))
      other = next;
    else if (next != row.begin() && end(std::prev(next)->second) > buffer.offset)
      other = std::prev(next);
    if (other != row.end())
      return Fault{FaultKind::buffersOverlap,
                   concat(lifetimeWords(entry, other->second), ", and ",
                          lifetimeWords(entry, change.buffer), ": they overlap")};
    row.emplace(buffer.offset, change.buffer);
  }
  return {};
}

Finding checkAccess(const FlatPlan &plan, const Placed &placed, uint32_t action,
                    const std::vector<uint32_t> &loops) {
  const Buffer &buffer = plan.entry.buffers[placed.buffer];
  auto fail = [&](FaultKind kind, const std::string &what) {
    return Fault{kind,
                 concat(accessWords(plan, placed), ": ", lifetimeWords(plan.entry, placed.buffer),
                        ", ", what),
                 placed.number()};
  };
  if (action < buffer.first || action > buffer.last)
    return fail(FaultKind::outsideLifetime, concat("is used at ", action));
  // In the next round its place would hold something else.
  for (uint32_t loop : loops)
    if (buffer.first <= loop && buffer.last < plan.steps[loop].last)
      return fail(FaultKind::diesInLoop,
                  concat("is used in the loop of actions ", loop, " to ", plan.steps[loop].last));
  return {};
}

} // namespace

Finding checkLifetimes(const FlatPlan &plan) {
  for (uint32_t i = 0; i < plan.entry.buffers.size(); ++i)
    if (Finding fault = checkBuffer(plan, i))
      return fault;
  if (Finding fault = checkOverlaps(plan.entry))
    return fault;
  std::vector<uint32_t> loops; // around the step; a loop's own accesses happen inside it
  for (uint32_t i = 0; i < plan.steps.size(); ++i) {
    const Step &step = plan.steps[i];
    loops.resize(step.depth);
    if (step.action->kind == Action::Kind::loop)
      loops.push_back(i);
    for (uint32_t a = step.accesses; a < step.ownAccessesEnd; ++a)
      if (Finding fault = checkAccess(plan, plan.accesses[a], i, loops))
        return fault;
  }
  for (uint32_t a = plan.inputs; a < plan.contents; ++a) {
    uint32_t action = a < plan.outputs ? 0 : plan.lastAction();
    if (Finding fault = checkAccess(plan, plan.accesses[a], action, {}))
      return fault;
  }
  return {};
}

} // namespace weir::planned
