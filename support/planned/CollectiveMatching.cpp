//===- CollectiveMatching.cpp - Matches the collectives of all ranks ------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/planned/CollectiveMatching.h"
#include "support/Text.h"
#include <algorithm>
#include <set>

namespace weir::planned {

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

static std::string words(const SyncPoint &point) {
  if (point.isTransfer()) {
    std::string text =
        concat(point.kind, point.sends() ? " to " : " from ", point.axis, " ", point.peer,
               ", number ", point.number, " of microbatch ", point.round);
    return point.source.empty() ? text : concat(text, " (", point.source, ")");
  }
  std::string text = concat(point.kind, " over ", point.axis);
  if (point.number)
    text += concat(", collective ", point.number);
  return point.source.empty() ? text : concat(text, " (", point.source, ")");
}

/// The collective of that number, or null.
static const SyncPoint *find(const std::vector<SyncPoint> &syncPoints, uint64_t number) {
  for (const SyncPoint &point : syncPoints) {
    const SyncPoint *found = &point;
    if (point.rounds)
      found = find(point.body, number);
    if (found && found->number == number && !found->isTransfer())
      return found;
  }
  return nullptr;
}

RanksFault CollectiveMatching::fault(FaultKind kind, int64_t rank, const SyncPoint &at,
                                     const std::string &what) const {
  std::string message = concat("entry '", ranks.programs[programOf(rank)].entries[entry].name,
                               "': rank ", rank, " is in ", words(at), what);
  return {{kind, std::move(message), at.action}, programOf(rank), entry};
}

/// What is wrong where two members meet.
std::optional<RanksFault> CollectiveMatching::compare(int64_t rank, const SyncPoint &one,
                                                      int64_t otherRank,
                                                      const SyncPoint &other) const {
  auto differs = [&](FaultKind kind, const std::string &more = "") {
    return fault(kind, rank, one, concat(", and rank ", otherRank, " in ", words(other), more));
  };
  if (one.number != other.number) {
    const SyncPoint *there = find(syncPointsOf(programOf(otherRank)), one.number),
                    *here = find(syncPointsOf(programOf(rank)), other.number);
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
  auto sizes = [](const SyncPoint &point) {
    std::vector<std::string> all;
    for (uint64_t bytes : point.bytes)
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
std::optional<RanksFault>
CollectiveMatching::checkSizes(uint32_t program, const std::vector<SyncPoint> &syncPoints,
                               std::map<std::string_view, uint32_t> &queueOf) {
  for (const SyncPoint &point : syncPoints) {
    if (point.rounds) {
      if (auto wrong = checkSizes(program, point.body, queueOf))
        return wrong;
      continue;
    }
    if (point.isTransfer()) {
      if (auto wrong = checkTransfer(program, point))
        return wrong;
      continue;
    }
    int axis = mesh.find(point.axis);
    int64_t some = std::ranges::find(ranks.programOf, program) - ranks.programOf.begin();
    if (axis < 0)
      return fault(FaultKind::unknownAxis, some, point, concat(", on ", mesh.text()));
    if (uint32_t queue = queueOf.try_emplace(point.axis, point.queue).first->second;
        queue != point.queue)
      return fault(FaultKind::axisOnQueues, some, point,
                   concat(" on queue ", point.queue, ", and others are on queue ", queue));
    size_t members = size_t(mesh.axes[size_t(axis)].size);
    if (point.bytes.size() != members)
      return fault(FaultKind::otherSize, some, point,
                   concat(", which has ", point.bytes.size(), " sizes for ", members, " members"));
    for (int64_t rank = some; rank < mesh.ranks(); ++rank)
      if (uint64_t share = point.bytes[size_t(mesh.coordinate(rank, unsigned(axis)))];
          programOf(rank) == program && share != point.own)
        return fault(FaultKind::otherSize, rank, point,
                     concat(" with ", point.own, " bytes, and has ", share, " by its members"));
  }
  return std::nullopt;
}

/// That its other end is another rank, of each rank that runs it.
std::optional<RanksFault> CollectiveMatching::checkTransfer(uint32_t program,
                                                            const SyncPoint &point) const {
  int axis = mesh.find(point.axis);
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    if (programOf(rank) != program)
      continue;
    if (axis < 0)
      return fault(FaultKind::unknownAxis, rank, point, concat(", on ", mesh.text()));
    if (point.peer >= uint64_t(mesh.axes[size_t(axis)].size) ||
        int64_t(point.peer) == mesh.coordinate(rank, unsigned(axis)) || point.bytes.size() != 1 ||
        !point.bytes[0])
      return fault(FaultKind::unknownPeer, rank, point, concat(", on ", mesh.text()));
  }
  return std::nullopt;
}

static bool hasTransfers(const std::vector<SyncPoint> &syncPoints) {
  return std::ranges::any_of(syncPoints, [](const SyncPoint &point) {
    return point.isTransfer() || hasTransfers(point.body);
  });
}

/// Whether both meet over the same axes in the same loops.
static bool sameWay(const std::vector<SyncPoint> &some, const std::vector<SyncPoint> &others) {
  return std::ranges::equal(some, others, [](const SyncPoint &a, const SyncPoint &b) {
    return a.rounds == b.rounds && a.axis == b.axis && sameWay(a.body, b.body);
  });
}

template <class Visit>
static std::optional<RanksFault> zip(const std::vector<SyncPoint> &some,
                                     const std::vector<SyncPoint> &others, const Visit &visit) {
  for (size_t i = 0; i < some.size(); ++i)
    if (auto wrong =
            some[i].rounds ? zip(some[i].body, others[i].body, visit) : visit(some[i], others[i]))
      return wrong;
  return std::nullopt;
}

/// Of programs that go the same way.
std::optional<RanksFault> CollectiveMatching::comparePlaces() {
  std::set<std::tuple<unsigned, uint32_t, uint32_t>> compared;
  for (unsigned axis = 0; axis < mesh.axes.size(); ++axis)
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
      int64_t member = mesh.along(rank, axis)[0];
      uint32_t one = programOf(member), other = programOf(rank);
      if (one == other || !compared.insert({axis, one, other}).second)
        continue;
      auto wrong =
          zip(collectives[one], collectives[other],
              [&](const SyncPoint &a, const SyncPoint &b) -> std::optional<RanksFault> {
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

static void addAxesOfTransfers(const std::vector<SyncPoint> &syncPoints,
                               std::set<std::string_view> &axes) {
  for (const SyncPoint &point : syncPoints) {
    if (point.isTransfer())
      axes.insert(point.axis);
    addAxesOfTransfers(point.body, axes);
  }
}

/// Splits what may differ until nothing does: by the program, then by what kinds are met. False
/// where that takes too long.
bool CollectiveMatching::findKinds() {
  kindOf = ranks.programOf;
  // A transfer says where its other end is, whatever runs there.
  std::set<std::string_view> axes;
  for (const std::vector<SyncPoint> &of : collectives)
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

RanksFault CollectiveMatching::tooLong() const {
  return {{FaultKind::tooLongToProve,
           concat("entry '", ranks.programs[programOf(0)].entries[entry].name,
                  "': its collectives were followed for ", steps, " steps")},
          programOf(0),
          entry};
}

void CollectiveMatching::mark(uint32_t kind) {
  if (!isMoving[kind])
    moving.push_back(kind);
  isMoving[kind] = true;
}

/// One simulated rank of each kind, at the entry's begin, and the groups that it meets in.
void CollectiveMatching::start() {
  isMoving.assign(first.size(), false);
  for (int64_t rank : first) {
    mark(uint32_t(followed.size()));
    followed.emplace_back(syncPointsOf(programOf(rank)));
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
}

/// A rank of the kind has come to a collective along the axis. Once all members have, they are
/// compared and pass it.
std::optional<RanksFault> CollectiveMatching::meet(uint32_t kind, std::string_view axis) {
  Group &group = *groupsOf[kind].at(axis);
  if (++group.waiting < group.members.size())
    return std::nullopt;
  group.waiting = 0;
  auto [firstKind, rank] = *group.members.begin();
  const Position &place = *followed[firstKind].hereAlong(axis);
  if ((steps += group.members.size() * place.at()->bytes.size()) > limits.steps)
    return tooLong();
  for (auto [otherKind, member] : group.members) {
    const Position &other = *followed[otherKind].hereAlong(axis);
    if (auto wrong = compare(rank, *place.at(), member, *other.at()))
      return wrong;
    if (!other.isInRoundsOf(place))
      return fault(FaultKind::otherRounds, rank, *place.at(),
                   concat(" ", place.rounds(), ", and rank ", member, " ", other.rounds()));
  }
  for (const auto &[met, member] : group.members) {
    followed[met].pass(axis);
    mark(met);
  }
  return std::nullopt;
}

/// A rank of the kind has come to its end of a transfer. A receive waits for the send.
std::optional<RanksFault> CollectiveMatching::transfer(uint32_t kind, const SyncPoint &here) {
  if (++steps > limits.steps)
    return tooLong();
  Way way = wayOf(kind, here);
  if (!here.sends() && !sent.contains(way))
    return std::nullopt; // the sender marks this kind
  if (auto wrong = here.sends() ? send(way, here) : receive(way, here))
    return wrong;
  followed[kind].passTransfer();
  mark(kind);
  if (here.sends() && followed[way.to].transfer())
    mark(way.to);
  return std::nullopt;
}

/// What is left once no rank can move: a rank that waits, or a send that no rank receives.
std::optional<RanksFault> CollectiveMatching::unfinished() const {
  for (const SimulatedRank &one : followed)
    if (one.waitsIn())
      return stuck();
  for (const auto &[way, send] : sent)
    return fault(FaultKind::missingReceive, first[way.from], *send,
                 concat(", and rank ", first[way.to], " does not receive it"));
  return std::nullopt;
}

/// Each rank moves as far as it can, one rank of a kind for all. The order of ranks makes no
/// difference: each of a rank's queues has one next action, and waiting takes nothing from another.
std::optional<RanksFault> CollectiveMatching::follow() {
  if (!findKinds())
    return tooLong();
  start();
  while (!moving.empty()) {
    uint32_t kind = moving.back();
    moving.pop_back();
    isMoving[kind] = false;
    std::vector<std::string_view> come;
    steps += followed[kind].move(limits.steps - std::min(steps, limits.steps), come);
    if (steps > limits.steps)
      return tooLong();
    for (std::string_view axis : come)
      if (auto wrong = meet(kind, axis))
        return wrong;
    if (const SyncPoint *here = followed[kind].transfer())
      if (auto wrong = transfer(kind, *here))
        return wrong;
  }
  return unfinished();
}

/// What is on its way, once.
std::optional<RanksFault> CollectiveMatching::send(const Way &way, const SyncPoint &here) {
  if (!sent.try_emplace(way, &here).second || received.contains(way))
    return fault(FaultKind::sentTwice, first[way.from], here, ", and has sent it before");
  return std::nullopt;
}

/// What was sent.
std::optional<RanksFault> CollectiveMatching::receive(const Way &way, const SyncPoint &here) {
  auto found = sent.find(way);
  const SyncPoint &other = *found->second;
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
uint32_t CollectiveMatching::peerOf(uint32_t kind, const SyncPoint &transfer) const {
  auto axis = unsigned(mesh.find(transfer.axis));
  return kindOf[size_t(mesh.along(first[kind], axis)[transfer.peer])];
}

/// What another rank sends under that number, in another microbatch than it is received in, or
/// nothing.
RanksFault CollectiveMatching::unsent(uint32_t kind, const SyncPoint &receive) const {
  Way way = wayOf(kind, receive);
  for (const auto &[other, send] : sent)
    if (other.from == way.from && other.to == way.to && other.number == way.number)
      return fault(FaultKind::otherMicrobatch, first[kind], receive,
                   concat(", and rank ", first[way.from], " has sent it in ", words(*send)));
  return fault(FaultKind::missingSend, first[kind], receive,
               concat(", and rank ", first[way.from], " does not send it"));
}

/// Whether a rank sends that from here on: a list may be gone through again.
static bool sendsLater(const std::vector<SyncPoint> &syncPoints, uint64_t number, uint64_t round) {
  return std::ranges::any_of(syncPoints, [&](const SyncPoint &point) {
    return (point.sends() && point.number == number && point.round == round) ||
           sendsLater(point.body, number, round);
  });
}

/// Who waits for whom, from the first that waits until one has been named or has ended.
RanksFault CollectiveMatching::stuck() const {
  auto of = [&](int64_t rank) -> const SimulatedRank & { return followed[kindOf[size_t(rank)]]; };
  int64_t rank = 0;
  while (!of(rank).waitsIn())
    ++rank;
  const int64_t begin = rank;
  const Position *place = of(begin).waitsIn();
  const SyncPoint &firstOfAll = *place->at();
  std::set<std::pair<int64_t, const SyncPoint *>> named;
  std::string chain;
  while (named.insert({rank, place->at()}).second) {
    const SyncPoint &here = *place->at();
    if (here.isTransfer()) {
      int64_t other = mesh.along(rank, unsigned(mesh.find(here.axis)))[here.peer];
      const Position *there = of(other).waitsIn();
      if (!there || !sendsLater(syncPointsOf(programOf(other)), here.number, here.round))
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
    const Position *there = of(other).keptFrom(here.axis);
    if (!find(syncPointsOf(programOf(other)), here.number))
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
static std::vector<SyncPoint> collectivesOf(const std::vector<SyncPoint> &syncPoints) {
  std::vector<SyncPoint> some;
  for (const SyncPoint &point : syncPoints) {
    if (point.order != SyncPoint::Order::none)
      continue;
    some.push_back(point);
    some.back().body = collectivesOf(point.body);
  }
  return some;
}

std::optional<RanksFault> CollectiveMatching::check() {
  bool same = true;
  for (uint32_t program = 0; program < ranks.programs.size(); ++program)
    collectives.push_back(collectivesOf(syncPointsOf(program)));
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
