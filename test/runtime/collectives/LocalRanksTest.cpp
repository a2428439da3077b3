//===- LocalRanksTest.cpp - Ranks that are threads of one process ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/LocalRanks.h"
#include "support/Error.h"
#include <functional>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>

using namespace weir;
using collectives::LocalRanks;

namespace {

Mesh mesh(const char *text) { return std::get<Mesh>(Mesh::parse(text)); }

/// Gives each member `count` numbers that say who is meant by whom, and returns what it gets.
std::vector<int> exchange(Transport &transport, const Mesh &mesh, int rank, unsigned axis,
                          const std::string &what, size_t count) {
  size_t members = mesh.axes[axis].size;
  std::vector<int> given(members * count), got(members * count, -1);
  std::vector<std::span<const std::byte>> to;
  std::vector<std::span<std::byte>> from;
  for (size_t i = 0; i < members; ++i) {
    std::span mine(given.data() + i * count, count);
    std::ranges::fill(mine, 100 * rank + int(i));
    to.push_back(std::as_bytes(mine));
    from.push_back(std::as_writable_bytes(std::span(got.data() + i * count, count)));
  }
  transport.exchange(axis, what, to, from);
  return got;
}

void onAll(const Mesh &mesh, const std::function<void(int rank)> &body) {
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < mesh.ranks(); ++rank)
    threads.emplace_back([&body, rank] { body(rank); });
}

std::string failureOf(const std::function<void()> &body) {
  try {
    body();
  } catch (const Failure &failure) {
    EXPECT_EQ(failure.exit, Exit::peer);
    return failure.what();
  }
  return "none";
}

} // namespace

TEST(LocalRanks, EachMemberGetsWhatIsForIt) {
  const Mesh six = mesh("dp=2,tp=3");
  LocalRanks ranks(six);
  // Many times, so that fast ones meet slow ones again.
  onAll(six, [&](int rank) {
    for (int time = 0; time < 200; ++time)
      for (unsigned axis : {0u, 1u}) {
        size_t count = 1 + time % 3;
        std::vector<int> got = exchange(ranks.of(rank), six, rank, axis, "a sum", count);
        std::vector<int64_t> members = six.along(rank, axis);
        for (size_t i = 0; i < got.size(); ++i)
          ASSERT_EQ(got[i], 100 * members[i / count] + six.coordinate(rank, axis));
      }
  });
}

TEST(LocalRanks, WhoIsAtSomethingElseIsNamed) {
  const Mesh two = mesh("dp=2");
  LocalRanks ranks(two);
  std::vector<std::string> failures(2);
  onAll(two, [&](int rank) {
    failures[rank] = failureOf(
        [&] { exchange(ranks.of(rank), two, rank, 0, rank ? "the norm" : "the loss", 1); });
  });
  EXPECT_EQ(failures[0], "rank 0 is in the loss, but rank 1 is in the norm");
  EXPECT_EQ(failures[1], "rank 1 is in the norm, but rank 0 is in the loss");
}

TEST(LocalRanks, SizesHaveToAgree) {
  const Mesh two = mesh("dp=2");
  LocalRanks ranks(two);
  std::vector<std::string> failures(2);
  onAll(two, [&](int rank) {
    failures[rank] =
        failureOf([&] { exchange(ranks.of(rank), two, rank, 0, "the loss", 1 + rank); });
  });
  EXPECT_EQ(failures[0], "rank 0 expected 4 bytes from rank 1 in the loss, but rank 1 sent 8");
}

TEST(LocalRanks, WhoWaitsElsewhereIsToldToo) {
  using Clock = std::chrono::steady_clock;
  const Mesh two = mesh("dp=2");
  LocalRanks ranks(two, std::chrono::seconds(5));
  Clock::time_point now = Clock::now();
  EXPECT_EQ(failureOf([&] { ranks.of(0).check("the loss", now); }), "none");
  EXPECT_EQ(failureOf([&] { ranks.of(0).check("the loss", now - std::chrono::seconds(6)); }),
            "rank 0 was waiting in the loss, but not all members arrived within 5 s "
            "(--collective-timeout)");
  ranks.end();
  EXPECT_EQ(failureOf([&] { ranks.of(1).check("the loss", now); }),
            "rank 1 was waiting in the loss for a rank that has ended");
}

TEST(LocalRanks, NobodyWaitsForWhoHasEnded) {
  const Mesh three = mesh("dp=3");
  LocalRanks ranks(three);
  std::vector<std::string> failures(3);
  onAll(three, [&](int rank) {
    if (rank == 2)
      return ranks.end();
    failures[rank] = failureOf([&] { exchange(ranks.of(rank), three, rank, 0, "the loss", 1); });
  });
  EXPECT_EQ(failures[0], "rank 0 was waiting in the loss for a rank that has ended");
  // The next runs are others.
  ranks.begin();
  onAll(three, [&](int rank) {
    if (rank == 1)
      return ranks.finish(rank);
    failures[rank] = failureOf([&] { exchange(ranks.of(rank), three, rank, 0, "the loss", 1); });
  });
  EXPECT_EQ(failures[2], "rank 2 was waiting in the loss for a rank that has ended");
  ranks.begin();
  onAll(three, [&](int rank) {
    EXPECT_EQ(exchange(ranks.of(rank), three, rank, 0, "the loss", 1)[2], 200 + rank);
  });
}

TEST(LocalRanks, NobodyMeetsWhoHasLeft) {
  const Mesh four = mesh("dp=2,tp=2");
  LocalRanks ranks(four);
  std::jthread first([&] {
    EXPECT_NE(failureOf([&] { exchange(ranks.of(0), four, 0, 1, "a sum", 1); }), "none");
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ranks.end(); // by rank 2, which is none of those that meet
  first.join();
  EXPECT_NE(failureOf([&] { exchange(ranks.of(1), four, 1, 1, "a sum", 1); }), "none");
}

/// Engines of a rank meet those of others along their axes, at the same time.
TEST(LocalRanks, AxesGoByThemselves) {
  const Mesh six = mesh("dp=2,tp=3");
  LocalRanks ranks(six);
  onAll(six, [&](int rank) {
    std::vector<std::jthread> engines;
    for (unsigned axis : {0u, 1u})
      engines.emplace_back([&, axis] {
        std::vector<int64_t> members = six.along(rank, axis);
        for (int time = 0; time < 200; ++time) {
          std::vector<int> got = exchange(ranks.of(rank), six, rank, axis, "a sum", 1);
          for (size_t i = 0; i < got.size(); ++i)
            ASSERT_EQ(got[i], 100 * members[i] + six.coordinate(rank, axis));
        }
      });
  });
}

/// Who is in an exchange along another axis knows at once, and why.
TEST(LocalRanks, AFailureEndsAllAxes) {
  const Mesh four = mesh("dp=2,tp=2");
  LocalRanks ranks(four);
  std::vector<std::string> failures(4);
  onAll(four, [&](int rank) {
    if (rank == 0) // beside what it fails in
      failures[0] = failureOf([&] { exchange(ranks.of(0), four, 0, 0, "a sum", 1); });
    else if (rank == 1)
      failures[1] = failureOf([&] { exchange(ranks.of(1), four, 1, 1, "the norm", 1); });
    else if (rank == 3)
      failures[3] = failureOf([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        exchange(ranks.of(0), four, 0, 1, "the loss", 1);
      });
  });
  EXPECT_EQ(failures[1], "rank 1 is in the norm, but rank 0 is in the loss");
  EXPECT_TRUE(failures[0].starts_with("rank ") && failures[0].find("the norm") != std::string::npos)
      << failures[0];
}
