//===- Ranks.h - Proves that the ranks of a mesh match --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Proves, without running them, of the programs of all ranks together:
// - every rank has one, with the same variables, entries and ports in the same shardings;
// - the shards of each tensor cover it, and every element belongs to one shard;
// - the members of a collective reach the same collective, over the same axis, in the same rounds
//   of the same loops, with sizes and a type that agree;
// - for every receive, another rank sends once, with the same size and type, for the same
//   microbatch, and every send has a receive;
// - no rank ever waits for a rank that waits for it, or that has ended.
//
// The collectives along one axis are on one queue, which runs them in the order of issue. So each
// finds those of the other ranks in the same place. A sender does not wait for the receiver, and
// transfers are on queue 0.
//
// If all programs issue their collectives over the same axes in the same loops, as the programs of
// one model do that differ only in sizes, no deadlock is possible. On one queue, all ranks proceed
// together, and several queues only wait for less. So a comparison in order is enough. Otherwise,
// the ranks are simulated with all their queues: a queue runs its next action when everything that
// it waits for is done. The actions of queue 0 give the other queues their work, as on a device
// that one thread drives; if all queues ran by themselves, they would wait for less. Ranks that run
// the same program and communicate with alike ranks in the same way are always at the same place,
// so one of them is simulated for all. The time depends on the number of different programs, not of
// ranks.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_PLANNED_RANKS_H
#define WEIR_SUPPORT_PLANNED_RANKS_H

#include "support/mesh/Mesh.h"
#include "support/planned/Fault.h"
#include "support/planned/Verify.h"
#include "support/precision/Element.h"
#include <vector>

namespace weir::planned {

/// A collective, an end of a transfer, a loop around some, or an event action of their queues.
/// Loops without any may be omitted.
struct SyncPoint {
  uint32_t action = 0; ///< its number in the entry
  uint32_t queue = 0;  ///< unused for a loop
  // For a loop:
  uint64_t rounds = 0; ///< of all others, 0
  std::vector<SyncPoint> body = {};
  // For an action that records an event or waits for it, as Action::Kind:
  enum class Order : uint8_t { none, record, wait };
  Order order = Order::none; ///< none for a collective
  uint32_t event = 0;
  // For a collective:
  std::string kind = ""; ///< "all_gather"
  std::string axis = "";
  uint64_t number = 0;     ///< the same on all ranks, from 1 on; 0: none
  std::string source = ""; ///< its place in the model: "gpt.weir:12:7", or ""
  Element element = Element::f32;
  std::vector<uint64_t> bytes = {}; ///< of each member
  uint64_t own = 0;                 ///< this rank's
  // For an end of a transfer, with the kind "send" or "receive", and one size in `bytes`:
  uint64_t peer = 0;  ///< the other end's coordinate along the axis
  uint64_t round = 0; ///< the microbatch

  bool sends() const { return kind == "send"; }
  bool isTransfer() const { return sends() || kind == "receive"; }
};

/// A variable or a port.
struct RankTensor {
  std::string name;
  Element element = Element::f32;
  std::vector<int64_t> shape; ///< of the whole tensor
  std::string layout;         ///< support/mesh/Layout.h; "": all ranks have it
  std::vector<int64_t> own;   ///< the shape of what the program has
};

struct RankEntry {
  std::string name;
  std::vector<RankTensor> inputs, results;
  std::vector<SyncPoint> syncPoints;
};

struct RankProgram {
  std::vector<RankTensor> variables;
  std::vector<RankEntry> entries;
};

/// Only the mesh has to be correct.
struct MeshPrograms {
  Mesh mesh;
  std::vector<RankProgram> programs;
  std::vector<uint32_t> programOf; ///< by rank
};

/// A fault of a program, with another one that it does not match.
struct RanksFault : Fault {
  uint32_t program = 0;
  std::optional<uint32_t> entry = std::nullopt; ///< by number; none for a fault of a variable
};

/// The first fault, if there is one.
std::optional<RanksFault> verifyRanks(const MeshPrograms &ranks, const Limits &limits = {});

} // namespace weir::planned

#endif
