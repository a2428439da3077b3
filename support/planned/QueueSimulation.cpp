//===- QueueSimulation.cpp - Simulates the queues of all ranks ------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/planned/QueueSimulation.h"
#include "support/Text.h"
#include <algorithm>

namespace weir::planned {

//===----------------------------------------------------------------------===//
// A place in a program
//===----------------------------------------------------------------------===//

static bool holdsAny(const SyncPoint &point) {
  return !point.rounds || std::ranges::any_of(point.body, holdsAny);
}

void Position::settle() {
  while (!frames.empty()) {
    Frame &frame = frames.back();
    if (frame.index == frame.list->size()) {
      if (frame.loop && ++frame.round < frame.loop->rounds) {
        frame.index = 0;
        continue;
      }
      frames.pop_back();
      if (!frames.empty())
        ++frames.back().index;
      continue;
    }
    const SyncPoint &point = (*frame.list)[frame.index];
    if (!point.rounds)
      return;
    if (holdsAny(point))
      frames.push_back({&point.body, &point});
    else
      ++frame.index;
  }
}

bool Position::isInRoundsOf(const Position &other) const {
  return std::ranges::equal(frames, other.frames, [](const Frame &a, const Frame &b) {
    return a.round == b.round && (a.loop ? a.loop->rounds : 0) == (b.loop ? b.loop->rounds : 0);
  });
}

std::string Position::rounds() const {
  std::string words;
  for (const Frame &frame : frames)
    if (frame.loop)
      words +=
          concat(words.empty() ? "in round " : ", ", frame.round + 1, " of ", frame.loop->rounds);
  return words.empty() ? "in no loop" : words;
}

//===----------------------------------------------------------------------===//
// A rank
//===----------------------------------------------------------------------===//

uint64_t SimulatedRank::move(uint64_t most, std::vector<std::string_view> &come) {
  uint64_t steps = 0;
  for (bool moved = true; moved && steps <= most;) {
    moved = issue(come);
    for (auto &[number, queue] : queues)
      moved |= work(queue, come);
    ++steps;
  }
  return steps;
}

/// Does or gives away the next action. False where it has to wait, or has ended.
bool SimulatedRank::issue(std::vector<std::string_view> &come) {
  const SyncPoint *next = issued.at();
  if (!next)
    return false;
  if (next->order == SyncPoint::Order::record) {
    events[next->event] = {next->queue, next->queue ? queues[next->queue].given : 0};
  } else if (next->order == SyncPoint::Order::wait) {
    auto event = events.find(next->event);
    // What queue 0 has done comes before whatever is given away behind it.
    if (event != events.end() && event->second.first != 0 && event->second.first != next->queue) {
      auto [queue, moment] = event->second;
      if (next->queue) {
        queues[next->queue].jobs.push_back({std::nullopt, queue, moment});
        ++queues[next->queue].given;
      } else if (queues[queue].done < moment) {
        return false;
      }
    }
  } else if (next->isTransfer()) {
    return false;
  } else if (next->queue) {
    queues[next->queue].jobs.push_back({issued});
    ++queues[next->queue].given;
  } else {
    if (here.try_emplace(next->axis, issued).second) {
      queueOf[next->axis] = 0;
      come.push_back(next->axis);
    }
    return false;
  }
  issued.advance();
  return true;
}

/// Does the next of what the queue was given. False where it has to wait, or there is nothing.
bool SimulatedRank::work(Queue &queue, std::vector<std::string_view> &come) {
  if (queue.jobs.empty())
    return false;
  const Job &next = queue.jobs.front();
  if (next.collective) {
    const SyncPoint &point = *next.collective->at();
    if (here.try_emplace(point.axis, *next.collective).second) {
      queueOf[point.axis] = point.queue;
      come.push_back(point.axis);
    }
    return false;
  }
  if (queues[next.queue].done < next.moment)
    return false;
  queue.jobs.pop_front();
  ++queue.done;
  return true;
}

const SyncPoint *SimulatedRank::transfer() const {
  const SyncPoint *next = issued.at();
  return next && next->isTransfer() ? next : nullptr;
}

const Position *SimulatedRank::hereAlong(std::string_view axis) const {
  auto found = here.find(axis);
  return found == here.end() ? nullptr : &found->second;
}

void SimulatedRank::pass(std::string_view axis) {
  here.erase(axis);
  if (uint32_t number = queueOf.at(axis)) {
    Queue &queue = queues[number];
    queue.jobs.pop_front();
    ++queue.done;
  } else {
    issued.advance();
  }
}

/// What a queue does now.
const Position *SimulatedRank::waitsIn(uint32_t number, size_t depth) const {
  auto found = queues.find(number);
  if (found == queues.end() || found->second.jobs.empty() || depth > queues.size())
    return nullptr;
  const Job &next = found->second.jobs.front();
  return next.collective ? &*next.collective : waitsIn(next.queue, depth + 1);
}

const Position *SimulatedRank::waitsIn() const {
  const SyncPoint *next = issued.at();
  if (next && next->order == SyncPoint::Order::none)
    return &issued;
  if (next)
    return waitsIn(events.at(next->event).first);
  for (const auto &[number, queue] : queues)
    if (const Position *place = waitsIn(number))
      return place;
  return nullptr;
}

const Position *SimulatedRank::keptFrom(std::string_view axis) const {
  for (const auto &[number, queue] : queues)
    for (const Job &job : queue.jobs)
      if (job.collective && job.collective->at()->axis == axis)
        return waitsIn(number);
  return waitsIn();
}

} // namespace weir::planned
