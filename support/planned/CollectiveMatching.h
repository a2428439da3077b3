//===- CollectiveMatching.h - Matches the collectives of all ranks --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_PLANNED_COLLECTIVEMATCHING_H
#define WEIR_SUPPORT_PLANNED_COLLECTIVEMATCHING_H

#include "support/planned/QueueSimulation.h"

namespace weir::planned {

/// Matches the collectives of one entry of all programs, which have as many ports with the same
/// shardings.
class CollectiveMatching {
public:
  CollectiveMatching(const MeshPrograms &ranks, uint32_t entry, const Limits &limits)
      : ranks(ranks), mesh(ranks.mesh), entry(entry), limits(limits) {}

  std::optional<RanksFault> check();

private:
  /// A transfer in flight: the kinds of the sender and the receiver, its number and microbatch.
  struct Way {
    uint32_t from, to;
    uint64_t number, round;
    auto operator<=>(const Way &) const = default;
  };

  /// A group of ranks along an axis; one group stands for all whose members are of these kinds.
  struct Group {
    std::map<uint32_t, int64_t> members; ///< of each kind, the first of one group
    size_t waiting = 0;                  ///< kinds
  };

  const std::vector<SyncPoint> &syncPointsOf(uint32_t program) const {
    return ranks.programs[program].entries[entry].syncPoints;
  }
  uint32_t programOf(int64_t rank) const { return ranks.programOf[size_t(rank)]; }

  std::optional<RanksFault> checkSizes(uint32_t program, const std::vector<SyncPoint> &syncPoints,
                                       std::map<std::string_view, uint32_t> &queueOf);
  std::optional<RanksFault> comparePlaces();
  std::optional<RanksFault> follow();
  bool findKinds();
  std::optional<RanksFault> compare(int64_t rank, const SyncPoint &one, int64_t otherRank,
                                    const SyncPoint &other) const;
  RanksFault tooLong() const;
  void mark(uint32_t kind);
  void start();
  std::optional<RanksFault> meet(uint32_t kind, std::string_view axis);
  std::optional<RanksFault> transfer(uint32_t kind, const SyncPoint &here);
  std::optional<RanksFault> unfinished() const;
  RanksFault stuck() const;
  std::optional<RanksFault> checkTransfer(uint32_t program, const SyncPoint &point) const;
  std::optional<RanksFault> send(const Way &way, const SyncPoint &here);
  std::optional<RanksFault> receive(const Way &way, const SyncPoint &here);
  uint32_t peerOf(uint32_t kind, const SyncPoint &transfer) const;
  RanksFault unsent(uint32_t kind, const SyncPoint &receive) const;
  RanksFault fault(FaultKind kind, int64_t rank, const SyncPoint &at,
                   const std::string &what) const;

  const MeshPrograms &ranks;
  const Mesh &mesh;
  const uint32_t entry;
  const Limits &limits;
  std::vector<std::vector<SyncPoint>> collectives; ///< of each program, with its loops
  // Ranks that are always at the same place: the kind of each rank, and a rank of each kind.
  std::vector<uint32_t> kindOf;
  std::vector<int64_t> first;
  uint64_t steps = 0; ///< steps of the simulation

  Way wayOf(uint32_t kind, const SyncPoint &transfer) const {
    uint32_t peer = peerOf(kind, transfer);
    bool sends = transfer.sends();
    return {sends ? kind : peer, sends ? peer : kind, transfer.number, transfer.round};
  }
  std::vector<SimulatedRank> followed;                                ///< of each kind, a rank
  std::map<std::pair<unsigned, std::vector<uint32_t>>, Group> groups; ///< of an axis and kinds
  std::vector<std::map<std::string_view, Group *>> groupsOf;          ///< of each kind, by axis
  std::vector<uint32_t> moving;              ///< kinds whose rank may be able to move
  std::vector<bool> isMoving;                ///< whether a kind is in `moving`
  std::map<Way, const SyncPoint *> sent;     ///< and not received
  std::map<Way, const SyncPoint *> received; ///< the sends
};

} // namespace weir::planned

#endif
