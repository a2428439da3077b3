//===- Meetings.h - Follows the collectives of all ranks ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_PLANNED_MEETINGS_H
#define WEIR_RUNTIME_PLANNED_MEETINGS_H

#include "runtime/planned/Following.h"

namespace weir::planned {

/// Of one entry of all programs, which have as many and the same layouts.
class Meetings {
public:
  Meetings(const MeshPrograms &ranks, uint32_t entry, const Limits &limits)
      : ranks(ranks), mesh(ranks.mesh), entry(entry), limits(limits) {}

  std::optional<RanksFault> check();

private:
  /// An end of a transfer on its way: the kinds of who sends and who receives, its number and
  /// microbatch.
  struct Way {
    uint32_t from, to;
    uint64_t number, round;
    auto operator<=>(const Way &) const = default;
  };

  const std::vector<Meeting> &meetingsOf(uint32_t program) const {
    return ranks.programs[program].entries[entry].meetings;
  }
  uint32_t programOf(int64_t rank) const { return ranks.programOf[size_t(rank)]; }

  std::optional<RanksFault> checkSizes(uint32_t program, const std::vector<Meeting> &meetings,
                                       std::map<std::string_view, uint32_t> &queueOf);
  std::optional<RanksFault> comparePlaces();
  std::optional<RanksFault> follow();
  bool findKinds();
  std::optional<RanksFault> compare(int64_t rank, const Meeting &one, int64_t otherRank,
                                    const Meeting &other) const;
  RanksFault stuck(const std::vector<FollowedRank> &followed) const;
  std::optional<RanksFault> checkTransfer(uint32_t program, const Meeting &meeting) const;
  std::optional<RanksFault> send(const Way &way, const Meeting &here);
  std::optional<RanksFault> receive(const Way &way, const Meeting &here);
  uint32_t peerOf(uint32_t kind, const Meeting &transfer) const;
  RanksFault unsent(uint32_t kind, const Meeting &receive) const;
  RanksFault fault(FaultKind kind, int64_t rank, const Meeting &at, const std::string &what) const;

  const MeshPrograms &ranks;
  const Mesh &mesh;
  const uint32_t entry;
  const Limits &limits;
  std::vector<std::vector<Meeting>> collectives; ///< of each program, and its loops
  // Ranks that are always at the same place: of each rank its kind, and of each kind a rank.
  std::vector<uint32_t> kindOf;
  std::vector<int64_t> first;
  uint64_t steps = 0; ///< what following has taken

  Way wayOf(uint32_t kind, const Meeting &transfer) const {
    uint32_t peer = peerOf(kind, transfer);
    bool sends = transfer.sends();
    return {sends ? kind : peer, sends ? peer : kind, transfer.number, transfer.round};
  }
  std::map<Way, const Meeting *> sent;     ///< and not received
  std::map<Way, const Meeting *> received; ///< the sends
};

} // namespace weir::planned

#endif
