//===- Ranks.h - Proves that the ranks of a mesh fit together -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Proves, without running them, of the programs of all ranks at once:
//   - every rank has one, with the same variables, entries and ports in the same layouts;
//   - the ranks' shares are each tensor, every place of it once;
//   - the members of a collective come to it together: to the same one, over the same axis, in the
//     same rounds of the same loops, with sizes and a type that agree;
//   - what a rank receives another sends, once, with the same size and type, for the same
//     microbatch, and nothing is sent that nobody receives;
//   - none of them ever waits for a rank that waits for it, or that has ended.
//
// The collectives along one axis are on one queue, which does them in the order in which they are
// issued: so each finds the others' where it is. Who sends does not wait for who receives, and
// transfers are on queue 0.
//
// Where all programs issue theirs over the same axes in the same loops, as those of one model do
// that differ in sizes, nothing can get stuck: one after the other they proceed, all ranks always
// at the same place, and on several queues they only ever wait for less. It is enough to compare
// place by place. Where not, the ranks are followed, each queue of them: one does next what it was
// given when what it was told to wait for is done. Who does what is on queue 0 gives the others
// what is theirs, as on a device that one thread drives; where all queues go by themselves, they
// wait for less. Ranks that run the same program and meet ranks alike in the same way are always at
// the same place of it, so one of them is followed for all: the time is that of the different
// programs, not of the ranks.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_PLANNED_RANKS_H
#define WEIR_RUNTIME_PLANNED_RANKS_H

#include "runtime/base/Element.h"
#include "runtime/base/Mesh.h"
#include "runtime/planned/Fault.h"
#include "runtime/planned/Verify.h"
#include <vector>

namespace weir::planned {

/// A collective, an end of a transfer, a loop around some, or what orders the queues that they are
/// on. Loops without any may be left out.
struct SyncPoint {
  uint32_t action = 0; ///< its number in the entry
  uint32_t queue = 0;  ///< of a loop nothing
  // A loop's.
  uint64_t rounds = 0; ///< of all others 0
  std::vector<SyncPoint> body = {};
  // Of what records an event or waits for it, as Action::Kind.
  enum class Order : uint8_t { none, record, wait };
  Order order = Order::none; ///< of a collective none
  uint32_t event = 0;
  // A collective's.
  std::string kind = ""; ///< "all_gather"
  std::string axis = "";
  uint64_t number = 0;     ///< that it has on all ranks, from 1 on; 0: it has none
  std::string source = ""; ///< what it was made for: "gpt.weir:12:7", or ""
  Element element = Element::f32;
  std::vector<uint64_t> bytes = {}; ///< of each member
  uint64_t own = 0;                 ///< this rank's
  // An end of a transfer's: its kind is "send" or "receive", and `bytes` is one, its size.
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
  std::string layout;         ///< runtime/base/Layout.h; "": all ranks have it
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

/// Nothing here need be true but the mesh.
struct MeshPrograms {
  Mesh mesh;
  std::vector<RankProgram> programs;
  std::vector<uint32_t> programOf; ///< of each rank
};

/// What is wrong with a program, beside another one.
struct RanksFault : Fault {
  uint32_t program = 0;
  std::optional<uint32_t> entry = std::nullopt; ///< by number; none where it is of a variable
};

/// The first fault, if there is one.
std::optional<RanksFault> verifyRanks(const MeshPrograms &ranks, const Limits &limits = {});

} // namespace weir::planned

#endif
