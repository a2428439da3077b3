//===- LocalRanks.cpp - Ranks that are threads of one process -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/LocalRanks.h"
#include "runtime/base/Error.h"
#include "runtime/base/Text.h"
#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>

namespace weir::collectives {

namespace {

/// What one member has come with.
struct Offer {
  const std::string *what = nullptr;
  std::span<const std::span<const std::byte>> to = {};
};

/// Where the members along an axis meet, one meeting after the other.
struct Meeting {
  explicit Meeting(size_t members) : offers(members) {}

  std::vector<Offer> offers;
  size_t here = 0;    ///< that have come and not gone
  bool all = false;   ///< have come, and not all gone
  uint64_t ended = 0; ///< meetings
};

} // namespace

struct LocalRanks::Impl {
  explicit Impl(const Mesh &mesh) : mesh(mesh) {}

  const Mesh mesh;
  std::mutex mutex;
  std::condition_variable changed;
  bool over = false;
  std::vector<bool> finished;                               ///< ranks
  std::map<std::pair<unsigned, int64_t>, Meeting> meetings; ///< by axis and first member
  std::vector<std::unique_ptr<Transport>> ranks;
};

namespace {

class Rank : public Transport {
public:
  Rank(LocalRanks::Impl &all, int64_t rank) : all(all), rank(rank) {}

  void exchange(unsigned axis, const std::string &what,
                std::span<const std::span<const std::byte>> to,
                std::span<const std::span<std::byte>> from) override {
    std::vector<int64_t> members = all.mesh.along(rank, axis);
    size_t own = std::ranges::find(members, rank) - members.begin();
    std::unique_lock lock(all.mutex);
    Meeting &meeting = all.meetings.try_emplace({axis, members[0]}, members.size()).first->second;
    auto await = [&](auto holds) {
      auto misses = [&] {
        return all.over || std::ranges::any_of(members, [&](int64_t member) {
                 return all.finished[size_t(member)];
               });
      };
      all.changed.wait(lock, [&] { return holds() || misses(); });
      if (!holds())
        throw Failure(Exit::peer,
                      concat("rank ", rank, " waits in ", what, " for a rank that has ended"));
    };
    // Who has come and not gone may have left by its failure: nobody meets any more then.
    await([&] { return !meeting.all && !all.over; });
    meeting.offers[own] = {&what, to};
    if (++meeting.here == members.size()) {
      meeting.all = true;
      all.changed.notify_all();
    }
    await([&] { return meeting.all; });
    uint64_t number = meeting.ended;
    lock.unlock();
    // The offers stay as they are until all have gone.
    std::string wrong = take(meeting, members, own, what, from);
    lock.lock();
    if (--meeting.here == 0) {
      meeting.all = false;
      ++meeting.ended;
      all.changed.notify_all();
    }
    // All have come, and nobody leaves while what it has given is read.
    all.changed.wait(lock, [&] { return meeting.ended != number; });
    if (!wrong.empty())
      throw Failure(Exit::peer, wrong);
  }

private:
  /// What is wrong with what they offer, or "".
  std::string take(const Meeting &meeting, const std::vector<int64_t> &members, size_t own,
                   const std::string &what, std::span<const std::span<std::byte>> from) const {
    for (size_t i = 0; i < members.size(); ++i) {
      const Offer &offer = meeting.offers[i];
      if (*offer.what != what)
        return concat("rank ", rank, " is in ", what, ", and rank ", members[i], " in ",
                      *offer.what);
      std::span<const std::byte> bytes = offer.to[own];
      if (bytes.size() != from[i].size())
        return concat("rank ", rank, " expects ", from[i].size(), " bytes of rank ", members[i],
                      " in ", what, ", which has ", bytes.size());
      std::memcpy(from[i].data(), bytes.data(), bytes.size());
    }
    return "";
  }

  LocalRanks::Impl &all;
  const int64_t rank;
};

} // namespace

LocalRanks::LocalRanks(const Mesh &mesh) : impl(std::make_unique<Impl>(mesh)) {
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
    impl->ranks.push_back(std::make_unique<Rank>(*impl, rank));
  impl->finished.assign(impl->ranks.size(), false);
}

LocalRanks::~LocalRanks() = default;

Transport &LocalRanks::of(int64_t rank) { return *impl->ranks[size_t(rank)]; }

void LocalRanks::end() {
  std::lock_guard lock(impl->mutex);
  impl->over = true;
  impl->changed.notify_all();
}

void LocalRanks::finish(int64_t rank) {
  std::lock_guard lock(impl->mutex);
  impl->finished[size_t(rank)] = true;
  impl->changed.notify_all();
}

void LocalRanks::begin() {
  std::lock_guard lock(impl->mutex);
  impl->over = false;
  impl->finished.assign(impl->ranks.size(), false);
  impl->meetings.clear();
}

} // namespace weir::collectives
