//===- RendezvousTest.cpp - How the processes of a run find each other ----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/Rendezvous.h"
#include "runtime/collectives/Plugin.h"
#include "support/Text.h"
#include "test/runtime/collectives/FreePort.h"
#include "test/runtime/collectives/Meetings.h"
#include <mutex>
#include <thread>

using namespace weir;
using namespace weir::collectives;
using namespace std::chrono_literals;

namespace {

using Kind = Message::Kind;
using Clock = Channel::Clock;

/// Waits for a socket to have something.
bool await(int file) {
  pollfd one{file, POLLIN, 0};
  return poll(&one, 1, 20) > 0;
}

/// Listens at one port, and gives everybody who says something the same answer, in the clear.
class Stranger {
public:
  Stranger(uint16_t port, const std::string &answer)
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
  void meet(const std::string &answer) {
    int file = accept(listening, nullptr, nullptr);
    char some[1000];
    if (recv(file, some, sizeof some, 0) > 0) {
      send(file, answer.data(), answer.size(), MSG_NOSIGNAL);
      ++hellos;
      await(file); // until the other end has read it
    }
    close(file);
  }

  int listening;
  std::atomic<int> hellos = 0;
  std::jthread thread;
};

/// Rank 0, which begins to listen at once, and to answer after a while.
class RankZero {
public:
  explicit RankZero(const Meeting &meeting, std::chrono::milliseconds toAnswer = 0ms)
      : server(meeting, linksPlugin()), thread([this, toAnswer](std::stop_token over) {
          std::this_thread::sleep_for(toAnswer);
          while (!over.stop_requested()) {
            std::vector<pollfd> files;
            server.await(files);
            poll(files.data(), files.size(), 20);
            admitted.merge(server.admit());
          }
        }) {}
  std::string place() const { return server.place(); }

private:
  RendezvousServer server;
  std::map<int64_t, std::unique_ptr<Channel>> admitted;
  std::jthread thread;
};

/// What the user is told.
class Warnings {
public:
  Meeting of(Meeting meeting) {
    meeting.warn = [this](const std::string &text) {
      std::lock_guard lock(mutex);
      lines += text + "\n";
    };
    return meeting;
  }
  std::string all() {
    std::lock_guard lock(mutex);
    return lines;
  }

private:
  std::mutex mutex;
  std::string lines;
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

const std::string
    refuses = encode({.kind = Kind::refused, .status = uint32_t(Exit::usage), .text = "go away"}),
    isOver = encode({.kind = Kind::refused, .status = uint32_t(Exit::peer), .text = "go away"}),
    welcomes = encode({.kind = Kind::welcome}),
    /// TLS's alert of who has the name and another secret, in the clear.
    alerts("\x15\3\3\0\2\2\x2f", 7);

} // namespace

TEST(Rendezvous, AStrangersAnswerEndsNoRank) {
  for (const std::string &answer : {refuses, isOver, welcomes, alerts}) {
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

/// However long a stranger has refused this rank before.
TEST(Rendezvous, RankZeroMayBeginAfterAStranger) {
  for (const std::string &answer : {refuses, welcomes, alerts}) {
    uint16_t port = freePort();
    Stranger stranger(port, answer);
    std::string place;
    std::jthread rank([&] {
      Meeting other = meetingOf(1, port);
      other.lateness = 100ms;
      place = found(other);
    });
    std::this_thread::sleep_for(1s);
    Warnings warnings;
    RankZero zero(warnings.of(meetingOf(0, port)));
    rank.join();
    EXPECT_EQ(place, zero.place());
    EXPECT_EQ(place, concat("127.0.0.1:", port + 1));
    EXPECT_EQ(warnings.all(), concat("another program uses the port of rank 0, 127.0.0.1:", port,
                                     ": rank 0 listens at ", place,
                                     " instead; the other ranks identify it by the secret\n"));
  }
}

TEST(Rendezvous, APortThatIsFreeIsNoWarning) {
  Warnings warnings;
  RankZero zero(warnings.of(meetingOf(0, freePort())));
  EXPECT_EQ(warnings.all(), "");
}

TEST(Rendezvous, RankZerosOwnRefusalIsPrompt) {
  uint16_t port = freePort();
  RankZero zero(meetingOf(0, port));
  Meeting other = meetingOf(1, port);
  other.size = 3;
  auto began = Clock::now();
  EXPECT_EQ(found(other),
            concat("2 rank 0 at ", zero.place(),
                   " refuses rank 1: this process is rank 1 of 3, but rank 0 is one of 2"));
  EXPECT_LT(Clock::now() - began, 3s);
}

/// Nobody can tell rank 0 with another secret from a stranger: it is told of, and not believed.
TEST(Rendezvous, AnotherSecretIsNamedAndWaitedFor) {
  uint16_t port = freePort();
  Warnings ofZero, ofRank;
  std::optional<RankZero> zero(ofZero.of(meetingOf(0, port)));
  Meeting other = ofRank.of(meetingOf(1, port));
  other.secret = "another one, as long";
  other.lateness = 300ms;
  other.patience = 2s;
  std::string words = concat("the process that listens at ", zero->place(),
                             " does not have the secret of rank 1 (WEIR_JOB_SECRET_FILE): it is "
                             "not rank 0, or it was given another secret");
  auto began = Clock::now();
  {
    std::jthread rank([&] { EXPECT_EQ(found(other), "2 " + words); });
    while (ofRank.all().empty() && Clock::now() < began + 10s)
      std::this_thread::sleep_for(10ms);
    zero.reset(); // it has looked for long enough
  }
  EXPECT_GT(Clock::now() - began, 1900ms);
  EXPECT_EQ(ofRank.all(), words + "; rank 1 keeps looking for rank 0\n");
  EXPECT_EQ(ofZero.all(), "rank 0 rejected a process at 127.0.0.1, which tried to join this job "
                          "with a secret other than rank 0's (WEIR_JOB_SECRET_FILE)\n");
}

TEST(Rendezvous, ARankSaysThatItWaits) {
  uint16_t port = freePort();
  Warnings warnings;
  Meeting other = warnings.of(meetingOf(1, port));
  other.notice = 300ms;
  other.patience = 2s;
  EXPECT_TRUE(found(other).starts_with("not met: rank 1 found no rank 0 of this job"));
  EXPECT_EQ(warnings.all(),
            concat("rank 1 is waiting for rank 0, which has not answered at 127.0.0.1:", port,
                   " for 0 s; rank 1 gives up after 2 s (--collective-timeout)\n"));
}

TEST(Rendezvous, WhoProvesNothingIsNamed) {
  for (const std::string &answer : {refuses, welcomes}) {
    uint16_t port = freePort();
    Stranger stranger(port, answer);
    Meeting other = meetingOf(1, port);
    other.patience = 1s;
    EXPECT_TRUE(found(other).ends_with(concat("; the process that listens at 127.0.0.1:", port,
                                              " did not prove that it knows the secret: it is "
                                              "another program, or a rank 0 without a secret")))
        << found(other);
  }
}

TEST(Rendezvous, OneSideHasNoSecret) {
  uint16_t port = freePort();
  Meeting with = meetingOf(0, port), without = meetingOf(1, port);
  without.secret = "";
  {
    RankZero zero(with);
    EXPECT_EQ(
        found(without),
        concat(
            "2 rank 0 at ", zero.place(),
            " refuses rank 1: rank 0 has a secret, but this rank has none (WEIR_JOB_SECRET_FILE)"));
  }
  std::swap(with.rank, without.rank);
  with.patience = 1s;
  RankZero zero(without);
  std::string said = found(with);
  EXPECT_TRUE(said.starts_with("not met: rank 1 found no rank 0 of this job")) << said;
  EXPECT_TRUE(said.ends_with(concat("; the process that listens at ", zero.place(),
                                    " did not prove that it knows the secret: it is another "
                                    "program, or a rank 0 without a secret")))
      << said;
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
              concat("not met: rank 1 found no rank 0 of this job at 127.0.0.1:", port,
                     " or the 15 ports after it within 1 s: check that rank 0 was started with the "
                     "same address and by the same user, ",
                     trusts ? "with" : "without",
                     " --trust-network as this rank was, and that no firewall blocks connections"));
  }
}
