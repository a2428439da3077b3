//===- Membership.cpp - Who of a run is alive -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/Membership.h"
#include "runtime/base/Thread.h"
#include "support/Text.h"
#include <cassert>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace weir::collectives {

using Kind = Message::Kind;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds turnTime(200), beatTime(1000);
/// A thread that did not run for so long was stopped, with its process or its machine: nobody was
/// silent only because it did not listen.
constexpr milliseconds stoppedTime(3000);
/// For last words to be read.
constexpr milliseconds toLeave(1000);

int64_t secondsOf(milliseconds time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

std::string rankList(const std::vector<int64_t> &ranks) {
  std::vector<std::string> texts;
  for (int64_t rank : ranks)
    texts.push_back(std::to_string(rank));
  return concat(ranks.size() == 1 ? "rank " : "ranks ", joinFew(texts),
                ranks.size() == 1 ? " has" : " have");
}

} // namespace

Membership::Membership(const Settings &settings, const LinksPlugin &crypto)
    : settings(settings), rank(settings.meeting.rank), size(settings.meeting.size) {
  if (rank == 0) {
    server = std::make_unique<RendezvousServer>(settings.meeting, crypto);
    where = server->place();
    interface = server->address();
  } else {
    Entered entered = enter(settings.meeting, crypto);
    where = entered.place;
    interface = entered.address;
    peers[0] = {std::move(entered.channel), Clock::now()};
  }
  waker = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (waker < 0)
    throw Failure(Exit::device, concat("cannot create an eventfd: ", std::strerror(errno)));
  // Signals are for the thread that trains.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread = startThread([this] { run(); });
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    close(waker);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Membership::~Membership() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  wake();
  thread.join();
  close(waker);
}

void Membership::wake() const {
  uint64_t one = 1;
  [[maybe_unused]] ssize_t written = write(waker, &one, sizeof one);
}

void Membership::run() {
  auto last = Clock::now(), beaten = last;
  std::unique_lock lock(mutex);
  while (!stopping) {
    std::vector<pollfd> files{{waker, POLLIN, 0}};
    for (auto &[other, peer] : peers)
      if (peer.channel)
        files.push_back(
            {peer.channel->socket(), short(POLLIN | (peer.channel->isSending() ? POLLOUT : 0)), 0});
    if (server)
      server->await(files);
    lock.unlock();
    poll(files.data(), files.size(), int(turnTime.count()));
    uint64_t count;
    [[maybe_unused]] ssize_t got = read(waker, &count, sizeof count);
    lock.lock();
    auto now = Clock::now();
    if (now - last > stoppedTime) {
      for (auto &[other, peer] : peers)
        peer.heard = now;
      stopped = std::chrono::duration_cast<milliseconds>(now - last);
      wentOn = now;
    }
    last = now;
    if (now - beaten >= beatTime && !hasLeft) {
      beaten = now;
      tell({.kind = Kind::beat, .rank = uint32_t(rank)});
    }
    turn(now);
    if (std::string said = std::exchange(notice, ""); !said.empty()) {
      lock.unlock();
      settings.meeting.warn(said);
      lock.lock();
    }
    bool isNew = verdict && decided == Clock::time_point();
    if (isNew)
      decided = now;
    bool isStuck = verdict && !hasLeft && now - decided > settings.grace;
    if (isNew || isStuck) {
      Verdict why = *verdict;
      hasLeft |= isStuck; // told once
      lock.unlock();
      isNew ? settings.onOver() : settings.onStuck(why);
      lock.lock();
    }
  }
}

void Membership::turn(Clock::time_point now) {
  for (auto &[other, peer] : peers) {
    if (!peer.channel)
      continue;
    bool isOpen = peer.channel->move();
    while (auto message = peer.channel->take()) {
      peer.heard = now;
      hear(other, *message);
    }
    if (!isOpen) {
      bool isForged = peer.channel->fault() == SecureStream::Fault::forged;
      peer.channel.reset();
      lose(other, isForged
                      ? "was disconnected: its connection delivered bytes that it did not send, so "
                        "something on the network path modifies them"
                      : "exited without a message: it was killed, ran out of memory, or crashed");
      changed.notify_all();
    } else if (now - peer.heard > settings.silence) {
      lose(other, concat("has sent no heartbeat for ", secondsOf(settings.silence),
                         " s: the process is stopped, or its machine or the network is down"));
      peer.channel.reset(); // nobody waits for it to read last words
    }
  }
  if (verdict || hasEnded || hasLeft)
    server.reset(); // who comes now comes for what is next
  if (server) {
    for (auto &[other, channel] : server->admit())
      peers[other] = {std::move(channel), now};
    for (int64_t other : server->cameAgain())
      lose(other, "left the run and joined again");
    if (!server->areAllHere() && now - begun > settings.meeting.notice &&
        !std::exchange(hasNoticed, true)) {
      const bool one = server->missing().size() == 1;
      notice =
          concat(rankList(server->missing()), " not joined at ", where, " for ",
                 secondsOf(settings.meeting.notice), " s; rank 0 is waiting for ",
                 one ? "it" : "them", ", and gives up after ", secondsOf(settings.meeting.patience),
                 " s (--collective-timeout): check that ", one ? "it was" : "they were",
                 " started with the same command");
    }
    if (!server->areAllHere() && now - begun > settings.meeting.patience)
      decide({Exit::peer, -1,
              concat(rankList(server->missing()), " not joined at ", where, " for ",
                     secondsOf(settings.meeting.patience), " s")});
  }
  if (deadline && now > *deadline && !verdict) {
    deadline.reset();
    decide(whyLate());
  }
  meetParts();
}

void Membership::hear(int64_t from, const Message &message) {
  switch (message.kind) {
  case Kind::parts:
    if (rank == 0)
      gathered[from] = message;
    else if (int64_t(message.parts.size()) == size) {
      given = message.parts;
      hasEnded |= isEnding;
      changed.notify_all();
    }
    break;
  case Kind::lost:
  case Kind::ended: {
    bool isKnown = message.status > 0 && message.status <= uint32_t(Exit::storage);
    Exit exit =
        isKnown && message.status != uint32_t(Exit::internal) ? Exit(message.status) : Exit::peer;
    // Who told rank 0 of itself tells nobody else.
    int64_t whose = rank == 0 ? from : int64_t(int32_t(message.rank)); // or -1
    if (message.kind == Kind::lost && whose == rank && isGivenUp())
      return decide(ownStop());
    std::string words = message.kind == Kind::lost
                            ? message.text
                            : concat("rank ", whose, " exited with status ", message.status,
                                     message.text.empty() ? "" : ": ", message.text);
    peers[from].hasLeft |= whose == from && message.kind == Kind::ended;
    decide({exit, whose, words});
    break;
  }
  case Kind::bye:
    peers[from].hasLeft = true;
    break;
  default:
    break;
  }
}

void Membership::lose(int64_t other, const std::string &how) {
  if (hasEnded || peers[other].hasLeft)
    return;
  if (isGivenUp())
    decide(ownStop());
  else
    decide({Exit::peer, other, concat("rank ", other, " ", how)});
}

/// Whether this process has just gone on after so long a stop that the others have taken it for
/// lost: what it learns of them now is the consequence.
bool Membership::isGivenUp() const {
  return stopped + beatTime > settings.silence && Clock::now() - wentOn < stoppedTime;
}

Verdict Membership::ownStop() const {
  return {Exit::peer, rank,
          concat("this process (rank ", rank, ") was stopped or disconnected for ",
                 secondsOf(stopped), " s, and the other ranks went on without it")};
}

void Membership::decide(const Verdict &why) {
  if (verdict || hasEnded)
    return;
  verdict = why;
  if (rank == 0)
    tell({.kind = Kind::lost,
          .rank = uint32_t(why.rank),
          .status = uint32_t(why.exit),
          .text = why.words});
  changed.notify_all();
}

void Membership::tell(const Message &message, int64_t except) {
  for (auto &[other, peer] : peers)
    if (peer.channel && other != except)
      peer.channel->put(message);
}

/// Once all have come with their parts, each gets what is for it.
void Membership::meetParts() {
  if (rank != 0 || int64_t(gathered.size()) < size)
    return;
  for (auto &[other, message] : gathered)
    if (message.text != gathered[0].text || int64_t(message.parts.size()) != size)
      return decide({Exit::peer, other,
                     concat("rank ", other, " is in ", message.text, ", but rank 0 is in ",
                            gathered[0].text)});
  for (int64_t to = 0; to < size; ++to) {
    std::vector<std::string> parts;
    for (auto &[other, message] : gathered)
      parts.push_back(message.parts[size_t(to)]);
    if (to == 0)
      given = std::move(parts);
    else if (peers[to].channel)
      peers[to].channel->put({.kind = Kind::parts, .parts = std::move(parts)});
  }
  gathered.clear();
  hasEnded |= isEnding;
  changed.notify_all();
}

std::vector<std::string> Membership::allToAll(const std::string &what,
                                              std::vector<std::string> parts) {
  assert(int64_t(parts.size()) == size);
  std::unique_lock lock(mutex);
  Message message{.kind = Kind::parts, .text = what, .parts = std::move(parts)};
  given.reset();
  if (rank == 0)
    gathered[0] = std::move(message);
  else if (peers[0].channel)
    peers[0].channel->put(message);
  wake();
  changed.wait(lock, [&] { return given || verdict; });
  if (!given) {
    std::string words = concat("rank ", rank, " was waiting in ", what, ": ", verdict->words);
    if (verdict->rank < 0)
      throw NotMet(verdict->exit, words);
    throw Failure(verdict->exit, words);
  }
  return *std::exchange(given, std::nullopt);
}

void Membership::holds(int64_t generation) {
  std::lock_guard lock(mutex);
  if (server)
    server->holds(generation);
}

std::optional<Verdict> Membership::over(milliseconds wait) const {
  std::unique_lock lock(mutex);
  changed.wait_for(lock, wait, [&] { return verdict.has_value(); });
  return verdict;
}

void Membership::end(const Verdict &why) {
  std::lock_guard lock(mutex);
  decide(why);
  wake();
}

void Membership::endAt(std::optional<Clock::time_point> time, std::function<Verdict()> why) {
  std::lock_guard lock(mutex);
  deadline = time;
  whyLate = std::move(why);
}

/// Waits until what was said is read: a connection that is closed with something unread in it may
/// take what it has not delivered with it.
void Membership::leave(std::unique_lock<std::mutex> &lock) {
  hasLeft = true;
  for (auto &[other, peer] : peers)
    if (peer.channel)
      peer.channel->close();
  wake();
  changed.wait_for(lock, toLeave, [&] {
    for (auto &[other, peer] : peers)
      if (peer.channel)
        return false;
    return true;
  });
}

void Membership::fail(Exit exit, const std::string &text) {
  std::unique_lock lock(mutex);
  if (hasLeft || hasEnded)
    return;
  tell({.kind = Kind::ended, .rank = uint32_t(rank), .status = uint32_t(exit), .text = text});
  leave(lock);
}

void Membership::finish() {
  {
    std::lock_guard lock(mutex);
    isEnding = true;
  }
  allToAll("the shutdown", std::vector<std::string>(size_t(size)));
  std::unique_lock lock(mutex);
  tell({.kind = Kind::bye, .rank = uint32_t(rank)});
  leave(lock);
}

} // namespace weir::collectives
