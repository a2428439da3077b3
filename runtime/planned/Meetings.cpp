//===- Meetings.cpp - Follows the collectives of all ranks ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/planned/Meetings.h"
#include "runtime/base/Text.h"
#include <algorithm>
#include <set>

namespace weir::planned {

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

static std::string words(const Meeting &meeting) {
  if (meeting.isTransfer()) {
    std::string text =
        concat(meeting.kind, meeting.sends() ? " to " : " from ", meeting.axis, " ", meeting.peer,
               ", number ", meeting.number, " of microbatch ", meeting.round);
    return meeting.source.empty() ? text : concat(text, " (", meeting.source, ")");
  }
  std::string text = concat(meeting.kind, " over ", meeting.axis);
  if (meeting.number)
    text += concat(", collective ", meeting.number);
  return meeting.source.empty() ? text : concat(text, " (", meeting.source, ")");
}

/// The collective of that number, or null.
static const Meeting *find(const std::vector<Meeting> &meetings, uint64_t number) {
  for (const Meeting &meeting : meetings) {
    const Meeting *found = &meeting;
    if (meeting.rounds)
      found = find(meeting.body, number);
    if (found && found->number == number && !found->isTransfer())
      return found;
  }
  return nullptr;
}

RanksFault Meetings::fault(FaultKind kind, int64_t rank, const Meeting &at,
                           const std::string &what) const {
  std::string message = concat("entry '", ranks.programs[programOf(rank)].entries[entry].name,
                               "': rank ", rank, " is in ", words(at), what);
  return {{kind, std::move(message), at.action}, programOf(rank), entry};
}

/// What is wrong where two members meet.
std::optional<RanksFault> Meetings::compare(int64_t rank, const Meeting &one, int64_t otherRank,
                                            const Meeting &other) const {
  auto differs = [&](FaultKind kind, const std::string &more = "") {
    return fault(kind, rank, one, concat(", and rank ", otherRank, " in ", words(other), more));
  };
  if (one.number != other.number) {
    const Meeting *there = find(meetingsOf(programOf(otherRank)), one.number),
                  *here = find(meetingsOf(programOf(rank)), other.number);
    auto missing = [&](int64_t at, uint64_t number) {
      return differs(FaultKind::missingCollective,
                     concat("; rank ", at, " has no collective ", number));
    };
    if (!there)
      return missing(otherRank, one.number);
    if (!here)
      return missing(rank, other.number);
    if (there->axis != one.axis)
      return differs(FaultKind::otherAxis, concat(", whose ", words(*there)));
    if (here->axis != other.axis)
      return differs(FaultKind::otherAxis, concat("; that of rank ", rank, " is ", words(*here)));
    return differs(FaultKind::otherOrder);
  }
  if (one.kind != other.kind)
    return differs(FaultKind::otherKind);
  if (one.source != other.source)
    return differs(FaultKind::otherSource);
  if (one.element != other.element)
    return differs(FaultKind::otherElement,
                   concat(": of ", rowOf(one.element).name, " and of ", rowOf(other.element).name));
  auto sizes = [](const Meeting &meeting) {
    std::vector<std::string> all;
    for (uint64_t bytes : meeting.bytes)
      all.push_back(std::to_string(bytes));
    return join(all, ", ");
  };
  if (one.bytes != other.bytes)
    return differs(FaultKind::otherSize,
                   concat(": members have ", sizes(one), " bytes by the one, ", sizes(other),
                          " by the other"));
  return std::nullopt;
}

/// That each collective has a size for each member, and as its own that of the ranks who run it,
/// and is on the queue of its axis.
std::optional<RanksFault> Meetings::checkSizes(uint32_t program,
                                               const std::vector<Meeting> &meetings,
                                               std::map<std::string_view, uint32_t> &queueOf) {
  for (const Meeting &meeting : meetings) {
    if (meeting.rounds) {
      if (auto wrong = checkSizes(program, meeting.body, queueOf))
        return wrong;
      continue;
    }
    if (meeting.isTransfer()) {
      if (auto wrong = checkTransfer(program, meeting))
        return wrong;
      continue;
    }
    int axis = mesh.find(meeting.axis);
    int64_t some = std::ranges::find(ranks.programOf, program) - ranks.programOf.begin();
    if (axis < 0)
      return fault(FaultKind::unknownAxis, some, meeting, concat(", on ", mesh.text()));
    if (uint32_t queue = queueOf.try_emplace(meeting.axis, meeting.queue).first->second;
        queue != meeting.queue)
      return fault(FaultKind::axisOnQueues, some, meeting,
                   concat(" on queue ", meeting.queue, ", and others are on queue ", queue));
    size_t members = size_t(mesh.axes[size_t(axis)].size);
    if (meeting.bytes.size() != members)
      return fault(
          FaultKind::otherSize, some, meeting,
          concat(", which has ", meeting.bytes.size(), " sizes for ", members, " members"));
    for (int64_t rank = some; rank < mesh.ranks(); ++rank)
      if (uint64_t share = meeting.bytes[size_t(mesh.coordinate(rank, unsigned(axis)))];
          programOf(rank) == program && share != meeting.own)
        return fault(FaultKind::otherSize, rank, meeting,
                     concat(" with ", meeting.own, " bytes, and has ", share, " by its members"));
  }
  return std::nullopt;
}

/// That its other end is another rank, of each rank that runs it.
std::optional<RanksFault> Meetings::checkTransfer(uint32_t program, const Meeting &meeting) const {
  int axis = mesh.find(meeting.axis);
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    if (programOf(rank) != program)
      continue;
    if (axis < 0)
      return fault(FaultKind::unknownAxis, rank, meeting, concat(", on ", mesh.text()));
    if (meeting.peer >= uint64_t(mesh.axes[size_t(axis)].size) ||
        int64_t(meeting.peer) == mesh.coordinate(rank, unsigned(axis)) ||
        meeting.bytes.size() != 1 || !meeting.bytes[0])
      return fault(FaultKind::unknownPeer, rank, meeting, concat(", on ", mesh.text()));
  }
  return std::nullopt;
}

static bool hasTransfers(const std::vector<Meeting> &meetings) {
  return std::ranges::any_of(meetings, [](const Meeting &meeting) {
    return meeting.isTransfer() || hasTransfers(meeting.body);
  });
}

/// Whether both meet over the same axes in the same loops.
static bool sameWay(const std::vector<Meeting> &some, const std::vector<Meeting> &others) {
  return std::ranges::equal(some, others, [](const Meeting &a, const Meeting &b) {
    return a.rounds == b.rounds && a.axis == b.axis && sameWay(a.body, b.body);
  });
}

template <class Visit>
static std::optional<RanksFault> zip(const std::vector<Meeting> &some,
                                     const std::vector<Meeting> &others, const Visit &visit) {
  for (size_t i = 0; i < some.size(); ++i)
    if (auto wrong =
            some[i].rounds ? zip(some[i].body, others[i].body, visit) : visit(some[i], others[i]))
      return wrong;
  return std::nullopt;
}

/// Of programs that go the same way.
std::optional<RanksFault> Meetings::comparePlaces() {
  std::set<std::tuple<unsigned, uint32_t, uint32_t>> compared;
  for (unsigned axis = 0; axis < mesh.axes.size(); ++axis)
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      int64_t member = mesh.along(rank, axis)[0];
      uint32_t one = programOf(member), other = programOf(rank);
      if (one == other || !compared.insert({axis, one, other}).second)
        continue;
      auto wrong =
          zip(collectives[one], collectives[other],
              [&](const Meeting &a, const Meeting &b) -> std::optional<RanksFault> {
                return a.axis == mesh.axes[axis].name ? compare(member, a, rank, b) : std::nullopt;
              });
      if (wrong)
        return wrong;
    }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Following
//===----------------------------------------------------------------------===//

static void addAxesOfTransfers(const std::vector<Meeting> &meetings,
                               std::set<std::string_view> &axes) {
  for (const Meeting &meeting : meetings) {
    if (meeting.isTransfer())
      axes.insert(meeting.axis);
    addAxesOfTransfers(meeting.body, axes);
  }
}

/// Splits what may differ until nothing does: by the program, then by what kinds are met. False
/// where that takes too long.
bool Meetings::findKinds() {
  kindOf = ranks.programOf;
  // A transfer says where its other end is, whatever runs there.
  std::set<std::string_view> axes;
  for (const std::vector<Meeting> &of : collectives)
    addAxesOfTransfers(of, axes);
  for (std::string_view name : axes)
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      auto axis = unsigned(mesh.find(name));
      kindOf[size_t(rank)] = kindOf[size_t(rank)] * uint32_t(mesh.axes[axis].size) +
                             uint32_t(mesh.coordinate(rank, axis));
    }
  for (size_t known = 0;;) {
    std::map<std::vector<uint32_t>, uint32_t> kinds;
    std::vector<uint32_t> next;
    first.clear();
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      std::vector<uint32_t> key = {kindOf[size_t(rank)]};
      for (unsigned axis = 0; axis < mesh.axes.size(); ++axis) {
        std::set<uint32_t> met;
        for (int64_t member : mesh.along(rank, axis))
          met.insert(kindOf[size_t(member)]);
        key.push_back(uint32_t(met.size()));
        key.insert(key.end(), met.begin(), met.end());
        steps += uint64_t(mesh.axes[axis].size);
      }
      auto [kind, isNew] = kinds.try_emplace(std::move(key), uint32_t(kinds.size()));
      if (isNew)
        first.push_back(rank);
      next.push_back(kind->second);
    }
    kindOf = std::move(next);
    if (kinds.size() == known || steps > limits.steps)
      return kinds.size() == known;
    known = kinds.size();
  }
}

/// Where the members along an axis meet: one group for all whose members are of these kinds.
struct Group {
  std::map<uint32_t, int64_t> members; ///< of each kind, the first of one group
  size_t waiting = 0;                  ///< kinds
};

/// Each rank goes on as far as it can, one of a kind for all. Which goes first makes no difference:
/// each of its queues does one thing next, and waiting takes nothing from another.
std::optional<RanksFault> Meetings::follow() {
  auto tooLong = [&] {
    return RanksFault{{FaultKind::tooLongToProve,
                       concat("entry '", ranks.programs[programOf(0)].entries[entry].name,
                              "': its collectives were followed for ", steps, " steps")},
                      programOf(0),
                      entry};
  };
  if (!findKinds())
    return tooLong();
  std::map<std::pair<unsigned, std::vector<uint32_t>>, Group> groups;
  std::vector<std::map<std::string_view, Group *>> groupsOf; // of each kind, by axis
  std::vector<FollowedRank> followed;
  std::vector<uint32_t> moving;
  std::vector<bool> moves(first.size(), false); // is among them
  auto move = [&](uint32_t kind) {
    if (!moves[kind])
      moving.push_back(kind);
    moves[kind] = true;
  };
  for (int64_t rank : first) {
    move(uint32_t(followed.size()));
    followed.emplace_back(meetingsOf(programOf(rank)));
    groupsOf.emplace_back();
    for (unsigned axis = 0; axis < mesh.axes.size(); ++axis) {
      Group group;
      for (int64_t member : mesh.along(rank, axis))
        group.members.try_emplace(kindOf[size_t(member)], member);
      std::vector<uint32_t> kinds;
      for (const auto &[kind, member] : group.members)
        kinds.push_back(kind);
      groupsOf.back()[mesh.axes[axis].name] =
          &groups.try_emplace({axis, std::move(kinds)}, std::move(group)).first->second;
    }
  }
  while (!moving.empty()) {
    uint32_t kind = moving.back();
    moving.pop_back();
    moves[kind] = false;
    std::vector<std::string_view> come;
    steps += followed[kind].move(limits.steps - std::min(steps, limits.steps), come);
    if (steps > limits.steps)
      return tooLong();
    for (std::string_view axis : come) {
      Group &group = *groupsOf[kind].at(axis);
      if (++group.waiting < group.members.size())
        continue;
      group.waiting = 0;
      auto [firstKind, rank] = *group.members.begin();
      const Place &place = *followed[firstKind].hereAlong(axis);
      if ((steps += group.members.size() * place.at()->bytes.size()) > limits.steps)
        return tooLong();
      for (auto [otherKind, member] : group.members) {
        const Place &other = *followed[otherKind].hereAlong(axis);
        if (auto wrong = compare(rank, *place.at(), member, *other.at()))
          return wrong;
        if (!other.isInRoundsOf(place))
          return fault(FaultKind::otherRounds, rank, *place.at(),
                       concat(" ", place.rounds(), ", and rank ", member, " ", other.rounds()));
      }
      for (const auto &[met, member] : group.members) {
        followed[met].pass(axis);
        move(met);
      }
    }
    if (const Meeting *here = followed[kind].transfer()) {
      if (++steps > limits.steps)
        return tooLong();
      Way way = wayOf(kind, *here);
      if (!here->sends() && !sent.contains(way))
        continue; // who sends it comes by
      if (auto wrong = here->sends() ? send(way, *here) : receive(way, *here))
        return wrong;
      followed[kind].passTransfer();
      move(kind);
      if (here->sends() && followed[way.to].transfer())
        move(way.to);
    }
  }
  for (const FollowedRank &one : followed)
    if (one.waitsIn())
      return stuck(followed);
  for (const auto &[way, send] : sent)
    return fault(FaultKind::missingReceive, first[way.from], *send,
                 concat(", and rank ", first[way.to], " does not receive it"));
  return std::nullopt;
}

/// What is on its way, once.
std::optional<RanksFault> Meetings::send(const Way &way, const Meeting &here) {
  if (!sent.try_emplace(way, &here).second || received.contains(way))
    return fault(FaultKind::sentTwice, first[way.from], here, ", and has sent it before");
  return std::nullopt;
}

/// What was sent.
std::optional<RanksFault> Meetings::receive(const Way &way, const Meeting &here) {
  auto found = sent.find(way);
  const Meeting &other = *found->second;
  auto differs = [&](FaultKind kind, const std::string &more) {
    return fault(kind, first[way.to], here,
                 concat(", and rank ", first[way.from], " in ", words(other), more));
  };
  if (other.source != here.source)
    return differs(FaultKind::otherSource, "");
  if (other.element != here.element)
    return differs(FaultKind::otherElement, concat(": of ", rowOf(here.element).name, " and of ",
                                                   rowOf(other.element).name));
  if (other.bytes != here.bytes)
    return differs(FaultKind::otherSize, concat(": ", here.bytes[0], " bytes by the one, ",
                                                other.bytes[0], " by the other"));
  received.insert(*found);
  sent.erase(found);
  return std::nullopt;
}

/// The kind of the rank at a transfer's other end.
uint32_t Meetings::peerOf(uint32_t kind, const Meeting &transfer) const {
  auto axis = unsigned(mesh.find(transfer.axis));
  return kindOf[size_t(mesh.along(first[kind], axis)[transfer.peer])];
}

/// What another rank sends under that number, in another microbatch than it is received in, or
/// nothing.
RanksFault Meetings::unsent(uint32_t kind, const Meeting &receive) const {
  Way way = wayOf(kind, receive);
  for (const auto &[other, send] : sent)
    if (other.from == way.from && other.to == way.to && other.number == way.number)
      return fault(FaultKind::otherMicrobatch, first[kind], receive,
                   concat(", and rank ", first[way.from], " has sent it in ", words(*send)));
  return fault(FaultKind::missingSend, first[kind], receive,
               concat(", and rank ", first[way.from], " does not send it"));
}

/// Whether a rank sends that from here on: a list may be gone through again.
static bool sendsLater(const std::vector<Meeting> &meetings, uint64_t number, uint64_t round) {
  return std::ranges::any_of(meetings, [&](const Meeting &meeting) {
    return (meeting.sends() && meeting.number == number && meeting.round == round) ||
           sendsLater(meeting.body, number, round);
  });
}

/// Who waits for whom, from the first that waits until one has been named or has ended.
RanksFault Meetings::stuck(const std::vector<FollowedRank> &followed) const {
  auto of = [&](int64_t rank) -> const FollowedRank & { return followed[kindOf[size_t(rank)]]; };
  int64_t rank = 0;
  while (!of(rank).waitsIn())
    ++rank;
  const int64_t begin = rank;
  const Place *place = of(begin).waitsIn();
  const Meeting &firstOfAll = *place->at();
  std::set<std::pair<int64_t, const Meeting *>> named;
  std::string chain;
  while (named.insert({rank, place->at()}).second) {
    const Meeting &here = *place->at();
    if (here.isTransfer()) {
      int64_t other = mesh.along(rank, unsigned(mesh.find(here.axis)))[here.peer];
      const Place *there = of(other).waitsIn();
      if (!there || !sendsLater(meetingsOf(programOf(other)), here.number, here.round))
        return unsent(kindOf[size_t(rank)], here);
      chain += concat(chain.empty() ? " and waits for rank " : ", which waits for rank ", other,
                      ", in ", words(*there->at()));
      rank = other;
      place = there;
      continue;
    }
    // One is elsewhere, or all would have gone on.
    int64_t other = -1;
    for (int64_t member : mesh.along(rank, unsigned(mesh.find(here.axis))))
      if (other < 0 && !of(member).hereAlong(here.axis))
        other = member;
    if (other < 0)
      break;
    const Place *there = of(other).keptFrom(here.axis);
    if (!find(meetingsOf(programOf(other)), here.number))
      return fault(
          FaultKind::missingCollective, rank, here,
          concat(" and waits for rank ", other, ", which has no collective ", here.number));
    if (!there)
      return fault(
          FaultKind::otherRounds, rank, here,
          concat(" ", place->rounds(), " and waits for rank ", other, ", which has ended"));
    if (here.number && there->at()->number == here.number)
      return fault(FaultKind::otherAxis, rank, here,
                   concat(", and rank ", other, " in ", words(*there->at())));
    chain += concat(chain.empty() ? " and waits for rank " : ", which waits for rank ", other,
                    ", in ", words(*there->at()));
    rank = other;
    place = there;
  }
  return fault(FaultKind::deadlock, begin, firstOfAll, chain);
}

/// Collectives and loops.
static std::vector<Meeting> collectivesOf(const std::vector<Meeting> &meetings) {
  std::vector<Meeting> some;
  for (const Meeting &meeting : meetings) {
    if (meeting.order != Meeting::Order::none)
      continue;
    some.push_back(meeting);
    some.back().body = collectivesOf(meeting.body);
  }
  return some;
}

std::optional<RanksFault> Meetings::check() {
  bool same = true;
  for (uint32_t program = 0; program < ranks.programs.size(); ++program)
    collectives.push_back(collectivesOf(meetingsOf(program)));
  for (uint32_t program = 0; program < ranks.programs.size(); ++program) {
    if (!std::ranges::count(ranks.programOf, program))
      continue;
    std::map<std::string_view, uint32_t> queueOf;
    if (auto wrong = checkSizes(program, collectives[program], queueOf))
      return wrong;
    same &= sameWay(collectives[programOf(0)], collectives[program]) &&
            !hasTransfers(collectives[program]);
  }
  return same ? comparePlaces() : follow();
}

} // namespace weir::planned
