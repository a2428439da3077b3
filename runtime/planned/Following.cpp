//===- Following.cpp - Follows the queues of all ranks --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/planned/Following.h"
#include "runtime/base/Text.h"
#include <algorithm>

namespace weir::planned {

//===----------------------------------------------------------------------===//
// A place in a program
//===----------------------------------------------------------------------===//

static bool holdsAny(const Meeting &meeting) {
  return !meeting.rounds || std::ranges::any_of(meeting.body, holdsAny);
}

void Place::settle() {
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
    const Meeting &meeting = (*frame.list)[frame.index];
    if (!meeting.rounds)
      return;
    if (holdsAny(meeting))
      frames.push_back({&meeting.body, &meeting});
    else
      ++frame.index;
  }
}

bool Place::isInRoundsOf(const Place &other) const {
  return std::ranges::equal(frames, other.frames, [](const Frame &a, const Frame &b) {
    return a.round == b.round && (a.loop ? a.loop->rounds : 0) == (b.loop ? b.loop->rounds : 0);
  });
}

std::string Place::rounds() const {
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

uint64_t FollowedRank::move(uint64_t most, std::vector<std::string_view> &come) {
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
bool FollowedRank::issue(std::vector<std::string_view> &come) {
  const Meeting *next = issued.at();
  if (!next)
    return false;
  if (next->order == Meeting::Order::record) {
    events[next->event] = {next->queue, next->queue ? queues[next->queue].given : 0};
  } else if (next->order == Meeting::Order::wait) {
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
bool FollowedRank::work(Queue &queue, std::vector<std::string_view> &come) {
  if (queue.jobs.empty())
    return false;
  const Job &next = queue.jobs.front();
  if (next.collective) {
    const Meeting &meeting = *next.collective->at();
    if (here.try_emplace(meeting.axis, *next.collective).second) {
      queueOf[meeting.axis] = meeting.queue;
      come.push_back(meeting.axis);
    }
    return false;
  }
  if (queues[next.queue].done < next.moment)
    return false;
  queue.jobs.pop_front();
  ++queue.done;
  return true;
}

const Meeting *FollowedRank::transfer() const {
  const Meeting *next = issued.at();
  return next && next->isTransfer() ? next : nullptr;
}

const Place *FollowedRank::hereAlong(std::string_view axis) const {
  auto found = here.find(axis);
  return found == here.end() ? nullptr : &found->second;
}

void FollowedRank::pass(std::string_view axis) {
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
const Place *FollowedRank::waitsIn(uint32_t number, size_t depth) const {
  auto found = queues.find(number);
  if (found == queues.end() || found->second.jobs.empty() || depth > queues.size())
    return nullptr;
  const Job &next = found->second.jobs.front();
  return next.collective ? &*next.collective : waitsIn(next.queue, depth + 1);
}

const Place *FollowedRank::waitsIn() const {
  const Meeting *next = issued.at();
  if (next && next->order == Meeting::Order::none)
    return &issued;
  if (next)
    return waitsIn(events.at(next->event).first);
  for (const auto &[number, queue] : queues)
    if (const Place *place = waitsIn(number))
      return place;
  return nullptr;
}

const Place *FollowedRank::keptFrom(std::string_view axis) const {
  for (const auto &[number, queue] : queues)
    for (const Job &job : queue.jobs)
      if (job.collective && job.collective->at()->axis == axis)
        return waitsIn(number);
  return waitsIn();
}

} // namespace weir::planned
