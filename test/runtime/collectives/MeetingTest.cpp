//===- MeetingTest.cpp - Which processes meet -----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "test/runtime/collectives/ProcessGroups.h"
#include <atomic>
#include <csignal>
#include <gtest/gtest.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace weir;
using namespace weir::collectives;
using namespace std::chrono_literals;

TEST(Meeting, ASecretIsShared) {
  auto secret = [](Processes::Settings &own) { own.meeting.secret = "sixteen letters!"; };
  auto failures = onAll(3, [](Processes &group) { swap(group, "the loss"); }, secret);
  EXPECT_EQ(failures, std::vector<std::string>(3));
  failures = onAll(
      2, [](Processes &group) { swap(group, "the loss"); },
      [](Processes::Settings &own) {
        own.meeting.secret = own.meeting.rank ? "another one, as long" : "sixteen letters!";
        own.meeting.patience = 3s;
      });
  EXPECT_NE(failures[1].find("or it was given another secret"), std::string::npos) << failures[1];
  EXPECT_NE(failures[0].find("rank 1 has not joined"), std::string::npos) << failures[0];
}

TEST(Meeting, RankZeroSaysWhomItWaitsFor) {
  std::string said;
  auto alone = [&](Processes::Settings &own) {
    own.meeting.size = 3; // rank 2 does not come
    own.meeting.patience = 3s;
    own.meeting.notice = 500ms;
    if (own.meeting.rank == 0)
      own.meeting.warn = [&](const std::string &text) { said += text + "\n"; };
  };
  auto failures = onAll(2, [](Processes &group) { swap(group, "the loss"); }, alone);
  EXPECT_NE(failures[0].find("rank 2 has not joined"), std::string::npos) << failures[0];
  EXPECT_NE(said.find("rank 2 has not joined at "), std::string::npos) << said;
  EXPECT_NE(said.find("; rank 0 is waiting for it, and gives up after 3 s (--collective-timeout): "
                      "check that it was started with the same command\n"),
            std::string::npos)
      << said;
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
}

TEST(Meeting, OtherAddressesWantASecret) {
  Processes::Settings own = settings(0, 2, freePort());
  own.meeting.host = "192.0.2.1";
  try {
    Processes group(own, linksPlugin());
    FAIL();
  } catch (const Failure &failure) {
    EXPECT_EQ(failure.exit, Exit::usage);
    EXPECT_NE(std::string(failure.what()).find("WEIR_JOB_SECRET_FILE"), std::string::npos);
  }
  own.meeting.trustsNetwork = true;
  try {
    Processes group(own, linksPlugin());
    FAIL();
  } catch (const Failure &failure) {
    EXPECT_NE(std::string(failure.what()).find("is not an address of this machine"),
              std::string::npos)
        << failure.what();
  }
}

TEST(Meeting, OtherMachinesDoNotReachALoopbackAddress) {
  for (int64_t rank : {0, 1})
    for (const char *host : {"127.0.1.1", "::1"}) {
      Processes::Settings own = settings(rank, 4, freePort());
      own.meeting.host = host;
      own.meeting.beside = 2;
      try {
        Processes group(own, linksPlugin());
        FAIL();
      } catch (const Failure &failure) {
        EXPECT_EQ(failure.exit, Exit::usage);
        EXPECT_EQ(
            std::string(failure.what())
                .find(concat("the address of rank 0, ", host, ", resolves to ", host,
                             " on this machine, which no other machine can reach, but the launcher "
                             "started only 2 of the 4 processes on this machine. Set MASTER_ADDR")),
            0u)
            << failure.what();
      }
    }
  auto failures = onAll(
      2, [](Processes &group) { swap(group, "the loss"); },
      [](Processes::Settings &own) { own.meeting.beside = 2; });
  EXPECT_EQ(failures, std::vector<std::string>(2));
}

TEST(Meeting, JobsBesideEachOther) {
  // Both look for their rank 0 at the same ports.
  uint16_t port = freePort();
  std::vector<std::jthread> jobs;
  std::atomic<int> done = 0;
  for (const char *job : {"one", "another"})
    for (int64_t rank : {1, 0})
      jobs.emplace_back([&, job, rank] {
        Processes::Settings own = settings(rank, 2, port);
        own.meeting.job = job;
        Processes group(own, linksPlugin());
        std::vector<std::byte> bytes(1, std::byte(rank ? 0 : job[0]));
        fromFirst(group, "the job", bytes);
        EXPECT_EQ(bytes[0], std::byte(job[0]));
        group.finish();
        ++done;
      });
  jobs.clear();
  EXPECT_EQ(done, 4);
}
TEST(Meeting, AGenerationIsOnePastTheNewest) {
  auto failures = onAll(
      3, [](Processes &group) { EXPECT_EQ(group.generation(), 5); },
      [](Processes::Settings &own) { own.meeting.last = 2 * own.meeting.rank; });
  EXPECT_EQ(failures, std::vector<std::string>(3));
  failures = onAll(2, [](Processes &group) {
    EXPECT_EQ(group.generation(), 1);
    EXPECT_NE(group.host(1), "");
  });
  EXPECT_EQ(failures, std::vector<std::string>(2));
}

TEST(Meeting, WhoComesAgain) {
  uint16_t port = freePort();
  std::atomic<bool> isOver = false;
  std::string first, second;
  auto at = [&](int64_t rank, int64_t last) {
    Processes::Settings own = settings(rank, 2, port);
    own.meeting.last = last;
    own.meeting.patience = rank ? 2s : 20s;
    return own;
  };
  auto wait = [&](std::string &said) {
    return [&](Processes &group) {
      try {
        if (group.rank() == 0)
          swap(group, "the loss"); // nobody comes
        while (!isOver)
          std::this_thread::sleep_for(10ms);
        swap(group, "the loss");
      } catch (const Failure &failure) {
        said = failure.what();
        isOver = true;
        throw;
      }
    };
  };
  std::vector<std::jthread> members;
  members.emplace_back([&] { meets(at(0, 2), wait(first)); });
  members.emplace_back([&] { meets(at(1, 0), wait(second)); });
  std::this_thread::sleep_for(500ms);
  // Generation 3 is under way. One that was replaced is refused, a new one waits for its place.
  EXPECT_EQ(meets(at(1, 2)), concat("not met: rank 0 at 127.0.0.1:", port,
                                    " refuses rank 1: generation 2 has ended, and generation 3 has "
                                    "another process as rank 1"));
  EXPECT_EQ(meets(at(1, 0)), concat("not met: rank 1 cannot join rank 0: rank 0 at 127.0.0.1:",
                                    port, " replies: rank 1 of this run is still alive"));
  EXPECT_FALSE(isOver);
  // One that was of it ends it.
  EXPECT_NE(meets(at(1, 3)).find("not met: rank 1 "), std::string::npos);
  members.clear();
  EXPECT_NE(first.find("rank 1 left the run and joined again"), std::string::npos) << first;
}

TEST(Meeting, WhoIsNotMet) {
  Processes::Settings own = settings(0, 2, freePort());
  own.meeting.patience = 1s;
  EXPECT_EQ(meets(own).find("not met: rank 0 was waiting in the rendezvous: rank 1 has not joined"),
            0u);
  own.meeting.rank = 1;
  EXPECT_EQ(meets(own).find("not met: rank 1 found no rank 0 of this job"), 0u);
}

namespace {

/// Where rank 0 is, for a socket of its own user's or over the network.
Endpoint doorAt(uint16_t port, bool trustsNetwork) {
  Processes::Settings own = settings(1, 2, port);
  own.meeting.trustsNetwork = trustsNetwork;
  return Endpoint::of(own.meeting).at(0);
}

/// A process of a user that owns nothing. It runs `body`, whose result is its status.
class Stranger {
public:
  static constexpr uid_t user = 65534;
  explicit Stranger(const std::function<int()> &body) : child(fork()) {
    if (child == 0)
      _exit(setgid(user) == 0 && setuid(user) == 0 ? body() : 99);
  }
  int status() {
    int status = -1;
    waitpid(child, &status, 0);
    child = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  ~Stranger() {
    if (child < 0)
      return;
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }

private:
  pid_t child;
};

/// A socket in rank 0's place, named as that of `victim`'s run; and one that is connected to it.
int openAs(uid_t victim, uint16_t port, bool listens) {
  int file = socket(AF_UNIX, SOCK_STREAM, 0);
  std::string name = concat("weir ", victim, " 127.0.0.1:", port);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
  auto size = socklen_t(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  auto *raw = reinterpret_cast<sockaddr *>(&address);
  if (listens ? bind(file, raw, size) == 0 && listen(file, 9) == 0 : connect(file, raw, size) == 0)
    return file;
  close(file);
  return -1;
}

bool takesPart(int64_t rank, uint16_t port, const Change &change = [](Processes::Settings &) {}) {
  Processes::Settings own = settings(rank, 2, port);
  change(own);
  Processes group(own, linksPlugin());
  swap(group, "the loss");
  group.finish();
  return true;
}

} // namespace

/// Ranks meet over a socket of their user's, or over the network, where there is a secret or not.
class AtTheDoor : public ::testing::TestWithParam<int> {
protected:
  static bool isNetwork() { return GetParam() > 0; }
  static void meet(Processes::Settings &own) {
    own.meeting.trustsNetwork = isNetwork();
    own.meeting.secret = GetParam() > 1 ? "sixteen letters!" : "";
  }
};
INSTANTIATE_TEST_SUITE_P(Meeting, AtTheDoor, ::testing::Range(0, 3));

TEST_P(AtTheDoor, RudeOnesKeepNobodyOut) {
  uint16_t port = freePort();
  std::string handshake;
  linksPlugin()
      .secure(SecureStream::End::client, "another one, as long", secretName("test"))
      ->drain(handshake);
  const std::vector<std::string> rude = {"GET / HTTP/1.1\r\n\r\n",
                                         std::string(5000, '\xff'),
                                         encode({.kind = Message::Kind::parts, .rank = 1}),
                                         handshake,
                                         handshake.substr(0, 100),
                                         "\x16\3\1" + std::string(5000, '\x3f'),
                                         handshake + std::string(5000, '\x17')};
  std::jthread impolite([&](std::stop_token over) {
    std::vector<int> open;
    for (int turn = 0; !over.stop_requested() && turn < 200; ++turn) {
      int file = doorAt(port, isNetwork()).connect(port);
      std::string words = rude[size_t(turn) % rude.size()];
      std::this_thread::sleep_for(2ms);
      if (file < 0)
        continue;
      send(file, words.data(), words.size(), MSG_NOSIGNAL);
      open.push_back(file);
    }
    EXPECT_GT(open.size(), 20u);
    for (int file : open)
      close(file);
  });
  std::jthread first([&] { EXPECT_TRUE(takesPart(0, port, meet)); });
  std::this_thread::sleep_for(200ms);
  EXPECT_TRUE(takesPart(1, port, meet));
}

/// Who listens and says nothing costs no time: another door answers meanwhile.
TEST_P(AtTheDoor, SilentOnesCostNoTime) {
  uint16_t port = freePort();
  std::vector<int> silent;
  for (uint16_t at = port; at < port + 4; ++at)
    silent.push_back(doorAt(port, isNetwork()).listen(at, 9));
  std::erase(silent, -1); // another program's
  ASSERT_FALSE(silent.empty());
  std::jthread first([&] { EXPECT_TRUE(takesPart(0, port, meet)); });
  std::this_thread::sleep_for(200ms);
  auto began = std::chrono::steady_clock::now();
  EXPECT_TRUE(takesPart(1, port, meet));
  EXPECT_LT(std::chrono::steady_clock::now() - began, 4s); // one of them alone would take 5 s
  for (int file : silent)
    close(file);
}

/// Another user is first at rank 0's place, and says all that rank 0 would say.
TEST(Meeting, AnotherUsersProcessIsNotRankZero) {
  if (geteuid() != 0)
    GTEST_SKIP() << "a process of another user is started by root alone";
  uint16_t port = freePort();
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  Stranger stranger([&] {
    int door = openAs(0, port, true);
    [[maybe_unused]] ssize_t wrote = write(ready[1], "x", 1);
    while (door >= 0) {
      Channel channel(accept(door, nullptr, nullptr));
      if (auto hello = channel.next(Channel::Clock::now() + 1s))
        return 1; // it was told the job
    }
    return 2;
  });
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  Processes::Settings own = settings(1, 2, port);
  own.meeting.patience = 1s;
  EXPECT_EQ(meets(own),
            concat("not met: rank 1 cannot join rank 0: the process that listens at 127.0.0.1:",
                   port, " belongs to another user (uid 65534), so it is not rank 0"));
  // The real one goes to the next port, and is found there.
  std::jthread first([&] { EXPECT_TRUE(takesPart(0, port)); });
  EXPECT_TRUE(takesPart(1, port));
}

/// Another user knows the job, and comes as a rank of it.
TEST(Meeting, AnotherUsersProcessIsNoRank) {
  if (geteuid() != 0)
    GTEST_SKIP() << "a process of another user is started by root alone";
  uint16_t port = freePort();
  Stranger stranger([&] {
    int heard = 0, connected = 0;
    for (int turn = 0; turn < 100; ++turn, usleep(10000)) {
      int file = openAs(0, port, false);
      if (file < 0)
        continue;
      ++connected;
      Channel channel(file);
      channel.put({.kind = Message::Kind::hello,
                   .rank = 1,
                   .size = 2,
                   .status = rendezvousProtocol,
                   .text = "test",
                   .parts = {"0", std::to_string(port)}});
      heard += channel.next(Channel::Clock::now() + 100ms).has_value();
    }
    return connected == 0 ? 3 : heard;
  });
  std::jthread first([&] { EXPECT_TRUE(takesPart(0, port)); });
  EXPECT_EQ(stranger.status(), 0); // it was told nothing at all
  EXPECT_TRUE(takesPart(1, port));
}
