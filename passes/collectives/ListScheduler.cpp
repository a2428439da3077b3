//===- ListScheduler.cpp - Starts collectives early, for overlap ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A list scheduler. It issues actions in the order they had, and simulates the clocks of queue 0
// and of the other queues. The next collective starts as soon as its operands can be computed: the
// few actions that it still needs, such as the sum after another collective, go before other
// computation. A collective that reads only variables could start at any time, but its result would
// occupy memory from then on. So it starts before its use by the time that it takes.
//
//===----------------------------------------------------------------------===//

#include "passes/collectives/ListScheduler.h"
#include <cmath>

using namespace mlir;

namespace weir {

// A start allows a collective this multiple of its time, because the clock is inexact.
constexpr double margin = 1.25;
// The fraction of a collective's time for which other actions may run out of order to start it.
constexpr double mostHurried = 0.5;
// The number of nodes to visit for one that need not wait.
constexpr unsigned mostAhead = 256;

ListScheduler::ListScheduler(const Dependences &actions, std::vector<double> seconds,
                             std::vector<uint64_t> queues, const SchedulingLimits &limits)
    : actions(actions), nodes(actions.nodes), seconds(std::move(seconds)),
      queues(std::move(queues)), limits(limits), states(nodes.size()), releases(nodes.size()),
      left(actions.touched) {
  for (auto [i, node] : llvm::enumerate(nodes)) {
    states[i].waits = node.behind.size();
    for (unsigned before : node.behind)
      states[before].next.push_back(i);
    if (node.hasCollectives)
      ordered.push_back(i);
  }
}

/// From the last one backwards: each is done when its user starts, and later ones have started by
/// then.
void ListScheduler::findReleases() {
  std::vector<double> begins;
  double time = 0;
  for (unsigned i = 0; i < nodes.size(); ++i) {
    begins.push_back(time);
    time += isCollective(i) ? 0 : seconds[i];
    late.push_back(nodes[i].ofVariables &&
                   (isCollective(i) ||
                    llvm::any_of(nodes[i].behind, [&](unsigned before) { return late[before]; })));
  }
  // A value that follows from them is computed at its use, at any position.
  std::vector<double> wanted(nodes.size(), time);
  llvm::DenseMap<uint64_t, double> begun;
  for (unsigned i = nodes.size(); i-- > 0;) {
    for (unsigned user : states[i].next)
      wanted[i] = std::min(wanted[i], wanted[user]);
    if (!late[i])
      wanted[i] = begins[i];
    else if (!isCollective(i))
      wanted[i] -= seconds[i];
    if (!isCollective(i))
      continue;
    double &latest = begun.try_emplace(queues[i], time).first->second;
    for (unsigned user : states[i].next)
      latest = std::min(latest, wanted[user]);
    latest -= margin * seconds[i];
    wanted[i] = std::min(wanted[i], latest);
    releases[i] = nodes[i].ofVariables ? latest : 0;
  }
}

bool ListScheduler::isReady(unsigned node) const {
  return !states[node].given && states[node].waits == 0 &&
         (!nodes[node].hasCollectives || (head < ordered.size() && ordered[head] == node));
}

double ListScheduler::waitsUntil(unsigned node) const {
  double until = 0;
  for (unsigned before : nodes[node].behind)
    if (isCollective(before))
      until = std::max(until, states[before].done);
  return until;
}

int64_t ListScheduler::bytesAdded(unsigned node) const {
  int64_t bytes = 0;
  for (Dependences::Memory memory : nodes[node].touches)
    if (auto size = actions.sizes.find(memory);
        size != actions.sizes.end() && !live.contains(memory))
      bytes += size->second;
  return bytes;
}

void ListScheduler::touch(unsigned node) {
  for (Dependences::Memory memory : nodes[node].touches)
    if (auto size = actions.sizes.find(memory);
        size != actions.sizes.end() && live.insert(memory).second)
      alive += size->second;
}

void ListScheduler::letGo(unsigned node) {
  for (Dependences::Memory memory : nodes[node].touches)
    if (auto size = actions.sizes.find(memory); size != actions.sizes.end() && --left[memory] == 0)
      alive -= size->second;
}

/// Queue 0 has waited for it, and for those before it on its queue.
void ListScheduler::await(unsigned collective) {
  auto &some = beside[queues[collective]];
  while (!some.empty() && some.front() <= collective) {
    letGo(some.front());
    some.erase(some.begin());
  }
}

void ListScheduler::give(unsigned node) {
  states[node].given = true;
  given.push_back(node);
  for (unsigned after : states[node].next)
    --states[after].waits;
  if (nodes[node].hasCollectives)
    ++head;
  touch(node);
  if (isCollective(node)) {
    double &queue = free[queues[node]];
    queue = std::max({queue, now, waitsUntil(node)}) + seconds[node];
    states[node].done = queue;
    beside[queues[node]].push_back(node);
    return;
  }
  for (unsigned before : nodes[node].behind)
    if (isCollective(before))
      await(before);
  now = std::max(now, waitsUntil(node)) + seconds[node];
  states[node].done = now;
  letGo(node);
}

/// Issues the next collective if it is time.
bool ListScheduler::begin() {
  if (head == ordered.size() || !isCollective(ordered[head]))
    return false;
  unsigned node = ordered[head];
  if (!isReady(node) || releases[node] > soonestEnd() || !hasRoom(node))
    return false;
  give(node);
  return true;
}

/// Issues the first of the few actions that the next collective still needs.
bool ListScheduler::hurry() {
  if (head == ordered.size() || !isCollective(ordered[head]))
    return false;
  unsigned collective = ordered[head];
  double most = mostHurried * seconds[collective], sum = 0;
  if (releases[collective] > soonestEnd() + most)
    return false;
  llvm::SmallVector<unsigned> needed = {collective};
  llvm::SmallDenseSet<unsigned> seen;
  std::optional<unsigned> ready;
  for (size_t i = 0; i < needed.size(); ++i)
    for (unsigned before : nodes[needed[i]].behind) {
      if (states[before].given || !seen.insert(before).second)
        continue;
      sum += seconds[before];
      if (nodes[before].hasCollectives || sum > most)
        return false;
      needed.push_back(before);
      // The clock knows only approximately when a collective is done.
      for (unsigned other : nodes[before].behind)
        if (isCollective(other) && states[other].given &&
            states[other].done + (margin - 1) * seconds[other] > now)
          return false;
      if (isReady(before) && (!ready || before < *ready))
        ready = before;
    }
  if (!ready || !hasRoom(*ready))
    return false;
  give(*ready);
  return true;
}

/// The first node of queue 0 that is not issued and is not held back, or the number of nodes.
unsigned ListScheduler::upcoming() {
  while (first < nodes.size() && states[first].given)
    ++first;
  unsigned node = first;
  while (node < nodes.size() && (states[node].given || isCollective(node) || late[node]))
    ++node;
  return node;
}

/// The next node to issue before that node can be.
unsigned ListScheduler::neededFor(unsigned node) {
  while (true) {
    auto before = llvm::find_if(nodes[node].behind, [&](unsigned i) { return !states[i].given; });
    if (before != nodes[node].behind.end())
      node = *before;
    else if (nodes[node].hasCollectives && ordered[head] != node)
      node = ordered[head];
    else
      return node;
  }
}

/// The end of the next node, if it starts as soon as it can.
double ListScheduler::soonestEnd() {
  unsigned node = upcoming();
  return node == nodes.size() ? INFINITY : std::max(now, waitsUntil(node)) + seconds[node];
}

/// The first available node, or another while that one would wait. Collectives of variables, and
/// nodes that follow from them, are held back until something needs them.
unsigned ListScheduler::next() {
  unsigned soonest = upcoming();
  if (soonest == nodes.size() || !isReady(soonest))
    return neededFor(soonest == nodes.size() ? first : soonest);
  if (!limits.passes)
    return soonest;
  unsigned last = std::min<size_t>(nodes.size(), first + mostAhead);
  for (unsigned i = first; i < last && waitsUntil(soonest) > now; ++i)
    if (!isCollective(i) && !late[i] && isReady(i) && waitsUntil(i) < waitsUntil(soonest) &&
        hasRoom(i))
      soonest = i;
  return soonest;
}

std::vector<unsigned> ListScheduler::order() {
  findReleases();
  while (given.size() < nodes.size())
    if (!begin() && !hurry())
      give(next());
  return std::move(given);
}

} // namespace weir
