//===- Schedules.cpp - Pipeline schedules ---------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "passes/stages/Schedules.h"
#include "support/Text.h"
#include <algorithm>
#include <map>
#include <tuple>

namespace weir::stages {
namespace {

std::string anything(const Pipe &) { return ""; }

/// All forward, then all backward (Huang et al., "GPipe", NeurIPS 2019).
std::vector<Slot> gpipe(const Pipe &pipe, int64_t) {
  std::vector<Slot> order;
  for (int64_t i = 0; i < pipe.microbatches; ++i)
    order.push_back({Slot::forward, 0, i});
  for (int64_t i = 0; i < pipe.microbatches; ++i)
    order.push_back({Slot::backward, 0, i});
  return order;
}

/// 1F1B: as many forward passes as fill the pipeline, then one forward and one backward in turn
/// (Narayanan et al., "PipeDream", SOSP 2019, with the flush of "Memory-efficient pipeline-parallel
/// DNN training", ICML 2021). With several stages per rank, a rank runs groups of as many
/// microbatches as ranks, stage by stage (Narayanan et al., "Efficient large-scale language model
/// training on GPU clusters using Megatron-LM", SC 2021).
std::vector<Slot> oneForwardOneBackward(const Pipe &pipe, int64_t rank) {
  int64_t all = pipe.microbatches * pipe.chunks, group = pipe.ranks * pipe.chunks;
  int64_t ahead = pipe.chunks == 1 ? pipe.ranks - 1 - rank
                                   : 2 * (pipe.ranks - 1 - rank) + (pipe.chunks - 1) * pipe.ranks;
  ahead = std::min(ahead, all);
  auto slot = [&](Slot::Kind kind, int64_t number) {
    if (pipe.chunks == 1)
      return Slot{kind, 0, number};
    int64_t in = number % group, chunk = in / pipe.ranks;
    return Slot{kind, kind == Slot::forward ? chunk : pipe.chunks - 1 - chunk,
                number / group * pipe.ranks + in % pipe.ranks};
  };
  std::vector<Slot> order;
  for (int64_t i = 0; i < ahead; ++i)
    order.push_back(slot(Slot::forward, i));
  for (int64_t i = 0; i < all; ++i) {
    if (ahead + i < all)
      order.push_back(slot(Slot::forward, ahead + i));
    order.push_back(slot(Slot::backward, i));
  }
  return order;
}

std::string groupsOfRanks(const Pipe &pipe) {
  if (pipe.microbatches % pipe.ranks == 0)
    return "";
  return concat("--schedule interleaved runs groups of ", pipe.ranks,
                " microbatches, one per rank of --mesh pp=", pipe.ranks, ", but a step has ",
                pipe.microbatches, ": expected --microbatches to be a multiple of ", pipe.ranks);
}

/// Simulates all ranks. At each moment, each rank runs a forward section as 1F1B would, if its
/// memory for as many microbatches as ranks allows it, else a gradient of activations, else a
/// gradient of parameters. With equal sections, this is the schedule ZB-H1 of Qi et al., "Zero
/// bubble pipeline parallelism", ICLR 2024.
std::vector<Slot> zeroBubble(const Pipe &pipe, int64_t rank) {
  struct State {
    std::vector<Slot> order = {};
    int64_t forward = 0, backward = 0, weights = 0; // done
  };
  std::vector<State> ranks(size_t(pipe.ranks));
  int64_t all = pipe.microbatches, left = 3 * all * pipe.ranks;
  while (left > 0) {
    std::vector<State> before = ranks; // the state of the others at this moment
    for (int64_t r = 0; r < pipe.ranks; ++r) {
      State &own = ranks[size_t(r)];
      bool isLast = r + 1 == pipe.ranks;
      int64_t arrived = r == 0 ? all : before[size_t(r - 1)].forward;
      int64_t returned = isLast ? own.forward : before[size_t(r + 1)].backward;
      if (own.forward < arrived && own.forward - own.weights < pipe.ranks &&
          own.forward - own.backward < pipe.ranks - r)
        own.order.push_back({Slot::forward, 0, own.forward++});
      else if (own.backward < std::min(returned, own.forward))
        own.order.push_back({Slot::backward, 0, own.backward++});
      else if (own.weights < own.backward)
        own.order.push_back({Slot::weights, 0, own.weights++});
      else
        continue;
      --left;
    }
  }
  return ranks[size_t(rank)].order;
}

double ofFlush(const Pipe &pipe) {
  return double(pipe.ranks - 1) / double(pipe.microbatches * pipe.chunks);
}
/// One third of the 1F1B bubble, if the three sections take equal times.
double ofZeroBubble(const Pipe &pipe) { return ofFlush(pipe) / 3; }

constexpr Schedule all[] = {
    // All microbatches forward, then all backward.
    {PipelineSchedule::gpipe, false, 1, anything, gpipe, ofFlush},
    // One forward and one backward in turn: saves activations of as many microbatches as ranks.
    {PipelineSchedule::one_f_one_b, false, 1, anything, oneForwardOneBackward, ofFlush},
    // The same, with several stages on each rank: a fraction of the bubble.
    {PipelineSchedule::interleaved, false, 2, groupsOfRanks, oneForwardOneBackward, ofFlush},
    // Gradients of parameters separately, when a rank would wait.
    {PipelineSchedule::zero_bubble, true, 1, anything, zeroBubble, ofZeroBubble},
};

} // namespace

Schedule scheduleOf(const PipelineSchedule &asked) {
  Schedule schedule = *std::ranges::find(all, asked.kind, &Schedule::kind);
  schedule.chunks = asked.chunks;
  return schedule;
}

std::optional<Measured> measure(const Schedule &schedule, const Pipe &pipe, const Costs &costs) {
  struct Rank {
    std::vector<Slot> order;
    size_t next = 0;
    double free = 0; // the end of its last section
    int64_t inFlight = 0;
  };
  std::vector<Rank> ranks;
  for (int64_t rank = 0; rank < pipe.ranks; ++rank)
    ranks.push_back({schedule.order(pipe, rank)});
  // The end of each section of a microbatch on a stage.
  std::map<std::tuple<int, int64_t, int64_t>, double> done;
  const int64_t stages = pipe.ranks * pipe.chunks;
  Measured measured;
  measured.mostInFlight.assign(size_t(pipe.ranks), 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (int64_t r = 0; r < pipe.ranks; ++r) {
      Rank &rank = ranks[size_t(r)];
      while (rank.next < rank.order.size()) {
        const Slot &slot = rank.order[rank.next];
        int64_t stage = slot.chunk * pipe.ranks + r;
        double begin = rank.free, takes = costs.forward;
        auto after = [&](Slot::Kind kind, int64_t other) {
          auto found = done.find({kind, other, slot.microbatch});
          if (found == done.end())
            return false;
          begin = std::max(begin, found->second);
          return true;
        };
        bool ready = true;
        if (slot.kind == Slot::forward) {
          ready = stage == 0 || after(Slot::forward, stage - 1);
        } else if (slot.kind == Slot::backward) {
          ready = after(Slot::forward, stage) &&
                  (stage + 1 == stages || after(Slot::backward, stage + 1));
          takes = costs.backward;
        } else {
          ready = after(Slot::backward, stage);
          takes = costs.weights;
        }
        if (!ready)
          break;
        rank.inFlight += slot.kind == Slot::forward;
        int64_t &most = measured.mostInFlight[size_t(r)];
        most = std::max(most, rank.inFlight);
        rank.inFlight -=
            slot.kind == (schedule.splitsWeights ? Slot::weights : Slot::backward) ? 1 : 0;
        rank.free = begin + takes;
        done[{slot.kind, stage, slot.microbatch}] = rank.free;
        measured.busy += takes;
        measured.time = std::max(measured.time, rank.free);
        ++rank.next;
        moved = true;
      }
    }
  }
  for (const Rank &rank : ranks)
    if (rank.next < rank.order.size())
      return std::nullopt;
  return measured;
}

} // namespace weir::stages
