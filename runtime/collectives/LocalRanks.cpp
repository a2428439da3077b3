//===- LocalRanks.cpp - Ranks that are threads of one process -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/LocalRanks.h"
#include "support/Error.h"
#include "support/Text.h"
#include "support/mesh/MachineRates.h"
#include "support/mesh/RankPlacement.h"
#include <algorithm>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>
#include <tuple>

namespace weir::collectives {

namespace {

/// For tests and measurements: WEIR_SLOW_LINK=50MB/s,1ms.
std::optional<Link> slowLink() {
  const char *text = std::getenv("WEIR_SLOW_LINK");
  if (!text || !*text)
    return std::nullopt;
  std::optional<Link> link = Link::parse(text);
  if (!link)
    throw Failure(
        Exit::usage,
        concat(
            "WEIR_SLOW_LINK: ", text,
            ": expected a bandwidth, or a bandwidth and a latency, such as 50MB/s or 50MB/s,1ms"));
  return link;
}

/// With whom a rank has a transfer, of which it is one end.
struct End {
  unsigned peer; ///< along the axis
  Transport::Tag tag;
  bool sends;
  bool operator==(const End &) const = default;
};

/// What one rank has come with.
struct Offer {
  unsigned axis = 0;
  const std::string *what = nullptr;
  std::span<const std::span<const std::byte>> to = {};
  std::span<const std::span<std::byte>> from = {};
  std::optional<End> end = std::nullopt; ///< of a transfer, which has one part
};

/// Where ranks meet, one meeting after the other.
struct LocalMeeting {
  explicit LocalMeeting(std::vector<int64_t> ranks)
      : ranks(std::move(ranks)), offers(this->ranks.size()) {}

  const std::vector<int64_t> ranks; ///< ascending
  std::vector<Offer> offers;        ///< as those
  std::condition_variable changed;
  std::chrono::steady_clock::time_point met; ///< when all had come
  size_t here = 0;                           ///< that have come and not gone
  bool all = false;                          ///< have come, and not all gone
  uint64_t ended = 0;                        ///< meetings
  std::string wrong;                         ///< with what they have come with

  /// Of a rank; null where it comes elsewhere.
  const Offer *of(int64_t rank) const {
    auto found = std::ranges::lower_bound(ranks, rank);
    return found != ranks.end() && *found == rank ? &offers[size_t(found - ranks.begin())]
                                                  : nullptr;
  }
};

} // namespace

struct LocalRanks::Impl {
  const Mesh mesh, hosts;
  Group *const group;              ///< null: all ranks are here
  const std::vector<int64_t> here; ///< ranks
  const std::chrono::seconds patience = {};
  const std::optional<Link> slow = slowLink(); ///< what exchanges take at least
  std::mutex mutex;
  bool over = false;
  std::string why;              ///< it is, where members were at different things
  std::exception_ptr cause;     ///< or what the group has failed of
  size_t inside = 0;            ///< threads in an exchange
  std::condition_variable left; ///< all of them
  std::vector<bool> finished;   ///< ranks
  std::map<std::pair<unsigned, int64_t>, LocalMeeting> meetings; ///< by axis and first member
  std::vector<std::unique_ptr<Transport>> ranks;                 ///< as `here`

  /// What has been sent and not received, by who sends and who receives.
  using Way = std::tuple<int64_t, int64_t, Transport::Tag>;
  std::map<Way, std::deque<std::vector<std::byte>>> sent;
  std::condition_variable arrived;

  /// Where a rank meets the others in an exchange along the axis.
  LocalMeeting &meetingOf(int64_t rank, unsigned axis) {
    // The processes exchange what is of all their ranks.
    std::vector<int64_t> those = group ? here : mesh.along(rank, axis);
    std::pair<unsigned, int64_t> key = {group ? 0 : axis, those[0]};
    return meetings.try_emplace(key, std::move(those)).first->second;
  }

  void wake() {
    for (auto &[key, meeting] : meetings)
      meeting.changed.notify_all();
    arrived.notify_all();
  }

  void end(const std::string &because, std::exception_ptr of = nullptr) {
    std::lock_guard lock(mutex);
    if (!over) {
      why = because;
      cause = of;
    }
    over = true;
    wake();
  }

  /// Throws at a rank that waits in vain what is known of why.
  [[noreturn]] void giveUp(int64_t rank, const std::string &what) const {
    if (cause)
      std::rethrow_exception(cause);
    throw Failure(Exit::peer, why.empty() ? concat("rank ", rank, " was waiting in ", what,
                                                   " for a rank that has ended")
                                          : why);
  }

  std::string carry(const LocalMeeting &meeting);
  std::string sameOffers(const LocalMeeting &meeting) const;
  void transfer(const LocalMeeting &meeting);
};

namespace {

/// What is of another process, as one.
struct ProcessBuffers {
  std::vector<std::byte> out, in;
  std::vector<std::span<std::byte>> parts; ///< of `in`, in order: where they go
};

} // namespace

std::string LocalRanks::Impl::sameOffers(const LocalMeeting &meeting) const {
  const Offer &first = meeting.offers[0];
  for (size_t i = 1; i < here.size(); ++i)
    if (*meeting.offers[i].what != *first.what || meeting.offers[i].axis != first.axis)
      return concat("rank ", here[0], " is in ", *first.what, ", but rank ", here[i], " is in ",
                    *meeting.offers[i].what);
    else if (meeting.offers[i].end != first.end)
      return concat("ranks ", here[0], " and ", here[i], " are in ", *first.what,
                    ", but at different transfers");
  return "";
}

/// What all ranks of this process send, or receive, as one message in their order.
void LocalRanks::Impl::transfer(const LocalMeeting &meeting) {
  const Offer &first = meeting.offers[0];
  int64_t peer = hostOf(hosts, mesh, mesh.along(here[0], first.axis)[first.end->peer]);
  uint64_t tag = uint64_t(first.end->tag.number) << 32 | first.end->tag.round;
  std::vector<std::byte> all;
  for (const Offer &offer : meeting.offers)
    if (first.end->sends)
      all.insert(all.end(), offer.to[0].begin(), offer.to[0].end());
    else
      all.resize(all.size() + offer.from[0].size());
  if (first.end->sends)
    return group->send(peer, tag, *first.what, all);
  group->receive(peer, tag, *first.what, all);
  const std::byte *next = all.data();
  for (const Offer &offer : meeting.offers) {
    std::copy_n(next, offer.from[0].size(), offer.from[0].begin());
    next += offer.from[0].size();
  }
}

/// Brings here what the ranks of other processes give those of this one. Returns what is wrong with
/// the offers, or "".
std::string LocalRanks::Impl::carry(const LocalMeeting &meeting) {
  if (std::string wrong = sameOffers(meeting); !wrong.empty())
    return wrong;
  const Offer &first = meeting.offers[0];
  if (first.end) {
    transfer(meeting);
    return "";
  }
  int axis = hosts.find(mesh.axes[first.axis].name);
  if (axis < 0 || hosts.axes[size_t(axis)].size == 1)
    return "";
  std::vector<int64_t> processes = hosts.along(group->rank(), unsigned(axis));
  std::vector<ProcessBuffers> perProcess(processes.size());
  auto buffersOf = [&](int64_t rank) -> ProcessBuffers * {
    int64_t process = hostOf(hosts, mesh, rank);
    return process == group->rank()
               ? nullptr
               : &perProcess[size_t(std::ranges::find(processes, process) - processes.begin())];
  };
  // By the giver and then by who gets it, on both sides.
  for (size_t i = 0; i < here.size(); ++i) {
    std::vector<int64_t> members = mesh.along(here[i], first.axis);
    for (size_t m = 0; m < members.size(); ++m)
      if (ProcessBuffers *buffers = buffersOf(members[m])) {
        std::span<const std::byte> bytes = meeting.offers[i].to[m];
        buffers->out.insert(buffers->out.end(), bytes.begin(), bytes.end());
      }
  }
  for (int64_t giver = 0; giver < mesh.ranks(); ++giver) {
    std::vector<int64_t> members = mesh.along(giver, first.axis);
    unsigned number = unsigned(mesh.coordinate(giver, first.axis));
    for (int64_t member : members)
      if (const Offer *offer = meeting.of(member); offer && !meeting.of(giver))
        buffersOf(giver)->parts.push_back(offer->from[number]);
  }
  std::vector<std::span<const std::byte>> to;
  std::vector<std::span<std::byte>> from;
  for (ProcessBuffers &buffers : perProcess) {
    buffers.in.resize(std::accumulate(
        buffers.parts.begin(), buffers.parts.end(), size_t(0),
        [](size_t sum, std::span<const std::byte> part) { return sum + part.size(); }));
    to.push_back(buffers.out);
    from.push_back(buffers.in);
  }
  group->exchange(Group::hostLane, processes, *first.what, to, from);
  for (const ProcessBuffers &buffers : perProcess) {
    const std::byte *next = buffers.in.data();
    for (std::span<std::byte> part : buffers.parts) {
      std::copy_n(next, part.size(), part.begin());
      next += part.size();
    }
  }
  return "";
}

namespace {

class Rank : public Transport {
public:
  Rank(LocalRanks::Impl &all, int64_t rank) : all(all), rank(rank) {}

  void exchange(unsigned axis, const std::string &what,
                std::span<const std::span<const std::byte>> to,
                std::span<const std::span<std::byte>> from) override {
    meetOrFail({axis, &what, to, from});
  }

  void meetOrFail(const Offer &offer) {
    {
      std::lock_guard lock(all.mutex);
      ++all.inside;
    }
    std::exception_ptr failed;
    try {
      meet(offer);
    } catch (...) {
      failed = std::current_exception();
      // What is under way along other axes too. What a group has failed of is all ranks' here.
      all.end("", all.group ? failed : nullptr);
    }
    std::lock_guard lock(all.mutex);
    if (--all.inside == 0)
      all.left.notify_all();
    if (failed)
      std::rethrow_exception(failed);
  }

  void check(const std::string &what, std::chrono::steady_clock::time_point since) override {
    std::lock_guard lock(all.mutex);
    if (all.over)
      all.giveUp(rank, what);
    if (all.group)
      return all.group->check(what, since);
    if (std::chrono::steady_clock::now() - since > all.patience)
      throw Failure(Exit::peer, concat("rank ", rank, " was waiting in ", what,
                                       ", but not all members arrived within ",
                                       all.patience.count(), " s (--collective-timeout)"));
  }

  void send(unsigned axis, unsigned peer, Tag tag, const std::string &what,
            std::span<const std::byte> bytes) override {
    if (all.group) {
      std::span<const std::byte> to[] = {bytes};
      return meetOrFail({axis, &what, to, {}, End{peer, tag, true}});
    }
    int64_t to = all.mesh.along(rank, axis)[peer];
    std::vector<std::byte> copy(bytes.begin(), bytes.end());
    std::lock_guard lock(all.mutex);
    if (all.over || all.finished[size_t(to)])
      all.giveUp(rank, what);
    all.sent[{rank, to, tag}].push_back(std::move(copy));
    all.arrived.notify_all();
  }

  void receive(unsigned axis, unsigned peer, Tag tag, const std::string &what,
               std::span<std::byte> bytes) override {
    if (all.group) {
      std::span<std::byte> from[] = {bytes};
      return meetOrFail({axis, &what, {}, from, End{peer, tag, false}});
    }
    int64_t from = all.mesh.along(rank, axis)[peer];
    std::unique_lock lock(all.mutex);
    std::deque<std::vector<std::byte>> &waiting = all.sent[{from, rank, tag}];
    all.arrived.wait(lock,
                     [&] { return !waiting.empty() || all.over || all.finished[size_t(from)]; });
    if (waiting.empty())
      all.giveUp(rank, what);
    std::vector<std::byte> got = std::move(waiting.front());
    waiting.pop_front();
    lock.unlock();
    if (got.size() != bytes.size())
      throw Failure(Exit::peer,
                    concat("rank ", rank, " expected ", bytes.size(), " bytes from rank ", from,
                           " in ", what, ", but rank ", from, " sent ", got.size()));
    std::copy(got.begin(), got.end(), bytes.begin());
  }

private:
  void meet(const Offer &offer) {
    const auto &[axis, what, to, from, end] = offer;
    std::unique_lock lock(all.mutex);
    LocalMeeting &meeting = all.meetingOf(rank, axis);
    auto await = [&](auto holds) {
      auto misses = [&] {
        return all.over || std::ranges::any_of(meeting.ranks, [&](int64_t member) {
                 return all.finished[size_t(member)];
               });
      };
      meeting.changed.wait(lock, [&] { return holds() || misses(); });
      if (!holds())
        all.giveUp(rank, *what);
    };
    // Who has come and not gone may have left by its failure: nobody meets any more then.
    await([&] { return !meeting.all && !all.over; });
    meeting.offers[size_t(meeting.of(rank) - meeting.offers.data())] = offer;
    if (++meeting.here == meeting.ranks.size()) {
      meeting.wrong.clear();
      if (all.group) {
        // The others wait, and nobody else comes.
        lock.unlock();
        meeting.wrong = all.carry(meeting);
        lock.lock();
      }
      meeting.all = true;
      meeting.met = std::chrono::steady_clock::now();
      meeting.changed.notify_all();
    }
    await([&] { return meeting.all; });
    uint64_t number = meeting.ended;
    std::string wrong = meeting.wrong;
    lock.unlock();
    // The offers stay as they are until all have gone.
    if (wrong.empty() && !end)
      wrong = take(meeting, axis, *what, from);
    if (all.slow && !end)
      waitFor(meeting, axis, to, from);
    lock.lock();
    if (--meeting.here == 0) {
      meeting.all = false;
      ++meeting.ended;
      meeting.changed.notify_all();
    }
    // All have come, and nobody leaves while what it has given is read.
    meeting.changed.wait(lock, [&] { return meeting.ended != number; });
    lock.unlock();
    if (!wrong.empty()) {
      all.end(wrong);
      throw Failure(Exit::peer, wrong);
    }
  }

  /// Until a slow link would have moved what goes to others and comes from them.
  void waitFor(const LocalMeeting &meeting, unsigned axis,
               std::span<const std::span<const std::byte>> to,
               std::span<const std::span<std::byte>> from) const {
    size_t own = size_t(all.mesh.coordinate(rank, axis));
    uint64_t sent = 0, got = 0;
    for (size_t i = 0; i < to.size(); ++i)
      if (i != own) {
        sent += to[i].size();
        got += from[i].size();
      }
    std::chrono::duration<double> time(all.slow->secondsOf(sent, got));
    std::this_thread::sleep_until(
        meeting.met + std::chrono::duration_cast<std::chrono::steady_clock::duration>(time));
  }

  /// Copies what the members that meet here offer. What is wrong with it, or "".
  std::string take(const LocalMeeting &meeting, unsigned axis, const std::string &what,
                   std::span<const std::span<std::byte>> from) const {
    std::vector<int64_t> members = all.mesh.along(rank, axis);
    size_t own = size_t(all.mesh.coordinate(rank, axis));
    for (size_t i = 0; i < members.size(); ++i) {
      const Offer *offer = meeting.of(members[i]);
      if (!offer)
        continue;
      if (*offer->what != what)
        return concat("rank ", rank, " is in ", what, ", but rank ", members[i], " is in ",
                      *offer->what);
      std::span<const std::byte> bytes = offer->to[own];
      if (bytes.size() != from[i].size())
        return concat("rank ", rank, " expected ", from[i].size(), " bytes from rank ", members[i],
                      " in ", what, ", but rank ", members[i], " sent ", bytes.size());
      // GCC 12 copies by the byte in std::ranges::copy.
      std::copy(bytes.begin(), bytes.end(), from[i].begin());
    }
    return "";
  }

  LocalRanks::Impl &all;
  const int64_t rank;
};

} // namespace

LocalRanks::LocalRanks(const Mesh &mesh, std::chrono::seconds patience)
    : impl(new Impl{.mesh = mesh,
                    .hosts = {},
                    .group = nullptr,
                    .here = hostedBy({}, mesh, 0),
                    .patience = patience}) {
  open();
}

LocalRanks::LocalRanks(const Mesh &mesh, const Mesh &hosts, Group &group)
    : impl(new Impl{.mesh = mesh,
                    .hosts = hosts,
                    .group = &group,
                    .here = hostedBy(hosts, mesh, group.rank())}) {
  open();
}

void LocalRanks::open() {
  for (int64_t rank : impl->here)
    impl->ranks.push_back(std::make_unique<Rank>(*impl, rank));
  impl->finished.assign(size_t(impl->mesh.ranks()), false);
}

LocalRanks::~LocalRanks() = default;

Transport &LocalRanks::of(int64_t rank) {
  auto found = std::ranges::lower_bound(impl->here, rank);
  assert(found != impl->here.end() && *found == rank);
  return *impl->ranks[size_t(found - impl->here.begin())];
}

void LocalRanks::end() { impl->end(""); }

void LocalRanks::finish(int64_t rank) {
  std::lock_guard lock(impl->mutex);
  impl->finished[size_t(rank)] = true;
  impl->wake();
}

void LocalRanks::begin() {
  std::unique_lock lock(impl->mutex);
  // A run that failed may have left threads that know of its end, and have not gone yet.
  impl->left.wait(lock, [&] { return impl->inside == 0; });
  impl->over = false;
  impl->why.clear();
  impl->cause = nullptr;
  impl->finished.assign(impl->finished.size(), false);
  impl->meetings.clear();
  impl->sent.clear();
}

} // namespace weir::collectives
