//===- LoopPeriods.cpp - Skips rounds of a loop that repeat ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/planned/LoopPeriods.h"
#include "support/Text.h"
#include "support/planned/Words.h"
#include <algorithm>
#include <numeric>

namespace weir::planned {

uint64_t addressIn(const Placed &placed, const Rounds &rounds) {
  uint64_t address = placed.address;
  for (uint32_t depth = 0; depth < limits::loops; ++depth) {
    const Motion &motion = placed.motions[depth];
    if (motion.bytes == 0)
      continue;
    const Round &round = rounds[depth];
    uint64_t index = motion.modulus ? round.index % motion.modulus : round.index - round.leftOut;
    address += uint64_t(motion.bytes) * index;
  }
  return address;
}

ByteRanges byteRangesIn(const Placed &placed, const Rounds &rounds) {
  std::vector<Dim> more;
  for (uint32_t depth = 0; depth < limits::loops; ++depth)
    if (rounds[depth].leftOut && placed.motions[depth].travels())
      more.push_back({rounds[depth].leftOut + 1, placed.motions[depth].bytes});
  if (more.empty())
    return placed.ranges;
  more.insert(more.end(), placed.ranges.dims.begin(), placed.ranges.dims.end());
  ByteRanges ranges = byteRangesOf(placed.ranges.bytes, more);
  ranges.begin += placed.ranges.begin;
  return ranges;
}

namespace {

/// What one access touches in a loop. Where it stands for rounds that a loop around has left out,
/// it has a copy for each, in slots of that loop: what is so in one copy is so in all.
struct Sweep {
  const Placed *placed;
  uint64_t firstBegin, firstEnd; // in the first round, in one copy
  uint64_t begin, end;           // in all rounds and copies
  int64_t travel;                // 0: none
};

void widen(uint64_t &begin, uint64_t &end, const Motion &motion) {
  uint64_t travel = uint64_t(motion.bytes) * motion.last;
  (motion.bytes < 0 ? begin : end) += travel;
}

Sweep sweepOf(const Placed &placed, uint32_t depth, const Rounds &around) {
  Rounds rounds = around;
  for (uint32_t inner = depth; inner < limits::loops; ++inner)
    rounds[inner] = {};
  uint64_t address = addressIn(placed, rounds);
  auto rangeOf = [&](const ByteRanges &ranges) {
    uint64_t begin = address + ranges.begin, end = begin + ranges.span();
    for (uint32_t inner = depth + 1; inner < limits::loops; ++inner)
      widen(begin, end, placed.motions[inner]);
    return std::pair(begin, end);
  };
  const Motion &motion = placed.motions[depth];
  auto [firstBegin, firstEnd] = rangeOf(placed.ranges);
  auto [begin, end] = rangeOf(byteRangesIn(placed, rounds));
  widen(begin, end, motion);
  return {&placed, firstBegin, firstEnd, begin, end, motion.travels() ? motion.bytes : 0};
}

/// Sweeps that meet, however indirectly, from `first` to `last`: why they keep no slots, or
/// nothing.
std::string obstacleIn(const FlatPlan &plan, const Sweep *first, const Sweep *last) {
  const Sweep *traveller = std::find_if(first, last, [](const Sweep &s) { return s.travel; });
  bool isWritten = std::any_of(first, last, [](const Sweep &s) { return s.placed->writes; });
  if (traveller == last || !isWritten)
    return "";
  uint64_t begin = traveller->firstBegin, end = traveller->firstEnd;
  uint64_t slot = traveller->travel < 0 ? -uint64_t(traveller->travel) : traveller->travel;
  for (const Sweep *sweep = first; sweep != last; ++sweep) {
    begin = std::min(begin, sweep->firstBegin);
    end = std::max(end, sweep->firstEnd);
    if (sweep->travel != traveller->travel)
      return concat(accessWords(plan, *traveller->placed), " moves by ", traveller->travel,
                    " bytes a round, and ", accessWords(plan, *sweep->placed), " by ",
                    sweep->travel, sweep->travel ? "" : " or in a circle");
    if (end - begin > slot)
      return concat(accessWords(plan, *traveller->placed),
                    sweep == traveller ? "" : " and " + accessWords(plan, *sweep->placed), " take ",
                    end - begin, " bytes in a round and move by ", slot);
  }
  return "";
}

} // namespace

LoopPeriod loopPeriodOf(const FlatPlan &plan, uint32_t loop, const Rounds &around, Effort &effort) {
  const Step &step = plan.steps[loop];
  LoopPeriod pattern;
  uint64_t period = 1;
  std::vector<Sweep> sweeps;
  for (uint32_t i = step.accesses; i < step.accessesEnd; ++i) {
    const Placed &placed = plan.accesses[i];
    sweeps.push_back(sweepOf(placed, step.depth, around));
    uint64_t modulus = std::max<uint64_t>(placed.motions[step.depth].modulus, 1);
    if (__builtin_mul_overflow(period / std::gcd(period, modulus), modulus, &period))
      period = UINT64_MAX;
  }
  effort.steps += sweeps.size();
  std::sort(sweeps.begin(), sweeps.end(), [](const Sweep &a, const Sweep &b) {
    return std::tie(a.placed->space, a.begin) < std::tie(b.placed->space, b.begin);
  });
  for (size_t i = 0, next; i < sweeps.size(); i = next) {
    Space space = sweeps[i].placed->space;
    uint64_t end = sweeps[i].end;
    bool travels = sweeps[i].travel;
    for (next = i + 1;
         next < sweeps.size() && sweeps[next].placed->space == space && sweeps[next].begin < end;
         ++next) {
      end = std::max(end, sweeps[next].end);
      travels |= sweeps[next].travel != 0;
    }
    pattern.obstacle = obstacleIn(plan, &sweeps[i], &sweeps[i] + (next - i));
    if (!pattern.obstacle.empty())
      return pattern;
    pattern.hasSlots |= travels;
    if (!travels)
      pattern.regions.push_back({space, sweeps[i].begin, end});
  }
  // One to get going, one to compare and one to leave out.
  if (period > step.action->count / 3)
    pattern.obstacle = concat("they repeat after ", period, " at the earliest");
  else
    pattern.period = period;
  return pattern;
}

State stateOf(const FlatPlan &plan, uint32_t loop, const LoopPeriod &pattern, const Clocks &clocks,
              const std::vector<uint64_t> &begin, const Memory &memory) {
  State state;
  // The loop's own numbers count backwards from now, at the far end from those before it.
  auto add = [&](uint32_t queue, uint64_t sequence) {
    bool isOwn = sequence > begin[queue];
    state.push_back(isOwn ? UINT64_MAX - (clocks.issued(queue) - sequence) : sequence);
  };
  auto addClock = [&](const Clocks::Clock &clock) {
    state.push_back(clock.size());
    for (uint32_t queue = 0; queue < clock.size(); ++queue)
      add(queue, clock[queue]);
  };
  for (uint32_t queue = 0; queue < clocks.queues(); ++queue)
    addClock(clocks.of(queue));
  const Step &step = plan.steps[loop];
  for (uint32_t i = step.records; i < step.recordsEnd; ++i)
    addClock(clocks.ofEvent(plan.records[i]));
  for (const Region &region : pattern.regions)
    memory.visit(region, [&](bool isWrite, uint64_t from, uint64_t to, const Mark &mark) {
      state.insert(state.end(), {isWrite, from, to, mark.access, mark.queue});
      add(mark.queue, mark.sequence);
    });
  return state;
}

} // namespace weir::planned
