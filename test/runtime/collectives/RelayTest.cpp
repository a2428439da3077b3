//===- RelayTest.cpp - A stranger between a rank and rank 0 ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program that listens where the rank looks for rank 0, and connects to rank 0 itself. It does
// not know the secret. It is on the way between two machines, or on that of rank 0.
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/Consensus.h"
#include "runtime/collectives/Plugin.h"
#include "runtime/collectives/Processes.h"
#include "support/Text.h"
#include "test/runtime/collectives/FreePort.h"
#include "test/runtime/collectives/Meetings.h"
#include <atomic>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>

using namespace weir;
using namespace weir::collectives;
using namespace std::chrono_literals;

namespace {

using Clock = Channel::Clock;
using Fault = SecureStream::Fault;

/// Where the rank looks for rank 0 that has a relay on the way.
constexpr char onTheWay[] = "127.0.0.2";

/// Over TCP, where a relay can stand.
Meeting overTcp(int64_t rank, uint16_t port, const std::string &host = "127.0.0.1") {
  Meeting meeting = meetingOf(rank, port);
  meeting.host = host;
  meeting.trustsNetwork = true;
  return meeting;
}

int connectTo(uint16_t port) {
  int file = Endpoint::of(overTcp(1, port)).at(0).connect(port);
  pollfd ready{file, POLLOUT, 0};
  poll(&ready, 1, 1000);
  return file;
}

/// What there is on a socket, "" where nothing comes for a while.
std::string heard(int file, int wait) {
  pollfd ready{file, POLLIN, 0};
  char some[1 << 14];
  ssize_t got = poll(&ready, 1, wait) > 0 ? recv(file, some, sizeof some, MSG_DONTWAIT) : 0;
  return {some, some + std::max<ssize_t>(got, 0)};
}

class Relay {
public:
  /// Listens at `port` for whoever looks for the rank 0 that is at `target`.
  Relay(const std::string &host, uint16_t port, uint16_t target)
      : listening(Endpoint::of(overTcp(0, port, host)).at(0).listen(port, 9)), target(target),
        thread([this](std::stop_token over) { run(over); }) {
    EXPECT_GE(listening, 0);
  }
  ~Relay() {
    thread.request_stop();
    thread.join();
    close(listening);
  }

  /// Puts that between what goes to the rank, or to rank 0.
  void inject(bool toRank, const std::string &bytes) {
    std::lock_guard lock(mutex);
    (toRank ? here : there) += bytes;
  }
  /// From now on one bit of each piece that goes to the rank is another one.
  void change() { changes = true; }
  /// All that the rank has sent, and rank 0.
  std::string recorded(bool ofRank) {
    std::lock_guard lock(mutex);
    return ofRank ? saidByRank : saidByZero;
  }

private:
  void run(const std::stop_token &over) {
    while (!over.stop_requested()) {
      pollfd ready{listening, POLLIN, 0};
      if (poll(&ready, 1, 20) <= 0)
        continue;
      int rank = accept(listening, nullptr, nullptr), zero = connectTo(target);
      while (!over.stop_requested() && pass(rank, zero))
        ;
      close(rank);
      close(zero);
    }
  }

  /// False once one of them has closed.
  bool pass(int rank, int zero) {
    pollfd both[] = {{rank, POLLIN, 0}, {zero, POLLIN, 0}};
    poll(both, 2, 10);
    std::string byRank = heard(rank, 0), byZero = heard(zero, 0);
    bool isOpen = !(both[0].revents && byRank.empty()) && !(both[1].revents && byZero.empty());
    std::lock_guard lock(mutex);
    saidByRank += byRank;
    saidByZero += byZero;
    if (changes && !byZero.empty())
      byZero.back() ^= 1;
    byZero += std::exchange(here, {});
    byRank += std::exchange(there, {});
    send(rank, byZero.data(), byZero.size(), MSG_NOSIGNAL);
    send(zero, byRank.data(), byRank.size(), MSG_NOSIGNAL);
    return isOpen;
  }

  const int listening;
  const uint16_t target;
  std::mutex mutex;
  std::string here, there, saidByRank, saidByZero;
  std::atomic<bool> changes = false;
  std::jthread thread;
};

/// Rank 0's server, and the ranks that are let in.
class RankZero {
public:
  explicit RankZero(const Meeting &meeting)
      : server(meeting, linksPlugin()), thread([this](std::stop_token over) {
          while (!over.stop_requested()) {
            std::vector<pollfd> files;
            server.await(files);
            poll(files.data(), files.size(), 20);
            auto more = server.admit();
            admitted += int(more.size());
            for (auto &[rank, channel] : more)
              channels.push_back(std::move(channel));
            for (auto &channel : channels)
              channel->move();
          }
        }) {}
  int ranks() const { return admitted; }

private:
  RendezvousServer server;
  std::atomic<int> admitted = 0;
  std::vector<std::unique_ptr<Channel>> channels;
  std::jthread thread;
};

/// A run of two ranks, the second of which has found the relay. Returns what each fails with.
std::array<std::string, 2> runOver(const std::function<void(Processes &, Relay &)> &body,
                                   const std::string &secret = ::secret) {
  uint16_t port = freePort();
  Relay relay(onTheWay, port, port);
  std::array<std::string, 2> failures;
  std::vector<std::jthread> threads;
  for (int rank : {0, 1})
    threads.emplace_back([&, rank] {
      try {
        Processes::Settings own;
        own.meeting = rank ? overTcp(rank, port, onTheWay) : overTcp(rank, port);
        own.meeting.secret = secret;
        Processes group(own, linksPlugin());
        try {
          body(group, relay);
          group.finish();
        } catch (const Failure &failure) {
          group.fail(failure.exit, failure.what());
          throw;
        }
      } catch (const Failure &failure) {
        failures[size_t(rank)] = concat(int(failure.exit), " ", failure.what());
      }
    });
  threads.clear();
  return failures;
}

/// While rank 1 compares an artifact that is not rank 0's with what rank 0 says of its own, the
/// relay does `deed`. Returns whether the rank would run it.
bool believes(const std::function<void(Relay &, std::span<const std::byte> artifact)> &deed,
              const std::string &secret, std::array<std::string, 2> &failures) {
  const std::vector<std::byte> artifact(1000, std::byte{7}), other(1000, std::byte{8});
  std::atomic<bool> waits = false, believed = false;
  failures = runOver(
      [&](Processes &group, Relay &relay) {
        if (group.rank() == 0) {
          waits.wait(false);
          std::this_thread::sleep_for(200ms);
          deed(relay, other);
          std::this_thread::sleep_for(500ms);
        }
        if (group.rank() == 1) {
          waits = true;
          waits.notify_all();
        }
        group.requireFirsts("comparing the artifact", group.rank() ? other : artifact);
        believed = believed || group.rank() == 1;
      },
      secret);
  return believed;
}

/// What rank 0 would say if that were its artifact.
std::string saysOf(std::span<const std::byte> artifact) {
  return encode({.kind = Message::Kind::parts, .parts = {linksPlugin().sha256(artifact), ""}});
}

constexpr char cutOff[] =
    "7 rank 1 was waiting in comparing the artifact: rank 0 was disconnected: its connection "
    "delivered bytes that it did not send, so something on the network path modifies them";

} // namespace

TEST(Relay, ThatPassesAllOnIsACable) {
  auto failures = runOver([](Processes &group, Relay &) {
    std::vector<std::byte> artifact(5000000);
    if (group.rank() == 0)
      std::ranges::fill(artifact, std::byte{7});
    fromFirst(group, "sending the artifact", artifact);
    group.requireFirsts("comparing the artifact", artifact);
    EXPECT_EQ(artifact.back(), std::byte{7});
  });
  EXPECT_EQ(failures[0], "");
  EXPECT_EQ(failures[1], "");
}

TEST(Relay, ThatSpeaksForRankZeroIsFoundOut) {
  std::array<std::string, 2> failures;
  auto inClear = [](Relay &relay, std::span<const std::byte> artifact) {
    relay.inject(true, saysOf(artifact));
  };
  EXPECT_FALSE(believes(inClear, secret, failures));
  EXPECT_EQ(failures[1], cutOff);
  EXPECT_EQ(failures[0].substr(0, 2), "7 ") << failures[0];
  auto asRecord = [](Relay &relay, std::span<const std::byte> artifact) {
    std::string said = saysOf(artifact);
    relay.inject(true, std::string("\x17\3\3\0", 4) + char(said.size()) + said);
  };
  EXPECT_FALSE(believes(asRecord, secret, failures));
  EXPECT_EQ(failures[1], cutOff);
  // With --trust-network and no secret it takes rank 0's place.
  EXPECT_TRUE(believes(inClear, "", failures));
}

TEST(Relay, ThatChangesABitIsFoundOut) {
  std::array<std::string, 2> failures;
  auto change = [](Relay &relay, std::span<const std::byte>) { relay.change(); };
  EXPECT_FALSE(believes(change, secret, failures));
  EXPECT_EQ(failures[1], cutOff);
  EXPECT_EQ(failures[0].substr(0, 2), "7 ") << failures[0];
}

TEST(Relay, ThatSpeaksForARankIsFoundOut) {
  std::array<std::string, 2> failures;
  auto speak = [](Relay &relay, std::span<const std::byte>) {
    relay.inject(false, encode({.kind = Message::Kind::bye, .rank = 1}));
  };
  EXPECT_FALSE(believes(speak, secret, failures));
  EXPECT_NE(failures[0].find("rank 1 was disconnected: its connection delivered bytes"),
            std::string::npos)
      << failures[0];
  EXPECT_EQ(failures[1].substr(0, 2), "7 ") << failures[1];
}

/// What it has recorded of one rank opens no server again.
TEST(Relay, ThatRecordsAndRepeatsIsNoRank) {
  uint16_t port = freePort();
  RankZero zero(overTcp(0, port));
  Relay relay(onTheWay, port, port);
  Meeting rank = overTcp(1, port, onTheWay);
  {
    Entered entered = enter(rank, linksPlugin());
    EXPECT_EQ(entered.place, concat(onTheWay, ":", port));
  }
  const std::string said = relay.recorded(true);
  ASSERT_GT(said.size(), 100u);
  uint16_t next = freePort();
  RankZero other(overTcp(0, next));
  int file = connectTo(next);
  send(file, said.data(), said.size(), MSG_NOSIGNAL);
  heard(file, 1000); // rank 0's half of the handshake, or its alert
  std::this_thread::sleep_for(200ms);
  EXPECT_EQ(other.ranks(), 0);
  close(file);
  // Rank 0's words prove nothing to another rank either.
  const std::string answered = relay.recorded(false);
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  Channel channel(ends[0],
                  linksPlugin().secure(SecureStream::End::client, secret, secretName("test")));
  send(ends[1], answered.data(), answered.size(), MSG_NOSIGNAL);
  EXPECT_FALSE(channel.next(Clock::now() + 200ms));
  EXPECT_FALSE(channel.isProved());
  close(ends[1]);
}

/// A rank that has called another port than rank 0's has reached a program that passes on what both
/// say. That program could end the run at any time, and the rank finds rank 0's port by itself.
TEST(Relay, AtAnotherPortIsNotRankZero) {
  uint16_t port = freePort();
  RankZero zero(overTcp(0, port));
  Channel channel(connectTo(port),
                  linksPlugin().secure(SecureStream::End::client, secret, secretName("test")));
  channel.put({.kind = Message::Kind::hello,
               .rank = 1,
               .size = 2,
               .status = rendezvousProtocol,
               .text = "test",
               .parts = {"0", std::to_string(port + 1)}});
  std::optional<Message> answer = channel.next(Clock::now() + 5s);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->kind, Message::Kind::refused);
  EXPECT_EQ(answer->text, "this is another port");
  EXPECT_EQ(zero.ranks(), 0);
  EXPECT_EQ(enter(overTcp(1, port), linksPlugin()).place, concat("127.0.0.1:", port));
}

/// Nobody waits for who stops in the middle of its handshake, and then it is sent away.
TEST(Relay, ThatStallsIsLetGo) {
  uint16_t port = freePort();
  RankZero zero(overTcp(0, port));
  std::string hello;
  linksPlugin().secure(SecureStream::End::client, secret, secretName("test"))->drain(hello);
  std::vector<int> stalled;
  for (size_t size : {size_t(1), hello.size() / 2, hello.size()}) {
    stalled.push_back(connectTo(port));
    send(stalled.back(), hello.data(), size, MSG_NOSIGNAL);
  }
  auto began = Clock::now();
  EXPECT_EQ(enter(overTcp(1, port), linksPlugin()).place, concat("127.0.0.1:", port));
  EXPECT_LT(Clock::now() - began, 2s);
  for (int file : stalled) {
    std::string came = "more";
    while (!came.empty())
      came = heard(file, 8000);
    EXPECT_LT(Clock::now() - began, 8s);
    close(file);
  }
  EXPECT_GT(Clock::now() - began, 4s);
  EXPECT_EQ(zero.ranks(), 1);
}

/// Before it has proved anything: a handshake as long as TLS allows is none of a rank.
TEST(Relay, ThatSaysMuchIsSentAway) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  Channel channel(ends[0],
                  linksPlugin().secure(SecureStream::End::server, secret, secretName("test")));
  // A record of 16000 bytes, with a ClientHello that is as long.
  std::string much = std::string("\x16\3\1\x3e\x80\1\0\x3e\x7c\3\3", 11);
  much.resize(Message::mostOfStranger - 1, 'x');
  send(ends[1], much.data(), much.size(), MSG_NOSIGNAL);
  EXPECT_TRUE(channel.move());
  send(ends[1], "xx", 2, MSG_NOSIGNAL);
  EXPECT_FALSE(channel.move());
  close(ends[1]);
}

/// Both at once: neither waits for the other to read.
TEST(Relay, AChannelCarriesMuchBothWays) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  auto secure = linksPlugin().secure;
  Channel one(ends[0], secure(SecureStream::End::client, secret, secretName("test"))),
      other(ends[1], secure(SecureStream::End::server, secret, secretName("test")));
  one.trust();
  other.trust();
  Message much{.kind = Message::Kind::parts};
  much.parts.assign(Message::mostParts, std::string(Message::mostOfPart, 'p'));
  one.put(much); // ahead of the handshake
  while (!one.isProved() || !other.isProved())
    ASSERT_TRUE(one.move() && other.move());
  for (int i = 0; i < 4; ++i) {
    one.put(much);
    other.put(much);
  }
  int got = 0;
  for (auto until = Clock::now() + 20s; got < 9 && Clock::now() < until;) {
    ASSERT_TRUE(one.move() && other.move());
    for (Channel *channel : {&one, &other})
      while (auto message = channel->take()) {
        EXPECT_TRUE(*message == much);
        ++got;
      }
  }
  EXPECT_EQ(got, 9);
}
