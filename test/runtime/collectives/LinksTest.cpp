//===- LinksTest.cpp - Bytes from one process to another ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What links promise, of Gloo's and of those over TLS.
//
//===----------------------------------------------------------------------===//

#include "test/runtime/collectives/LinkedRanks.h"
#include <cstdio>
#include <cstring>
#include <ctime>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <thread>

using namespace weir::collectives;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;

const std::vector<std::string> fine2(2), fine4(4);

/// Gloo's, those over TLS, and those of one user.
class EachLinks : public ::testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(Links, EachLinks, ::testing::Values("", linksSecret, nullptr),
                         nameOfLinks);

} // namespace

TEST_P(EachLinks, KeepTheOrderUnderATag) {
  LinkedRanks ranks(2, GetParam());
  ASSERT_EQ(ranks.connect(), fine2);
  std::vector<std::unique_ptr<Sack>> sent, got;
  for (int i = 0; i < 60; ++i)
    sent.push_back(std::make_unique<Sack>(ranks[0], 1000, std::byte(i)));
  for (int i = 0; i < 60; ++i)
    got.push_back(std::make_unique<Sack>(ranks[1], 1000));
  // Half of them before they are received, and half behind.
  for (size_t i = 0; i < 30; ++i)
    sent[i]->buffer->send(1, i % 3);
  for (size_t i = 0; i < 60; ++i)
    got[i]->buffer->receive(0, i % 3);
  for (size_t i = 30; i < 60; ++i)
    sent[i]->buffer->send(1, i % 3);
  for (size_t i = 60; i-- > 0;) {
    ASSERT_TRUE(got[i]->buffer->waitReceived());
    ASSERT_TRUE(sent[i]->buffer->waitSent());
    EXPECT_TRUE(got[i]->isAll(std::byte(i))) << i;
  }
}

TEST_P(EachLinks, WhatNobodyHasAskedForHoldsUpNothing) {
  LinkedRanks ranks(2, GetParam());
  ASSERT_EQ(ranks.connect(), fine2);
  Sack early(ranks[0], 20 << 20, std::byte{1}), other(ranks[0], 100, std::byte{2});
  early.buffer->send(1, 1);
  other.buffer->send(1, 2);
  Sack second(ranks[1], 100), first(ranks[1], 20 << 20);
  second.buffer->receive(0, 2);
  ASSERT_TRUE(second.buffer->waitReceived());
  EXPECT_TRUE(second.isAll(std::byte{2}));
  first.buffer->receive(0, 1);
  ASSERT_TRUE(first.buffer->waitReceived());
  EXPECT_TRUE(first.isAll(std::byte{1}));
  EXPECT_TRUE(early.buffer->waitSent() && other.buffer->waitSent());
}

/// Both send more than sockets hold ahead of receiving anything.
TEST_P(EachLinks, MuchGoesBothWaysAtOnce) {
  LinkedRanks ranks(2, GetParam());
  ASSERT_EQ(ranks.connect(), fine2);
  std::vector<std::jthread> threads;
  for (int64_t rank : {0, 1})
    threads.emplace_back([&, rank] {
      for (int turn = 1; turn < 4; ++turn) {
        Sack out(ranks[rank], 30 << 20, std::byte(10 * rank + turn)), in(ranks[rank], 30 << 20);
        out.buffer->send(1 - rank, 5);
        std::this_thread::sleep_for(10ms);
        in.buffer->receive(1 - rank, 5);
        ASSERT_TRUE(in.buffer->waitReceived());
        ASSERT_TRUE(out.buffer->waitSent());
        EXPECT_TRUE(in.isAll(std::byte(10 * (1 - rank) + turn)));
      }
    });
}

TEST_P(EachLinks, NothingIsAMessageToo) {
  LinkedRanks ranks(2, GetParam());
  ASSERT_EQ(ranks.connect(), fine2);
  for (bool isFirst : {true, false}) {
    Sack out(ranks[1], 0), in(ranks[0], 0), next(ranks[1], 1, std::byte{3}), behind(ranks[0], 1);
    if (isFirst)
      in.buffer->receive(1, 7);
    out.buffer->send(0, 7);
    next.buffer->send(0, 7);
    if (!isFirst)
      in.buffer->receive(1, 7);
    behind.buffer->receive(1, 7);
    EXPECT_TRUE(in.buffer->waitReceived() && out.buffer->waitSent());
    EXPECT_TRUE(behind.buffer->waitReceived() && next.buffer->waitSent());
    EXPECT_TRUE(behind.isAll(std::byte{3}));
  }
}

/// Several threads of each, as lanes of a run have them: what is little passes what is much.
TEST_P(EachLinks, ManyThreadsOfManyRanks) {
  LinkedRanks ranks(4, GetParam());
  ASSERT_EQ(ranks.connect(), fine4);
  std::vector<std::jthread> threads;
  for (int64_t rank = 0; rank < 4; ++rank)
    for (uint64_t lane = 0; lane < 3; ++lane)
      threads.emplace_back([&, rank, lane] {
        for (size_t turn = 0; turn < 30; ++turn)
          for (int64_t step = 1; step < 4; ++step) {
            int64_t to = (rank + step) % 4, from = (rank + 4 - step) % 4;
            size_t size = lane == 0 ? 1 << 18 : turn * 100;
            auto valueOf = [&](int64_t who) { return std::byte(60 * lane + 10 * who + turn % 9); };
            Sack out(ranks[rank], size, valueOf(rank)), in(ranks[rank], size);
            in.buffer->receive(from, lane);
            out.buffer->send(to, lane);
            ASSERT_TRUE(in.buffer->waitReceived() && out.buffer->waitSent());
            ASSERT_TRUE(in.isAll(valueOf(from)));
          }
      });
}

TEST_P(EachLinks, WhoWaitsIsStopped) {
  LinkedRanks ranks(2, GetParam());
  ASSERT_EQ(ranks.connect(), fine2);
  Sack out(ranks[0], 1 << 20), in(ranks[0], 1 << 20);
  out.buffer->send(1, 1);
  in.buffer->receive(1, 2);
  for (bool sends : {true, false}) {
    Sack &one = sends ? out : in;
    std::jthread other([&] {
      std::this_thread::sleep_for(50ms);
      one.buffer->stop();
    });
    EXPECT_FALSE(sends ? one.buffer->waitSent() : one.buffer->waitReceived());
  }
  // Ahead of waiting, too.
  Sack later(ranks[0], 100);
  later.buffer->receive(1, 3);
  later.buffer->stop();
  EXPECT_FALSE(later.buffer->waitReceived());
}

/// What has been let go of is not written to, and what comes behind it comes.
TEST_P(EachLinks, WhatIsLetGoOfIsLeftAlone) {
  LinkedRanks ranks(2, GetParam());
  ASSERT_EQ(ranks.connect(), fine2);
  std::vector<std::byte> memory(1 << 20);
  {
    auto buffer = ranks[1].buffer(memory.data(), memory.size());
    buffer->receive(0, 1);
    auto never = ranks[1].buffer(memory.data(), memory.size());
    never->send(0, 8);
  }
  std::this_thread::sleep_for(50ms);
  Sack out(ranks[0], 100, std::byte{4}), in(ranks[1], 100);
  in.buffer->receive(0, 2);
  out.buffer->send(1, 2);
  ASSERT_TRUE(in.buffer->waitReceived() && out.buffer->waitSent());
  EXPECT_TRUE(in.isAll(std::byte{4}));
  EXPECT_TRUE(std::ranges::all_of(memory, [](std::byte byte) { return byte == std::byte{}; }));
}

/// In the middle of a message, as where its process is killed.
TEST_P(EachLinks, APeerThatEndsIsFoundOut) {
  LinkedRanks ranks(3, GetParam());
  ASSERT_EQ(ranks.connect(), std::vector<std::string>(3));
  Sack in(ranks[0], 1000), out(ranks[0], 50 << 20), more(ranks[0], 100);
  in.buffer->receive(1, 1);
  out.buffer->send(1, 2);
  {
    Sack some(ranks[1], 50 << 20);
    some.buffer->receive(0, 2);
    std::this_thread::sleep_for(5ms);
    some.buffer->stop();
  }
  ranks.end(1);
  EXPECT_THROW(in.buffer->waitReceived(), std::exception);
  EXPECT_THROW(in.buffer->waitReceived(), std::exception);
  auto later = [&] {
    more.buffer->receive(1, 3);
    more.buffer->waitReceived();
  };
  EXPECT_THROW(later(), std::exception);
  // The others go on.
  Sack to(ranks[0], 100, std::byte{6}), from(ranks[2], 100);
  from.buffer->receive(0, 1);
  to.buffer->send(2, 1);
  EXPECT_TRUE(from.buffer->waitReceived());
  EXPECT_TRUE(from.isAll(std::byte{6}));
}

namespace {

/// Leaves something on the stack for who comes next.
[[gnu::noinline]] void dirtyTheStack() {
  char some[1 << 14];
  memset(some, 0xa5, sizeof some);
  asm volatile("" : : "r"(some) : "memory");
}

} // namespace

/// What ranks tell each other of their ports has nothing else of their memory in it.
TEST(Links, GloosAddressesHaveNoBytesOfTheStack) {
  for (const char *interface : {"127.0.0.1", "::1"}) {
    dirtyTheStack();
    std::unique_ptr<Links> links =
        linksPlugin().make({.rank = 0, .size = 3, .interface = interface});
    dirtyTheStack();
    std::vector<std::string> all = links->addresses();
    EXPECT_EQ(all[0], "");
    for (size_t peer : {1, 2}) {
      sockaddr_storage storage;
      ASSERT_GE(all[peer].size(), sizeof storage);
      memcpy(&storage, all[peer].data(), sizeof storage);
      bool is6 = storage.ss_family == AF_INET6;
      EXPECT_EQ(is6, std::string_view(interface) == "::1");
      std::string rest = all[peer].substr(is6 ? sizeof(sockaddr_in6) : 8, sizeof storage);
      rest.resize(sizeof storage - (is6 ? sizeof(sockaddr_in6) : 8));
      EXPECT_EQ(rest, std::string(rest.size(), '\0')) << interface;
    }
  }
}

/// More than 32 bits count.
TEST_P(EachLinks, DISABLED_AMessageOfFiveGigabytes) {
  LinkedRanks ranks(2, GetParam());
  ASSERT_EQ(ranks.connect(), fine2);
  const size_t size = (size_t(5) << 30) + 3;
  Sack out(ranks[0], size, std::byte{9}), in(ranks[1], size);
  in.buffer->receive(0, 1);
  out.buffer->send(1, 1);
  ASSERT_TRUE(in.buffer->waitReceived() && out.buffer->waitSent());
  EXPECT_TRUE(in.isAll(std::byte{9}));
}

/// Of the figures in docs/reference/security.md.
TEST_P(EachLinks, DISABLED_Throughput) {
  LinkedRanks ranks(2, GetParam());
  ASSERT_EQ(ranks.connect(), fine2);
  for (size_t size : {size_t(1) << 10, size_t(1) << 20, size_t(64) << 20}) {
    const size_t turns = std::min<size_t>(20000, (size_t(2) << 30) / size);
    Sack out(ranks[0], size, std::byte{1}), in(ranks[1], size);
    auto began = Clock::now();
    std::clock_t cpu = std::clock();
    std::jthread other([&] {
      for (size_t turn = 0; turn < turns; ++turn) {
        in.buffer->receive(0, 1);
        in.buffer->waitReceived();
      }
    });
    for (size_t turn = 0; turn < turns; ++turn) {
      out.buffer->send(1, 1);
      out.buffer->waitSent();
    }
    other.join();
    double seconds = std::chrono::duration<double>(Clock::now() - began).count();
    double cpuSeconds = double(std::clock() - cpu) / CLOCKS_PER_SEC;
    printf("%zu bytes: %.3f GB/s, %.1f us each, %.1f us of processors\n", size,
           1e-9 * double(turns * size) / seconds, 1e6 * seconds / double(turns),
           1e6 * cpuSeconds / double(turns));
  }
}
