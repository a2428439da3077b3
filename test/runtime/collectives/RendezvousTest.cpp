//===- RendezvousTest.cpp - How the processes of a run find each other ----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/Rendezvous.h"
#include "runtime/base/Text.h"
#include "runtime/collectives/Plugin.h"
#include "test/runtime/collectives/FreePort.h"
#include <thread>

using namespace weir;
using namespace weir::collectives;
using namespace std::chrono_literals;

namespace {

using Kind = Message::Kind;
using Clock = Channel::Clock;

constexpr char secret[] = "sixteen letters!";

Meeting meetingOf(int64_t rank, uint16_t port) {
  return {.rank = rank,
          .size = 2,
          .host = "127.0.0.1",
          .port = port,
          .job = "test",
          .secret = secret,
          .patience = 10s};
}

/// Waits for a socket to have something.
bool await(int file) {
  pollfd one{file, POLLIN, 0};
  return poll(&one, 1, 20) > 0;
}

/// Listens at one port, and gives everybody who says hello the same answer.
class Stranger {
public:
  Stranger(uint16_t port, const Message &answer)
      : listening(Endpoint::of(meetingOf(0, port)).at(0).listen(port, 9)),
        thread([this, answer](std::stop_token over) {
          while (!over.stop_requested())
            if (await(listening))
              meet(answer);
        }) {
    EXPECT_GE(listening, 0);
  }
  ~Stranger() {
    thread.request_stop();
    thread.join();
    close(listening);
  }
  int heard() const { return hellos; }

private:
  void meet(const Message &answer) {
    Channel channel(accept(listening, nullptr, nullptr));
    channel.put({.kind = Kind::challenge, .nonce = std::string(Message::mostNonce, 'n')});
    if (!channel.next(Clock::now() + 5s))
      return;
    channel.put(answer);
    ++hellos;
    channel.next(Clock::now() + 200ms); // until the other end has read it
  }

  int listening;
  std::atomic<int> hellos = 0;
  std::jthread thread;
};

/// Rank 0, which begins to listen at once, and to answer after a while.
class RankZero {
public:
  explicit RankZero(const Meeting &meeting, std::chrono::milliseconds toAnswer = 0ms)
      : door(meeting, linksPlugin()), thread([this, toAnswer](std::stop_token over) {
          std::this_thread::sleep_for(toAnswer);
          while (!over.stop_requested()) {
            std::vector<pollfd> files;
            door.await(files);
            poll(files.data(), files.size(), 20);
            admitted.merge(door.admit());
          }
        }) {}
  std::string place() const { return door.place(); }

private:
  Door door;
  std::map<int64_t, std::unique_ptr<Channel>> admitted;
  std::jthread thread;
};

/// Where a rank finds rank 0, or the words that it fails with.
std::string found(const Meeting &meeting) {
  try {
    return enter(meeting, linksPlugin()).place;
  } catch (const NotMet &failure) {
    return concat("not met: ", failure.what());
  } catch (const Failure &failure) {
    return concat(int(failure.exit), " ", failure.what());
  }
}

const Message refuses{.kind = Kind::refused, .status = uint32_t(Exit::usage), .text = "go away"};
const Message isOver{.kind = Kind::refused, .status = uint32_t(Exit::peer), .text = "go away"};
const Message welcomes{.kind = Kind::welcome};

} // namespace

TEST(Rendezvous, AStrangersAnswerEndsNoRank) {
  for (const Message &answer : {refuses, isOver, welcomes}) {
    uint16_t port = freePort();
    Stranger stranger(port + 1, answer);
    RankZero zero(meetingOf(0, port), 500ms); // the stranger's answer comes first
    EXPECT_EQ(found(meetingOf(1, port)), zero.place());
    EXPECT_GT(stranger.heard(), 0);
  }
}

/// Without a secret nobody can prove anything, and the other may be another run's rank 0.
TEST(Rendezvous, ARefusalWithoutASecretEndsNoRankThatIsWelcome) {
  uint16_t port = freePort();
  Meeting meeting = meetingOf(0, port), other = meetingOf(1, port);
  meeting.secret = other.secret = "";
  Stranger stranger(port + 1, refuses);
  RankZero zero(meeting, 500ms);
  EXPECT_EQ(found(other), zero.place());
  EXPECT_GT(stranger.heard(), 0);
}

TEST(Rendezvous, RankZeroMayBeginAfterAStranger) {
  for (const Message &answer : {refuses, welcomes}) {
    uint16_t port = freePort();
    Stranger stranger(port, answer);
    std::string place;
    std::jthread rank([&] { place = found(meetingOf(1, port)); });
    std::this_thread::sleep_for(1s);
    RankZero zero(meetingOf(0, port));
    rank.join();
    EXPECT_EQ(place, zero.place());
    EXPECT_EQ(place, concat("127.0.0.1:", port + 1));
  }
}

TEST(Rendezvous, RankZerosOwnRefusalIsPrompt) {
  uint16_t port = freePort();
  RankZero zero(meetingOf(0, port));
  Meeting other = meetingOf(1, port);
  other.size = 3;
  auto began = Clock::now();
  EXPECT_EQ(found(other), concat("2 rank 0 at ", zero.place(),
                                 " refuses rank 1: this is rank 1 of 3, and rank 0 is one of 2"));
  EXPECT_LT(Clock::now() - began, 3s);
}

/// Rank 0 has another secret, which nobody can tell from a stranger.
TEST(Rendezvous, AnUnprovedRefusalCountsAfterAWhile) {
  uint16_t port = freePort();
  RankZero zero(meetingOf(0, port));
  Meeting other = meetingOf(1, port);
  other.secret = "another one, as long";
  other.lateness = 300ms;
  std::string words = concat("who listens at ", zero.place(),
                             " refuses rank 1: the secret is another one than rank 0's "
                             "(WEIR_JOB_SECRET_FILE)");
  auto began = Clock::now();
  EXPECT_EQ(found(other), "2 " + words);
  auto took = Clock::now() - began;
  EXPECT_GT(took, 300ms);
  EXPECT_LT(took, 3s);
  // One that has met rank 0 before looks on for as long as it may.
  other.last = 1;
  other.patience = 1s;
  began = Clock::now();
  EXPECT_EQ(found(other), "2 " + words);
  EXPECT_GT(Clock::now() - began, 900ms);
}

TEST(Rendezvous, AWelcomeWithoutTheSecretIsNamed) {
  uint16_t port = freePort();
  Stranger stranger(port, welcomes);
  Meeting other = meetingOf(1, port);
  other.lateness = 300ms;
  EXPECT_EQ(found(other), concat("2 who listens at 127.0.0.1:", port,
                                 " does not know the job's secret, and is not rank 0"));
}

/// On one machine they look for each other at different kinds of places.
TEST(Rendezvous, RanksThatDifferInTrustAreToldSo) {
  for (bool trusts : {false, true}) {
    uint16_t port = freePort();
    Meeting meeting = meetingOf(0, port), other = meetingOf(1, port);
    meeting.trustsNetwork = !trusts;
    other.trustsNetwork = trusts;
    other.patience = 1s;
    RankZero zero(meeting);
    EXPECT_EQ(found(other),
              concat("not met: rank 1 has found no rank 0 of this job at 127.0.0.1:", port,
                     " or the 15 ports behind it for 1 s: was it started, with the same address "
                     "and by the same user, ",
                     trusts ? "with" : "without",
                     " --trust-network as this rank was, and does nothing keep connections out?"));
  }
}
