//===- Processes.cpp - Ranks that are processes ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/Processes.h"
#include "runtime/base/Text.h"
#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <sched.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace weir::collectives {

using std::chrono::milliseconds;

/// The tag, and what is as short as itself: a message takes time, whatever its size.
struct Processes::Header {
  uint64_t count = 0; ///< exchanges of the two before
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

/// What two processes have alike that share their cores: a machine, a container on it, and the
/// cores that they are bound to.
std::string cores() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  std::ifstream boot("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(boot, id);
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  std::string all = concat(name, " ", id);
  all.append(reinterpret_cast<const char *>(&set), sizeof set);
  return concat(XXH3_64bits(all.data(), all.size()));
}

/// Of the data that a tag announces: nothing is received under another.
uint64_t slotOf(uint64_t count, uint64_t hash, uint64_t bytes) {
  uint64_t numbers[] = {count, hash, bytes};
  return XXH3_64bits(numbers, sizeof numbers) | 1;
}

uint64_t slotOfTag(uint64_t count) { return count << 1; }

/// Of what one sends another.
uint64_t slotOfTransfer(uint64_t tag, uint64_t bytes) {
  uint64_t numbers[] = {tag, bytes, 0x7472616e73666572};
  return XXH3_64bits(numbers, sizeof numbers) | 1;
}

} // namespace

Processes::Processes(const Settings &settings, const LinksPlugin &plugin)
    : own(settings.meeting.rank), all(settings.meeting.size), timeout(settings.timeout),
      counts(size_t(all)) {
  Control::Settings controls{.meeting = settings.meeting, .silence = settings.silence};
  controls.onOver = [this] { stop(); };
  controls.onStuck = [this, told = settings.onStuck](Verdict verdict) {
    if (!isConnected)
      verdict.words = concat("rank ", own, " waits in connecting: ", verdict.words);
    told(verdict);
  };
  control = std::make_unique<Control>(controls, plugin);
  try {
    std::string here = cores();
    std::vector<std::string> others =
        control->allToAll("the beginning", std::vector<std::string>(size_t(all), here));
    beside = std::ranges::count(others, here);
    links = plugin.make(own, all, control->address());
    links->connect(control->allToAll("connecting", links->addresses()));
    isConnected = true;
  } catch (const Failure &failure) {
    control->fail(failure.exit, failure.what());
    throw;
  } catch (const std::exception &error) {
    auto verdict = control->over(milliseconds(2000));
    Failure failure(verdict ? verdict->exit : Exit::peer,
                    concat("rank ", own, " cannot be connected to all others: ",
                           verdict ? verdict->words : error.what()));
    control->fail(failure.exit, failure.what());
    throw failure;
  }
}

void Processes::stop() {
  std::lock_guard lock(mutex);
  isOver = true;
  for (auto &parcel : underway)
    parcel->stop();
  for (auto &one : outgoing)
    one->parcel->stop();
}

void Processes::clear() {
  std::lock_guard lock(mutex);
  underway.clear();
}

void Processes::fail(Exit exit, const std::string &text) { control->fail(exit, text); }

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

void Processes::finish() {
  finishSending();
  control->finish();
}

void Processes::at(int64_t step) {
  finishSending();
  this->step = step;
}

void Processes::finishSending() {
  for (auto &one : outgoing)
    try {
      if (!one->parcel->waitSent())
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
    std::lock_guard lock(mutex);
    if (isOver)
      give(what, peer, "");
    made->parcel = links->parcel(made->bytes.data(), made->bytes.size());
    outgoing.push_back(std::move(one));
  }
  try {
    made->parcel->send(peer, slotOfTransfer(tag, bytes.size()));
  } catch (const std::exception &error) {
    give(what, peer, error.what());
  }
}

void Processes::receive(int64_t peer, uint64_t tag, const std::string &what,
                        std::span<std::byte> bytes) {
  Parcel *parcel = nullptr;
  {
    std::lock_guard lock(mutex);
    if (isOver)
      give(what, peer, "");
    underway.push_back(links->parcel(bytes.data(), bytes.size()));
    parcel = underway.back().get();
  }
  auto end = [this] {
    control->endAt(std::nullopt);
    clear();
  };
  try {
    parcel->receive(peer, slotOfTransfer(tag, bytes.size()));
    control->endAt(Channel::Clock::now() + timeout, [this, peer] {
      return Verdict{Exit::peer, peer,
                     concat("rank ", peer, " is alive, and has not sent it within ",
                            std::chrono::duration_cast<std::chrono::seconds>(timeout).count(),
                            " s (--collective-timeout)")};
    });
    if (!parcel->waitReceived())
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

Processes::Header Processes::headerFor(int64_t peer, const std::string &what, size_t bytes) const {
  Header header;
  header.count = counts[size_t(peer)];
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
  return concat(stepText(step), ": rank ", own, " waits in ", what, " for rank ", peer);
}

/// Whether the other is where this one is.
void Processes::compare(int64_t peer, const Header &expected, const Header &found,
                        size_t bytes) const {
  Header wanted = expected;
  wanted.bytes = bytes;
  if (wanted.isSameTag(found))
    return;
  throw GroupFailure(
      Exit::peer, concat("rank ", own, " is in ", describe(wanted), ", and rank ", peer, " in ",
                         describe(found),
                         ": the ranks do not do the same; are they given the same options, and the "
                         "same build of Weir?"));
}

void Processes::give(const std::string &what, int64_t peer, const std::string &broken) const {
  // Who knows why comes right behind.
  auto verdict = control->over(milliseconds(broken.empty() ? 0 : 2000));
  if (verdict)
    throw GroupFailure(verdict->exit, concat(words(what, peer), ": ", verdict->words));
  throw GroupFailure(Exit::peer, concat(words(what, peer), ": the connection is broken: ", broken));
}

void Processes::exchange(std::span<const int64_t> members, const std::string &what,
                         std::span<const std::span<const std::byte>> to,
                         std::span<const std::span<std::byte>> from) {
  struct Both {
    Header sent, got;
    Parcel *tagOut, *tagIn, *out = nullptr, *in = nullptr;
  };
  std::vector<Both> both(members.size());
  auto parcel = [&](const void *memory, size_t bytes) {
    underway.push_back(links->parcel(const_cast<void *>(memory), bytes));
    return underway.back().get();
  };
  std::atomic<int64_t> peer = own; // that is waited for
  try {
    {
      std::lock_guard lock(mutex);
      if (isOver)
        give(what, members[members[0] == own && members.size() > 1], "");
      for (size_t i = 0; i < members.size(); ++i) {
        if (members[i] == own)
          continue;
        Both &one = both[i];
        one.sent = headerFor(members[i], what, to[i].size());
        one.tagOut = parcel(&one.sent, sizeof one.sent);
        one.tagIn = parcel(&one.got, sizeof one.got);
        if (Header::isLittle(to[i].size()))
          std::ranges::copy(to[i], one.sent.little);
        else
          one.out = parcel(to[i].data(), to[i].size());
        if (!Header::isLittle(from[i].size()))
          one.in = parcel(from[i].data(), from[i].size());
      }
    }
    for (size_t i = 0; i < members.size(); ++i) {
      peer = members[i];
      if (peer == own)
        continue;
      Both &one = both[i];
      const Header &sent = one.sent;
      one.tagIn->receive(peer, slotOfTag(sent.count));
      if (one.in)
        one.in->receive(peer, slotOf(sent.count, sent.hash, from[i].size()));
      one.tagOut->send(peer, slotOfTag(sent.count));
      if (one.out)
        one.out->send(peer, slotOf(sent.count, sent.hash, to[i].size()));
    }
    control->endAt(Channel::Clock::now() + timeout, [this, &peer] {
      return Verdict{Exit::peer, peer,
                     concat("rank ", peer.load(), " is alive, and has not come within ",
                            std::chrono::duration_cast<std::chrono::seconds>(timeout).count(),
                            " s (--collective-timeout)")};
    });
    for (size_t i = 0; i < members.size(); ++i) {
      peer = members[i];
      if (peer == own) {
        std::ranges::copy(to[i], from[i].begin());
        continue;
      }
      Both &one = both[i];
      if (!one.tagIn->waitReceived())
        give(what, peer, "");
      compare(peer, one.sent, one.got, from[i].size());
      if (one.in && !one.in->waitReceived())
        give(what, peer, "");
      if (!one.in)
        std::copy_n(one.got.little, from[i].size(), from[i].begin());
    }
    for (size_t i = 0; i < members.size(); ++i) {
      peer = members[i];
      if (peer == own)
        continue;
      if (!both[i].tagOut->waitSent() || (both[i].out && !both[i].out->waitSent()))
        give(what, peer, "");
      ++counts[size_t(peer)];
    }
  } catch (const Failure &) {
    control->endAt(std::nullopt);
    clear();
    throw;
  } catch (const std::exception &error) {
    control->endAt(std::nullopt);
    clear();
    give(what, peer, error.what());
  }
  control->endAt(std::nullopt);
  clear();
}

} // namespace weir::collectives
