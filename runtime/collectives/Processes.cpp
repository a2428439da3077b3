//===- Processes.cpp - Ranks that are processes ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/Processes.h"
#include "support/Text.h"
#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstring>
#include <fstream>
#include <sched.h>
#include <sstream>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace weir::collectives {

using std::chrono::milliseconds;

/// The tag, and what is as short as itself: a message takes time, whatever its size.
struct Processes::Header {
  uint64_t count = 0; ///< exchanges of the two before, on the lane that its last bits say
  int64_t step = 0;
  uint64_t bytes = 0;
  uint64_t hash = 0;    ///< of all words
  char words[224] = {}; ///< their beginning
  std::byte little[768] = {};

  static bool isLittle(size_t bytes) { return bytes <= sizeof little; }
  bool isSameTag(const Header &other) const {
    return count == other.count && step == other.step && bytes == other.bytes && hash == other.hash;
  }
};

namespace {

std::string hashed(const std::string &bytes) {
  return concat(XXH3_64bits(bytes.data(), bytes.size()));
}

std::string hostName() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

/// What two processes have alike that are on one machine, or in one container on it.
std::string machine() {
  std::ifstream boot("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(boot, id);
  return concat(hostName(), " ", id);
}

/// And those that share their cores: what they are bound to.
std::string cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  return machine().append(reinterpret_cast<const char *>(&set), sizeof set);
}

/// Of the data that a tag announces: nothing is received under another.
uint64_t slotOf(uint64_t count, uint64_t hash, uint64_t bytes) {
  uint64_t numbers[] = {count, hash, bytes};
  return XXH3_64bits(numbers, sizeof numbers) | 1;
}

uint64_t slotOfTag(uint64_t count) { return count << 1; }

/// Exchanges are counted in steps of this, and each lane begins at its number. What one rank
/// receives of another has the last.
constexpr uint64_t lanes = 64, transferLane = lanes - 1;

/// Of what one sends another.
uint64_t slotOfTransfer(uint64_t tag, uint64_t bytes) {
  uint64_t numbers[] = {tag, bytes, 0x7472616e73666572};
  return XXH3_64bits(numbers, sizeof numbers) | 1;
}

} // namespace

Processes::Processes(const Settings &settings, const LinksPlugin &plugin)
    : plugin(plugin), own(settings.meeting.rank), all(settings.meeting.size),
      timeout(settings.timeout) {
  Membership::Settings controls{.meeting = settings.meeting, .silence = settings.silence};
  controls.onOver = [this] { stop(std::nullopt); };
  controls.onStuck = [this, told = settings.onStuck](Verdict verdict) {
    if (!isConnected)
      verdict.words = concat("rank ", own, " was waiting in the connection setup: ", verdict.words);
    told(verdict);
  };
  membership = std::make_unique<Membership>(controls, plugin);
  try {
    introduce(settings.meeting.last);
    links = plugin.make(
        {.rank = own,
         .size = all,
         .interface = membership->address(),
         .secret = settings.meeting.secret,
         .isOneUser = !settings.meeting.trustsNetwork && settings.meeting.secret.empty(),
         .run = concat(met, " ", settings.meeting.job)});
    links->connect(membership->allToAll("the connection setup", links->addresses()));
    isConnected = true;
  } catch (const Failure &failure) {
    membership->fail(failure.exit, failure.what());
    throw;
  } catch (const std::exception &error) {
    auto verdict = membership->over(milliseconds(2000));
    Failure failure(verdict ? verdict->exit : Exit::peer,
                    concat("rank ", own, " cannot connect to all other ranks: ",
                           verdict ? verdict->words : error.what()));
    membership->fail(failure.exit, failure.what());
    throw failure;
  }
}

/// Finds out about the others: whose machine and cores they share, and the newest generation that
/// one was of.
void Processes::introduce(int64_t last) {
  const std::string here = hashed(machine()), mine = hashed(cores());
  std::string facts = concat(here, " ", mine, " ", last, " ", hostName());
  std::vector<std::string> others =
      membership->allToAll("the rendezvous", std::vector<std::string>(size_t(all), facts));
  beside = 0;
  for (const std::string &other : others) {
    std::istringstream words(other);
    std::string where, on, host;
    int64_t was = 0;
    words >> where >> on >> was >> host;
    beside += where == here && on == mine;
    number += where == here && int64_t(hosts.size()) < own;
    met = std::max(met, was + 1);
    hosts.push_back(host);
  }
  membership->holds(met);
}

void Processes::stop(std::optional<GroupFailure> why) {
  std::lock_guard lock(mutex);
  if (!reason && why)
    reason.emplace(*why);
  isOver = true;
  for (auto &[lane, exchange] : underway)
    for (auto &buffer : exchange.buffers)
      buffer->stop();
  for (auto &one : outgoing)
    one->buffer->stop();
}

Processes::Exchange &Processes::begin(unsigned lane) {
  assert(lane < lanes);
  Exchange *begun;
  {
    std::lock_guard lock(mutex);
    auto [known, isNew] = counts.try_emplace(lane, size_t(all), lane);
    begun = &underway[lane];
    assert(begun->buffers.empty() && "a thread at a time");
    begun->counts = &known->second;
    begun->late = Channel::Clock::now() + timeout;
    begun->peer = std::make_shared<std::atomic<int64_t>>(own);
  }
  setLate();
  return *begun;
}

/// While the buffers' memory is still there.
void Processes::letGo(Exchange &exchange) {
  std::lock_guard lock(mutex);
  exchange.buffers.clear();
}

void Processes::leave(unsigned lane) {
  {
    std::lock_guard lock(mutex);
    underway.erase(lane);
  }
  setLate();
}

/// The run is over when the first of what is under way is late.
void Processes::setLate() {
  std::lock_guard only(lateMutex);
  std::optional<Channel::Clock::time_point> late;
  std::shared_ptr<std::atomic<int64_t>> peer;
  {
    std::lock_guard lock(mutex);
    for (const auto &[lane, exchange] : underway)
      if (!late || exchange.late < *late) {
        late = exchange.late;
        peer = exchange.peer;
      }
  }
  membership->endAt(late, [this, peer] {
    return Verdict{Exit::peer, *peer,
                   concat("rank ", peer->load(), " is alive, but did not arrive within ",
                          std::chrono::duration_cast<std::chrono::seconds>(timeout).count(),
                          " s (--collective-timeout)")};
  });
}

void Processes::fail(Exit exit, const std::string &text) { membership->fail(exit, text); }

void Processes::recordWith(std::function<std::string()> lastActions) {
  std::lock_guard lock(mutex);
  if (!lastActions && record)
    recorded = record();
  record = std::move(lastActions);
}

std::string Processes::lastActions() {
  std::lock_guard lock(mutex);
  return record ? record() : recorded;
}

void Processes::finish() { membership->finish(); }

void Processes::requireFirsts(const std::string &what, std::span<const std::byte> bytes) {
  std::string hash = plugin.sha256(bytes);
  std::string firsts =
      membership->allToAll(what, std::vector<std::string>(size_t(all), own == 0 ? hash : ""))[0];
  if (firsts != hash)
    throw GroupFailure(Exit::peer, concat(what, ": rank ", own,
                                          " did not receive what rank 0 sent: another program may "
                                          "have intercepted a connection between ranks"));
}

void Processes::finishSending() {
  for (auto &one : outgoing)
    try {
      if (!one->buffer->waitSent())
        give(one->what, one->peer, "");
    } catch (const Failure &) {
      throw;
    } catch (const std::exception &error) {
      give(one->what, one->peer, error.what());
    }
  std::lock_guard lock(mutex);
  outgoing.clear();
}

void Processes::send(int64_t peer, uint64_t tag, const std::string &what,
                     std::span<const std::byte> bytes) {
  auto one =
      std::make_unique<Outgoing>(Outgoing{{bytes.begin(), bytes.end()}, peer, what, nullptr});
  Outgoing *made = one.get();
  {
    std::unique_lock lock(mutex);
    if (isOver) {
      lock.unlock();
      give(what, peer, "");
    }
    made->buffer = links->buffer(made->bytes.data(), made->bytes.size());
    outgoing.push_back(std::move(one));
  }
  try {
    made->buffer->send(peer, slotOfTransfer(tag, bytes.size()));
  } catch (const std::exception &error) {
    give(what, peer, error.what());
  }
}

void Processes::receive(int64_t peer, uint64_t tag, const std::string &what,
                        std::span<std::byte> bytes) {
  Exchange &exchange = begin(transferLane);
  *exchange.peer = peer;
  auto end = [&] {
    letGo(exchange);
    leave(transferLane);
  };
  try {
    Buffer *buffer = nullptr;
    {
      std::unique_lock lock(mutex);
      if (isOver) {
        lock.unlock();
        give(what, peer, "");
      }
      exchange.buffers.push_back(links->buffer(bytes.data(), bytes.size()));
      buffer = exchange.buffers.back().get();
    }
    buffer->receive(peer, slotOfTransfer(tag, bytes.size()));
    if (!buffer->waitReceived())
      give(what, peer, "");
  } catch (const Failure &) {
    end();
    throw;
  } catch (const std::exception &error) {
    end();
    give(what, peer, error.what());
  }
  end();
}

Processes::Header Processes::headerFor(uint64_t count, const std::string &what,
                                       size_t bytes) const {
  Header header;
  header.count = count;
  header.step = step;
  header.bytes = bytes;
  header.hash = XXH3_64bits(what.data(), what.size());
  what.copy(header.words, sizeof header.words - 1);
  return header;
}

static std::string stepText(int64_t step) {
  return step < 0 ? "before the first step" : concat("step ", step);
}

std::string Processes::describe(const Header &header) const {
  std::string words(header.words, strnlen(header.words, sizeof header.words));
  return concat(words, " of ", header.bytes, " bytes, ", stepText(header.step));
}

std::string Processes::words(const std::string &what, int64_t peer) const {
  return concat(stepText(step), ": rank ", own, " was waiting in ", what, " for rank ", peer);
}

/// Whether the other is where this one is.
void Processes::compare(int64_t peer, const Header &expected, const Header &found,
                        size_t bytes) const {
  Header wanted = expected;
  wanted.bytes = bytes;
  if (wanted.isSameTag(found))
    return;
  throw GroupFailure(Exit::peer, concat("rank ", own, " is in ", describe(wanted), ", but rank ",
                                        peer, " is in ", describe(found),
                                        ": the ranks run different operations; start them with the "
                                        "same options and the same build of Weir"));
}

void Processes::give(const std::string &what, int64_t peer, const std::string &broken) const {
  // Who knows why comes right behind.
  auto verdict = membership->over(milliseconds(broken.empty() ? 0 : 2000));
  if (verdict)
    throw GroupFailure(verdict->exit, concat(words(what, peer), ": ", verdict->words));
  if (broken.empty()) {
    std::lock_guard lock(mutex);
    throw reason.value_or(
        GroupFailure(Exit::peer, concat(words(what, peer), ": this rank has failed")));
  }
  throw GroupFailure(Exit::peer, concat(words(what, peer), ": the connection is broken: ", broken));
}

void Processes::check(const std::string &what, std::chrono::steady_clock::time_point since) {
  auto words = [&] { return concat(stepText(step), ": rank ", own, " was waiting in ", what); };
  if (auto verdict = membership->over())
    throw GroupFailure(verdict->exit, concat(words(), ": ", verdict->words));
  if (std::chrono::steady_clock::now() - since < timeout)
    return;
  Verdict late{Exit::peer, own,
               concat(words(), ", but not all members arrived within ",
                      std::chrono::duration_cast<std::chrono::seconds>(timeout).count(),
                      " s (--collective-timeout)")};
  membership->end(late);
  throw GroupFailure(late.exit, late.words);
}

/// What an exchange sends to and receives from each member.
struct Processes::Carried {
  /// What goes to and comes from one member, besides this rank.
  struct Peer {
    Header sent, got;
    Buffer *tagOut, *tagIn, *out = nullptr, *in = nullptr;
  };

  std::span<const int64_t> members;
  const std::string &what;
  std::span<const std::span<const std::byte>> to;
  std::span<const std::span<std::byte>> from;
  std::vector<Peer> peers; ///< of each member
};

/// Makes the buffers and the tags.
void Processes::prepare(Exchange &exchange, Carried &carried) {
  std::unique_lock lock(mutex);
  if (isOver) {
    lock.unlock();
    give(carried.what, carried.members[carried.members[0] == own && carried.members.size() > 1],
         "");
  }
  auto buffer = [&](const void *memory, size_t bytes) {
    exchange.buffers.push_back(links->buffer(const_cast<void *>(memory), bytes));
    return exchange.buffers.back().get();
  };
  for (size_t i = 0; i < carried.members.size(); ++i) {
    if (carried.members[i] == own)
      continue;
    Carried::Peer &one = carried.peers[i];
    one.sent = headerFor((*exchange.counts)[size_t(carried.members[i])], carried.what,
                         carried.to[i].size());
    one.tagOut = buffer(&one.sent, sizeof one.sent);
    one.tagIn = buffer(&one.got, sizeof one.got);
    if (Header::isLittle(carried.to[i].size()))
      std::ranges::copy(carried.to[i], one.sent.little);
    else
      one.out = buffer(carried.to[i].data(), carried.to[i].size());
    if (!Header::isLittle(carried.from[i].size()))
      one.in = buffer(carried.from[i].data(), carried.from[i].size());
  }
}

/// Posts all receives and sends.
void Processes::start(Exchange &exchange, Carried &carried) {
  for (size_t i = 0; i < carried.members.size(); ++i) {
    const int64_t peer = *exchange.peer = carried.members[i];
    if (peer == own)
      continue;
    Carried::Peer &one = carried.peers[i];
    const Header &sent = one.sent;
    one.tagIn->receive(peer, slotOfTag(sent.count));
    if (one.in)
      one.in->receive(peer, slotOf(sent.count, sent.hash, carried.from[i].size()));
    one.tagOut->send(peer, slotOfTag(sent.count));
    if (one.out)
      one.out->send(peer, slotOf(sent.count, sent.hash, carried.to[i].size()));
  }
}

/// Waits for what the others send, and checks their tags.
void Processes::waitReceived(Exchange &exchange, Carried &carried) {
  for (size_t i = 0; i < carried.members.size(); ++i) {
    const int64_t peer = *exchange.peer = carried.members[i];
    if (peer == own) {
      std::copy(carried.to[i].begin(), carried.to[i].end(), carried.from[i].begin());
      continue;
    }
    Carried::Peer &one = carried.peers[i];
    if (!one.tagIn->waitReceived())
      give(carried.what, peer, "");
    compare(peer, one.sent, one.got, carried.from[i].size());
    if (one.in && !one.in->waitReceived())
      give(carried.what, peer, "");
    if (!one.in)
      std::copy_n(one.got.little, carried.from[i].size(), carried.from[i].begin());
  }
}

/// Waits until the others have received, and counts the exchange.
void Processes::waitSent(Exchange &exchange, Carried &carried) {
  for (size_t i = 0; i < carried.members.size(); ++i) {
    const int64_t peer = *exchange.peer = carried.members[i];
    if (peer == own)
      continue;
    Carried::Peer &one = carried.peers[i];
    if (!one.tagOut->waitSent() || (one.out && !one.out->waitSent()))
      give(carried.what, peer, "");
    (*exchange.counts)[size_t(peer)] += lanes;
  }
}

void Processes::carry(Exchange &exchange, Carried &carried) {
  try {
    prepare(exchange, carried);
    start(exchange, carried);
    waitReceived(exchange, carried);
    waitSent(exchange, carried);
  } catch (const Failure &) {
    letGo(exchange);
    throw;
  } catch (const std::exception &error) {
    letGo(exchange);
    give(carried.what, *exchange.peer, error.what());
  }
  letGo(exchange);
}

void Processes::exchange(unsigned lane, std::span<const int64_t> members, const std::string &what,
                         std::span<const std::span<const std::byte>> to,
                         std::span<const std::span<std::byte>> from) {
  const auto asked = Channel::Clock::now();
  Carried carried{members, what, to, from, std::vector<Carried::Peer>(members.size())};
  Exchange &exchange = begin(lane);
  try {
    carry(exchange, carried);
  } catch (const GroupFailure &failure) {
    leave(lane);
    stop(failure); // what is under way on other lanes
    throw;
  }
  leave(lane);
  if (lane == hostLane) // of others the device knows whether it did something meanwhile
    addWaited(Channel::Clock::now() - asked);
}

} // namespace weir::collectives
