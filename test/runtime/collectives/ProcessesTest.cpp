//===- ProcessesTest.cpp - Ranks that are processes -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/LocalRanks.h"
#include "support/mesh/RankPlacement.h"
#include "test/runtime/collectives/LinkedRanks.h"
#include "test/runtime/collectives/ProcessGroups.h"
#include <atomic>
#include <gtest/gtest.h>

using namespace weir;
using namespace weir::collectives;
using namespace std::chrono_literals;

namespace {

/// Ranks give each other tensors over Gloo, TLS, or Unix sockets.
class ProcessesOver : public ::testing::TestWithParam<const char *> {
protected:
  static void connectBy(const char *secret, Processes::Settings &own) {
    own.meeting.secret = secret ? secret : "";
    own.meeting.trustsNetwork = secret && !*secret;
  }
  static std::vector<std::string>
  onAll(int64_t size, const Body &body, const Change &change = [](Processes::Settings &) {}) {
    return collectives::onAll(size, body, [&](Processes::Settings &own) {
      connectBy(GetParam(), own);
      change(own);
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Links, ProcessesOver, ::testing::Values("", linksSecret, nullptr),
                         nameOfLinks);

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

TEST_P(ProcessesOver, EachMemberGetsWhatIsForIt) {
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
TEST_P(ProcessesOver, AxesGoByThemselves) {
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
TEST_P(ProcessesOver, AFailureEndsAllAxes) {
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
  EXPECT_NE(failures[0].find("the ranks run different operations"), std::string::npos)
      << failures[0];
}

TEST_P(ProcessesOver, HaveSeveralRanksEach) {
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

TEST_P(ProcessesOver, RanksOfOneAreAtTheSame) {
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
    std::string first = concat("rank ", 2 * group.rank(), " is in the loss, but rank ",
                               2 * group.rank() + 1, " is in the norm");
    EXPECT_TRUE(std::ranges::count(said, first)) << said[0] << said[1] << said[2] << said[3];
  });
  EXPECT_EQ(failures, std::vector<std::string>(2));
}

TEST_P(ProcessesOver, Agree) {
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
    requireSameGiven(group, "the beginning",
                     {{"--checkpoint-every", "3", ""}, {"--init", "4", "a"}});
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
        failure.ends_with("rank 2's artifact differs from rank 0's: give all ranks the same"))
        << failure;
  }
}

/// It is not what they differ in that is waited for.
TEST_P(ProcessesOver, WhoComparesSaysWhereItWaits) {
  auto failures = onAll(2, [](Processes &group) {
    // Wherever rank 0 is when it hears of it.
    requireSame(group, "the beginning of the run", "--seed", 1);
    if (group.rank() == 1)
      throw Failure(Exit::data, "no data");
    requireSame(group, "the beginning of the run", "--option", 1);
  });
  EXPECT_EQ(failures[0].find("4 before the first step: rank 0 was waiting in the beginning of the "
                             "run for rank 1: rank 1 exited with status 4: no data"),
            0u)
      << failures[0];
}

TEST_P(ProcessesOver, WhatFailsOnOneFailsOnAll) {
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
                concat(group.rank() == 1 ? "" : "rank 1 reports: ", "no file is left for 1"));
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

TEST_P(ProcessesOver, WhoIsAtSomethingElseIsRefused) {
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

TEST_P(ProcessesOver, WhoEndsWithoutAWordEndsAll) {
  uint16_t port = freePort();
  std::vector<std::string> failures(3);
  std::vector<std::jthread> threads;
  for (int64_t rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      // The end of rank 1 may be heard before all are connected.
      try {
        Processes::Settings own = settings(rank, 3, port);
        connectBy(GetParam(), own);
        Processes group(own, linksPlugin());
        if (rank != 1)
          swap(group, "the loss (m.weir:3)");
      } catch (const Failure &failure) {
        EXPECT_EQ(failure.exit, Exit::peer);
        failures[size_t(rank)] = failure.what();
      }
    });
  threads.clear();
  for (int rank : {0, 2})
    EXPECT_NE(failures[rank].find("rank 1 exited without a message"), std::string::npos)
        << failures[rank];
}

TEST_P(ProcessesOver, WhoFailsEndsAllWithItsStatus) {
  auto failures = onAll(3, [](Processes &group) {
    swap(group, "the loss");
    if (group.rank() == 1)
      throw Failure(Exit::storage, "the disk is full");
    swap(group, "the loss (m.weir:3)");
  });
  EXPECT_EQ(failures[1], "8 the disk is full");
  for (int rank : {0, 2}) {
    EXPECT_EQ(failures[rank].substr(0, 2), "8 ") << failures[rank];
    EXPECT_NE(failures[rank].find("rank 1 exited with status 8: the disk is full"),
              std::string::npos)
        << failures[rank];
  }
}

TEST_P(ProcessesOver, WhoIsLateEndsAll) {
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
  EXPECT_EQ(failures[0], "7 step 5: rank 0 was waiting in the loss (m.weir:3) for rank 1: rank 1 "
                         "is alive, but did not arrive within 1 s (--collective-timeout)");
  EXPECT_EQ(failures[1].substr(0, 2), "7 ");
}

TEST_P(ProcessesOver, WhoWaitsElsewhereIsToldToo) {
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
  EXPECT_EQ(failures[0], "8 step 5: rank 0 was waiting in the loss (m.weir:3): rank 1 exited with "
                         "status 8: the disk is full");
}

/// A rank runs what rank 0 sends it.
TEST_P(ProcessesOver, WhatIsNotRankZerosIsRefused) {
  auto failures = onAll(3, [](Processes &group) {
    std::vector<std::byte> artifact(100000, std::byte{7});
    group.requireFirsts("comparing the artifact", artifact);
    swap(group, "the loss");
    if (group.rank() == 2)
      artifact.back() = std::byte{8};
    group.requireFirsts("comparing the artifact", artifact);
    swap(group, "the loss");
  });
  EXPECT_EQ(failures[2], "7 comparing the artifact: rank 2 did not receive what rank 0 sent: "
                         "another program may have intercepted a connection between ranks");
  for (int rank : {0, 1})
    EXPECT_NE(failures[rank].find("rank 2 exited with status 7: comparing the artifact"),
              std::string::npos)
        << failures[rank];
}
