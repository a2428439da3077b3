//===- ProcessesTest.cpp - Ranks that are processes -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Here they are threads: a group knows of the others what comes over the network alone.
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/Processes.h"
#include "runtime/base/Hosts.h"
#include "runtime/base/Text.h"
#include "runtime/collectives/Agree.h"
#include "runtime/collectives/LocalRanks.h"
#include "runtime/collectives/Plugin.h"
#include "test/runtime/collectives/FreePort.h"
#include <arpa/inet.h>
#include <atomic>
#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace weir;
using namespace weir::collectives;
using namespace std::chrono_literals;

namespace {

Processes::Settings settings(int64_t rank, int64_t size, uint16_t port) {
  Processes::Settings settings;
  settings.meeting = {.rank = rank,
                      .size = size,
                      .host = "127.0.0.1",
                      .port = port,
                      .job = "test",
                      .patience = 20s};
  settings.silence = 2s;
  settings.timeout = 20s;
  return settings;
}

using Change = std::function<void(Processes::Settings &)>;
using Body = std::function<void(Processes &)>;

/// Runs `body` as each rank, and returns what each fails with, "" where it does not.
std::vector<std::string>
onAll(int64_t size, const Body &body, const Change &change = [](Processes::Settings &) {}) {
  uint16_t port = freePort();
  std::vector<std::string> failures(static_cast<size_t>(size));
  std::vector<std::jthread> threads;
  for (int64_t rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      try {
        Processes::Settings own = settings(rank, size, port);
        change(own);
        Processes group(own, linksPlugin());
        try {
          body(group);
          group.finish();
        } catch (const Failure &failure) {
          failures[size_t(rank)] = concat(int(failure.exit), " ", failure.what());
          group.fail(failure.exit, failure.what());
        }
      } catch (const Failure &failure) {
        failures[size_t(rank)] = concat(int(failure.exit), " ", failure.what());
      }
    });
  threads.clear();
  return failures;
}

const std::vector<std::string> none(4);

/// Ranks 0 and 1 give each other a number.
void swap(Group &group, const std::string &what) { fromAll(group, what, group.rank()); }

/// What a rank gives each member along the axis, and gets of each: numbers that say who and whom.
void exchangeNumbers(Transport &transport, const Mesh &mesh, int64_t rank, unsigned axis,
                     size_t count) {
  std::vector<int64_t> members = mesh.along(rank, axis), given(members.size() * count),
                       got(members.size() * count);
  std::vector<std::span<const std::byte>> to;
  std::vector<std::span<std::byte>> from;
  for (size_t i = 0; i < members.size(); ++i) {
    std::span part(given.data() + i * count, count);
    std::ranges::fill(part, 100 * rank + members[i]);
    to.push_back(std::as_bytes(part));
    from.push_back(std::as_writable_bytes(std::span(got.data() + i * count, count)));
  }
  transport.exchange(axis, "a sum", to, from);
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(got[i], 100 * members[i / count] + rank);
}

} // namespace

TEST(Processes, EachMemberGetsWhatIsForIt) {
  const Mesh four = std::get<Mesh>(Mesh::parse("dp=2,tp=2"));
  auto failures = onAll(4, [&](Processes &group) {
    EXPECT_EQ(group.neighbours(), 4);
    ProcessTransport transport(group, four);
    for (int64_t turn = 0; turn < 20; ++turn) {
      group.at(turn);
      exchangeNumbers(transport, four, group.rank(), turn % 2, size_t(1) << turn);
    }
  });
  EXPECT_EQ(failures, none);
}

/// Engines of a rank exchange along their axes at the same time, little and much.
TEST(Processes, AxesGoByThemselves) {
  const Mesh four = std::get<Mesh>(Mesh::parse("dp=2,tp=2"));
  auto failures = onAll(4, [&](Processes &group) {
    ProcessTransport transport(group, four);
    {
      std::vector<std::jthread> engines;
      for (unsigned axis : {0u, 1u})
        engines.emplace_back([&, axis] {
          for (size_t turn = 0; turn < 60; ++turn)
            exchangeNumbers(transport, four, group.rank(), axis, 1 + 40 * (turn % 7) * (1 + axis));
        });
    }
    exchangeNumbers(transport, four, group.rank(), 0, 3);
  });
  EXPECT_EQ(failures, none);
}

/// What waits along another axis ends with the failure of this one.
TEST(Processes, AFailureEndsAllAxes) {
  const Mesh four = std::get<Mesh>(Mesh::parse("dp=2,tp=2"));
  std::atomic<int> ended = 0;
  auto failures = onAll(4, [&](Processes &group) {
    ProcessTransport transport(group, four);
    std::jthread beside([&] {
      try {
        // Ranks 2 and 3 never come.
        if (group.rank() < 2)
          exchangeNumbers(transport, four, group.rank(), 0, 1);
      } catch (const GroupFailure &failure) {
        EXPECT_NE(std::string(failure.what()).find("the loss"), std::string::npos)
            << failure.what();
        ++ended;
      }
    });
    std::vector<int64_t> pair = {group.rank() & ~1, group.rank() | 1};
    std::vector<std::byte> bytes(4);
    std::vector<std::span<const std::byte>> to(2, bytes);
    std::vector<std::span<std::byte>> from(2, bytes);
    if (group.rank() < 2)
      group.exchange(Group::laneOf(1), pair, group.rank() ? "the norm" : "the loss", to, from);
  });
  EXPECT_EQ(ended, 2);
  EXPECT_NE(failures[0].find("the ranks do not do the same"), std::string::npos) << failures[0];
}

TEST(Processes, HaveSeveralRanksEach) {
  for (auto [all, text] : {std::pair("dp=4,tp=4", "dp=2,tp=2"),
                           {"dp=4,tp=4", "tp=2,dp=2"},
                           {"dp=4,tp=4", "dp=4"},
                           {"dp=4,tp=4", "tp=4"},
                           // One each, numbered in another order.
                           {"dp=2,tp=2", "tp=2,dp=2"}}) {
    const Mesh ranks = std::get<Mesh>(Mesh::parse(all)), hosts = std::get<Mesh>(Mesh::parse(text));
    auto failures = onAll(4, [&](Processes &group) {
      LocalRanks local(ranks, hosts, group);
      std::vector<std::jthread> threads;
      for (int64_t rank : hostedBy(hosts, ranks, group.rank()))
        threads.emplace_back([&, rank] {
          for (size_t turn = 0; turn < 12; ++turn)
            exchangeNumbers(local.of(rank), ranks, rank, turn % 2, 1 + 100 * turn);
        });
    });
    EXPECT_EQ(failures, none) << text;
  }
}

TEST(Processes, RanksOfOneAreAtTheSame) {
  const Mesh ranks = std::get<Mesh>(Mesh::parse("dp=2,tp=2")),
             hosts = std::get<Mesh>(Mesh::parse("dp=2"));
  auto failures = onAll(2, [&](Processes &group) {
    LocalRanks local(ranks, hosts, group);
    std::vector<std::string> said(4);
    std::vector<std::jthread> threads;
    for (int64_t rank : hostedBy(hosts, ranks, group.rank()))
      threads.emplace_back([&, rank] {
        try {
          std::vector<std::span<const std::byte>> to(2);
          std::vector<std::span<std::byte>> from(2);
          local.of(rank).exchange(0, rank % 2 ? "the norm" : "the loss", to, from);
        } catch (const Failure &failure) {
          said[size_t(rank)] = failure.what();
          local.end();
        }
      });
    threads.clear();
    std::string first = concat("rank ", 2 * group.rank(), " is in the loss, and rank ",
                               2 * group.rank() + 1, " in the norm");
    EXPECT_TRUE(std::ranges::count(said, first)) << said[0] << said[1] << said[2] << said[3];
  });
  EXPECT_EQ(failures, std::vector<std::string>(2));
}

TEST(Processes, Agree) {
  auto failures = onAll(4, [&](Processes &group) {
    EXPECT_EQ(mostOf(group, "most", group.rank() == 2 ? 15 : 0), 15);
    std::vector<std::byte> bytes;
    if (group.rank() == 0)
      bytes.assign(100000, std::byte{7});
    fromFirst(group, "first", bytes);
    EXPECT_EQ(bytes, std::vector<std::byte>(100000, std::byte{7}));
    std::vector<std::string> texts;
    for (size_t rank = 0; rank < 4; ++rank)
      texts.emplace_back(70000 * rank, char('a' + rank));
    EXPECT_EQ(textsFromAll(group, "texts", texts[size_t(group.rank())]), texts);
    requireSameGiven(group, "the beginning", {{"--every", "3", ""}, {"--init", "4", "a"}});
    requireSame(group, "the beginning", "number", 3);
  });
  EXPECT_EQ(failures, none);
  failures = onAll(4, [&](Processes &group) {
    requireSame(group, "the beginning", "artifact", group.rank() == 2 ? 4 : 3);
  });
  // Whoever finds out first ends the others.
  for (const std::string &failure : failures) {
    EXPECT_EQ(failure.substr(0, 2), "2 ") << failure;
    EXPECT_TRUE(
        failure.ends_with("rank 2 has another artifact than rank 0: all ranks are given the same"))
        << failure;
  }
}

/// It is not what they differ in that is waited for.
TEST(Processes, WhoComparesSaysWhereItWaits) {
  auto failures = onAll(2, [](Processes &group) {
    // Wherever rank 0 is when it hears of it.
    requireSame(group, "the beginning of the run", "--seed", 1);
    if (group.rank() == 1)
      throw Failure(Exit::data, "no data");
    requireSame(group, "the beginning of the run", "--option", 1);
  });
  EXPECT_EQ(failures[0].find("4 before the first step: rank 0 waits in the beginning of the run "
                             "for rank 1: rank 1 has ended with status 4: no data"),
            0u)
      << failures[0];
}

TEST(Processes, WhatFailsOnOneFailsOnAll) {
  auto failures = onAll(3, [](Processes &group) {
    allOrNone(&group, "a save", [] {});
    bool fell = false;
    try {
      allOrNone(&group, "a load", [&] {
        if (group.rank() > 0)
          throw Unreadable(Exit::device, concat("no file is left for ", group.rank()));
      });
    } catch (const Unreadable &failure) {
      EXPECT_EQ(failure.exit, Exit::device);
      EXPECT_EQ(failure.what(),
                concat(group.rank() == 1 ? "" : "rank 1 says: ", "no file is left for 1"));
      fell = true;
    }
    EXPECT_TRUE(fell);
    fromAll(group, "what comes next", 0); // all are at the same place
  });
  EXPECT_EQ(failures, std::vector<std::string>(3));
  bool alone = false;
  allOrNone(nullptr, "a save", [&] { alone = true; });
  EXPECT_TRUE(alone);
}

TEST(Processes, WhoIsAtSomethingElseIsRefused) {
  auto failures = onAll(2, [](Processes &group) {
    swap(group, "the loss (m.weir:3)");
    group.at(7);
    swap(group, group.rank() ? "the norm (m.weir:9)" : "the loss (m.weir:3)");
  });
  for (const std::string &failure : failures) {
    EXPECT_NE(failure.find("in the loss (m.weir:3) of 8 bytes, step 7"), std::string::npos)
        << failure;
    EXPECT_NE(failure.find("in the norm (m.weir:9) of 8 bytes, step 7"), std::string::npos)
        << failure;
  }
  for (const std::string &failure : failures)
    EXPECT_EQ(failure.substr(0, 2), "7 ") << failure;
  failures = onAll(2, [](Processes &group) {
    group.at(group.rank());
    swap(group, "the loss");
  });
  for (const std::string &failure : failures)
    EXPECT_EQ(failure.substr(0, 2), "7 ") << failure;
}

TEST(Processes, WhoEndsWithoutAWordEndsAll) {
  uint16_t port = freePort();
  std::vector<std::string> failures(3);
  std::vector<std::jthread> threads;
  for (int64_t rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      // The end of rank 1 may be heard before all are connected.
      try {
        Processes group(settings(rank, 3, port), linksPlugin());
        if (rank != 1)
          swap(group, "the loss (m.weir:3)");
      } catch (const Failure &failure) {
        EXPECT_EQ(failure.exit, Exit::peer);
        failures[size_t(rank)] = failure.what();
      }
    });
  threads.clear();
  for (int rank : {0, 2})
    EXPECT_NE(failures[rank].find("rank 1 has ended without a word"), std::string::npos)
        << failures[rank];
}

TEST(Processes, WhoFailsEndsAllWithItsStatus) {
  auto failures = onAll(3, [](Processes &group) {
    swap(group, "the loss");
    if (group.rank() == 1)
      throw Failure(Exit::storage, "the disk is full");
    swap(group, "the loss (m.weir:3)");
  });
  EXPECT_EQ(failures[1], "8 the disk is full");
  for (int rank : {0, 2}) {
    EXPECT_EQ(failures[rank].substr(0, 2), "8 ") << failures[rank];
    EXPECT_NE(failures[rank].find("rank 1 has ended with status 8: the disk is full"),
              std::string::npos)
        << failures[rank];
  }
}

TEST(Processes, WhoIsLateEndsAll) {
  std::atomic<bool> isOver = false;
  auto failures = onAll(
      2,
      [&](Processes &group) {
        group.at(5);
        if (group.rank() == 1)
          while (!isOver)
            std::this_thread::sleep_for(10ms);
        try {
          swap(group, "the loss (m.weir:3)");
        } catch (...) {
          isOver = true;
          throw;
        }
      },
      [](Processes::Settings &own) { own.timeout = 1s; });
  EXPECT_EQ(failures[0],
            "7 step 5: rank 0 waits in the loss (m.weir:3) for rank 1: rank 1 is alive, "
            "and has not come within 1 s (--collective-timeout)");
  EXPECT_EQ(failures[1].substr(0, 2), "7 ");
}

TEST(Processes, WhoWaitsElsewhereIsToldToo) {
  std::atomic<int> connected = 0; // who still connects hears of it there
  auto failures = onAll(2, [&](Processes &group) {
    auto since = std::chrono::steady_clock::now();
    EXPECT_EQ(group.numberOnMachine(), group.rank());
    group.at(5);
    ++connected;
    if (group.rank() == 1) {
      while (connected < 2)
        std::this_thread::sleep_for(1ms);
      throw Failure(Exit::storage, "the disk is full");
    }
    for (int64_t i = 0; i < 1000; ++i) {
      group.check("the loss (m.weir:3)", since);
      std::this_thread::sleep_for(10ms);
    }
  });
  EXPECT_EQ(failures[0], "8 step 5: rank 0 waits in the loss (m.weir:3): rank 1 has ended with "
                         "status 8: the disk is full");
}

TEST(Processes, ASecretIsShared) {
  auto secret = [](Processes::Settings &own) { own.meeting.secret = "sixteen letters!"; };
  auto failures = onAll(3, [](Processes &group) { swap(group, "the loss"); }, secret);
  EXPECT_EQ(failures, std::vector<std::string>(3));
  failures = onAll(
      2, [](Processes &group) { swap(group, "the loss"); },
      [](Processes::Settings &own) {
        own.meeting.secret = own.meeting.rank ? "another one, as long" : "sixteen letters!";
        own.meeting.patience = 3s;
      });
  EXPECT_NE(failures[1].find("or was given another secret"), std::string::npos) << failures[1];
  EXPECT_NE(failures[0].find("rank 1 has not come"), std::string::npos) << failures[0];
}

/// A rank runs what rank 0 sends it.
TEST(Processes, WhatIsNotRankZerosIsRefused) {
  auto failures = onAll(3, [](Processes &group) {
    std::vector<std::byte> artifact(100000, std::byte{7});
    group.requireFirsts("comparing the artifact", artifact);
    swap(group, "the loss");
    if (group.rank() == 2)
      artifact.back() = std::byte{8};
    group.requireFirsts("comparing the artifact", artifact);
    swap(group, "the loss");
  });
  EXPECT_EQ(failures[2], "7 comparing the artifact: rank 2 has not got what rank 0 sent: another "
                         "program may have taken the place of a rank's connection");
  for (int rank : {0, 1})
    EXPECT_NE(failures[rank].find("rank 2 has ended with status 7: comparing the artifact"),
              std::string::npos)
        << failures[rank];
}

TEST(Processes, OtherAddressesWantASecret) {
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
    EXPECT_NE(std::string(failure.what()).find("is not one of this machine's"), std::string::npos)
        << failure.what();
  }
}

TEST(Processes, OtherMachinesDoNotReachALoopbackAddress) {
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
                .find(concat("rank 0 is at ", host, ", which is ", host,
                             " here: no other machine reaches it, and the launcher has started "
                             "2 of the 4 processes on this one. Set MASTER_ADDR")),
            0u)
            << failure.what();
      }
    }
  auto failures = onAll(
      2, [](Processes &group) { swap(group, "the loss"); },
      [](Processes::Settings &own) { own.meeting.beside = 2; });
  EXPECT_EQ(failures, std::vector<std::string>(2));
}

TEST(Processes, JobsBesideEachOther) {
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

namespace {

/// What meeting fails with, "" where it does not; NotMet where trying again is of no use.
std::string meets(Processes::Settings own, const Body &body = [](Processes &) {}) {
  try {
    Processes group(own, linksPlugin());
    body(group);
    return "";
  } catch (const NotMet &failure) {
    return concat("not met: ", failure.what());
  } catch (const Failure &failure) {
    return failure.what();
  }
}

} // namespace

TEST(Processes, AGenerationIsOnePastTheNewest) {
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

TEST(Processes, WhoComesAgain) {
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
                                    " refuses rank 1: generation 2 is over, and generation 3 has "
                                    "another rank 1"));
  EXPECT_EQ(meets(at(1, 0)), concat("not met: rank 1 is not taken by rank 0, which says at "
                                    "127.0.0.1:",
                                    port, ": there is a rank 1 that is alive"));
  EXPECT_FALSE(isOver);
  // One that was of it ends it.
  EXPECT_NE(meets(at(1, 3)).find("not met: rank 1 "), std::string::npos);
  members.clear();
  EXPECT_NE(first.find("rank 1 has left, and comes again"), std::string::npos) << first;
}

TEST(Processes, WhoIsNotMet) {
  Processes::Settings own = settings(0, 2, freePort());
  own.meeting.patience = 1s;
  EXPECT_EQ(meets(own).find("not met: rank 0 waits in the beginning: rank 1 has not come"), 0u);
  own.meeting.rank = 1;
  EXPECT_EQ(meets(own).find("not met: rank 1 has found no rank 0 of this job"), 0u);
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
INSTANTIATE_TEST_SUITE_P(Processes, AtTheDoor, ::testing::Range(0, 3));

TEST_P(AtTheDoor, RudeOnesKeepNobodyOut) {
  uint16_t port = freePort();
  std::string handshake;
  linksPlugin()
      .secure(SecureStream::End::client, "another one, as long", "weir 4 test")
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
TEST(Processes, AnotherUsersProcessIsNotRankZero) {
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
  EXPECT_EQ(meets(own), concat("not met: rank 1 is not taken by rank 0: who listens at 127.0.0.1:",
                               port, " is a process of another user (uid 65534), and not rank 0"));
  // The real one goes to the next port, and is found there.
  std::jthread first([&] { EXPECT_TRUE(takesPart(0, port)); });
  EXPECT_TRUE(takesPart(1, port));
}

/// Another user knows the job, and comes as a rank of it.
TEST(Processes, AnotherUsersProcessIsNoRank) {
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
                   .status = 4,
                   .text = "test",
                   .parts = {"0"}});
      heard += channel.next(Channel::Clock::now() + 100ms).has_value();
    }
    return connected == 0 ? 3 : heard;
  });
  std::jthread first([&] { EXPECT_TRUE(takesPart(0, port)); });
  EXPECT_EQ(stranger.status(), 0); // it was told nothing at all
  EXPECT_TRUE(takesPart(1, port));
}
