//===- SecureLinksTest.cpp - Strangers at links over TLS ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LinksTest.cpp has what links do where nobody disturbs them.
//
//===----------------------------------------------------------------------===//

#include "test/runtime/collectives/LinkRelay.h"
#include "test/runtime/collectives/LinkedRanks.h"
#include "test/runtime/collectives/ProcessGroups.h"
#include <cstddef>
#include <gtest/gtest.h>
#include <sys/un.h>
#include <sys/wait.h>

using namespace weir;
using namespace weir::collectives;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;

const std::vector<std::string> fine2(2), fine3(3);
constexpr char unproved[] = "the other end did not prove that it knows the secret";

void hurry(Links::Settings &own) { own.patience = 2s; }

uint16_t portOf(const std::string &address) {
  size_t at = address.find(' ') + 1;
  return uint16_t(std::stoi(address.substr(at)));
}

/// Has who is told it call another port.
void redirect(std::string &address, uint16_t port) {
  size_t at = address.find(' ') + 1;
  address.replace(at, address.find(' ', at) - at, std::to_string(port));
}

/// Of two ranks: the address at which rank 1 finds rank 0.
std::string &calledAddress(LinkedRanks &ranks) { return ranks.address(0, 1); }

/// Where Gloo has its address: a sockaddr_in is at its beginning, with the port behind the family.
uint16_t glooPort(const std::string &address) {
  return uint16_t(uint8_t(address[2]) << 8 | uint8_t(address[3]));
}

/// Whether rank 0 gets a message of rank 1.
bool isConnected(LinkedRanks &ranks) {
  Sack out(ranks[1], 1000, std::byte{5}), in(ranks[0], 1000);
  in.buffer->receive(1, 1);
  out.buffer->send(0, 1);
  return in.buffer->waitReceived() && out.buffer->waitSent() && in.isAll(std::byte{5});
}

void say(int file, const std::string &words) {
  send(file, words.data(), words.size(), MSG_NOSIGNAL);
}

/// As who calls says which rank it is.
std::string asRank(char rank) { return {0, 0, 0, rank}; }

std::string handshake(const std::string &secret, const std::string &name) {
  std::string hello;
  linksPlugin().secure(SecureStream::End::client, secret, name)->drain(hello);
  return hello;
}

/// Links of a run that has a relay between ranks 0 and 1: of all that goes on to rank 1 behind the
/// first megabyte, it changes a bit of each piece.
class RelayedLinks : public Links {
public:
  explicit RelayedLinks(const Settings &settings)
      : rank(settings.rank), links(linksPlugin().make(settings)), told(links->addresses()) {
    if (rank != 0)
      return;
    relay =
        std::make_unique<LinkRelay>(portOf(told[1]), [this](bool toListener, std::string &bytes) {
          passed += toListener ? 0 : bytes.size();
          if (!toListener && passed > 1000000)
            bytes[bytes.size() / 2] ^= 1;
        });
    redirect(told[1], relay->port);
  }
  std::vector<std::string> addresses() const override { return told; }
  void connect(const std::vector<std::string> &all) override { links->connect(all); }
  std::unique_ptr<Buffer> buffer(void *memory, size_t size) override {
    return links->buffer(memory, size);
  }

private:
  const int64_t rank;
  std::unique_ptr<Links> links;
  std::vector<std::string> told;
  size_t passed = 0;
  std::unique_ptr<LinkRelay> relay;
};

} // namespace

/// A rank never gets the artifact that the relay has changed, and the run ends.
TEST(SecureLinks, ARelayFeedsNoArtifact) {
  LinksPlugin relayed = linksPlugin();
  relayed.make = [](const Links::Settings &settings) -> std::unique_ptr<Links> {
    return std::make_unique<RelayedLinks>(settings);
  };
  std::atomic<bool> hasGot = false;
  auto failures = onAll(
      2,
      [&](Processes &group) {
        std::vector<std::byte> artifact;
        if (group.rank() == 0)
          artifact.assign(3000000, std::byte{7});
        fromFirst(group, "sending the artifact", artifact);
        hasGot = hasGot || group.rank() == 1;
        fromAll(group, "the loss", 0);
      },
      [](Processes::Settings &own) {
        own.meeting.secret = linksSecret;
        own.silence = 20s;
      },
      relayed);
  EXPECT_FALSE(hasGot);
  for (const std::string &failure : failures) {
    EXPECT_EQ(failure.substr(0, 2), "7 ") << failure;
    // Who was sending may be the first to say so, and knows less.
    EXPECT_NE(failure.find("the connection is broken: "), std::string::npos) << failure;
  }
}

TEST(SecureLinks, ARelayThatPassesAllOnIsACable) {
  LinkedRanks ranks(2, linksSecret);
  LinkRelay relay(portOf(calledAddress(ranks)));
  redirect(calledAddress(ranks), relay.port);
  ASSERT_EQ(ranks.connect(), fine2);
  EXPECT_TRUE(isConnected(ranks));
  EXPECT_EQ(relay.connections(), 1);
}

/// And reads it where there is no secret, or this test would find nothing.
TEST(SecureLinks, ARelayReadsNothing) {
  const std::string words = "the weights of the first layer; ";
  for (bool hasSecret : {true, false}) {
    // Of two of Gloo's, that of the higher address calls.
    LinkedRanks ranks(2, hasSecret ? linksSecret : "", [](Links::Settings &own) {
      own.interface = own.rank ? "127.0.0.2" : "127.0.0.1";
    });
    std::string &address = calledAddress(ranks);
    LinkRelay relay(hasSecret ? portOf(address) : glooPort(address));
    if (hasSecret)
      redirect(address, relay.port);
    else
      address.replace(2, 2, {char(relay.port >> 8), char(relay.port & 255)});
    ASSERT_EQ(ranks.connect(), fine2);
    Sack out(ranks[0], 100000), in(ranks[1], 100000);
    for (size_t i = 0; i < out.bytes.size(); ++i)
      out.bytes[i] = std::byte(words[i % words.size()]);
    in.buffer->receive(0, 1);
    out.buffer->send(1, 1);
    ASSERT_TRUE(in.buffer->waitReceived());
    EXPECT_EQ(in.bytes, out.bytes);
    const std::string said = relay.recorded();
    EXPECT_GT(said.size(), out.bytes.size());
    EXPECT_EQ(said.find(words) == std::string::npos, hasSecret);
  }
}

/// Nothing that it has changed is taken, and both ends fail.
TEST(SecureLinks, ARelayThatChangesABitBreaksTheLink) {
  for (bool toListener : {true, false}) {
    LinkedRanks ranks(2, linksSecret);
    size_t passed = 0;
    LinkRelay relay(portOf(calledAddress(ranks)), [&](bool to, std::string &bytes) {
      passed += to == toListener ? bytes.size() : 0;
      if (to == toListener && passed > 500000)
        bytes[bytes.size() / 2] ^= 1;
    });
    redirect(calledAddress(ranks), relay.port);
    ASSERT_EQ(ranks.connect(), fine2);
    const int64_t to = toListener ? 0 : 1, from = 1 - to;
    Sack out(ranks[from], 2000000, std::byte{0x55}), in(ranks[to], 2000000), back(ranks[from], 100);
    in.buffer->receive(from, 1);
    back.buffer->receive(to, 2);
    out.buffer->send(to, 1);
    try {
      in.buffer->waitReceived();
      ADD_FAILURE();
    } catch (const std::exception &error) {
      EXPECT_STREQ(error.what(), "it delivered bytes that the other end did not send, so something "
                                 "on the network path modifies them");
    }
    EXPECT_THROW(back.buffer->waitReceived(), std::exception);
    EXPECT_TRUE(std::ranges::all_of(
        in.bytes, [](std::byte byte) { return byte == std::byte{0} || byte == std::byte{0x55}; }));
  }
}

/// A connection is of the two ranks whose it is.
TEST(SecureLinks, ARelaySwapsNoRanks) {
  {
    // Rank 2 calls rank 0, and finds rank 1, and the other way around.
    LinkedRanks ranks(3, linksSecret, hurry);
    LinkRelay toFirst(portOf(ranks.address(0, 2))), toSecond(portOf(ranks.address(1, 2)));
    redirect(ranks.address(0, 2), toSecond.port);
    redirect(ranks.address(1, 2), toFirst.port);
    auto failures = ranks.connect();
    EXPECT_EQ(failures[2],
              concat("rank 0 cannot be reached at 127.0.0.1 port ", toSecond.port, ": ", unproved));
    for (size_t rank : {0, 1})
      EXPECT_EQ(failures[rank],
                "rank 2 cannot be reached: it has not connected to this rank's port");
    EXPECT_GT(toFirst.connections(), 1);
  }
  // Ranks 1 and 2 call rank 0, and the relay says of each that it is the other.
  LinkedRanks ranks(3, linksSecret, hurry);
  LinkRelay relay(portOf(ranks.address(0, 1)), [](bool toListener, std::string &bytes) {
    if (toListener && bytes.size() >= 4 && bytes.starts_with(std::string(3, '\0')))
      bytes[3] = char(3 - bytes[3]);
  });
  for (int64_t caller : {1, 2})
    redirect(ranks.address(0, caller), relay.port);
  auto failures = ranks.connect();
  for (size_t rank : {1, 2})
    EXPECT_EQ(failures[rank],
              concat("rank 0 cannot be reached at 127.0.0.1 port ", relay.port, ": ", unproved));
  EXPECT_EQ(failures[0], "rank 1 cannot be reached: it has not connected to this rank's port");
}

TEST(SecureLinks, AnotherSecretOrRunIsNotConnected) {
  using Change = LinkedRanks::Change;
  for (const Change &change :
       {Change([](Links::Settings &own) {
          own.secret = own.rank ? "another one, as long" : linksSecret;
        }),
        Change([](Links::Settings &own) { own.run = own.rank ? "2 test" : "1 test"; })}) {
    LinkedRanks ranks(2, linksSecret, [&](Links::Settings &own) {
      hurry(own);
      change(own);
    });
    auto failures = ranks.connect();
    EXPECT_TRUE(failures[1].ends_with(unproved)) << failures[1];
    EXPECT_EQ(failures[0], "rank 1 cannot be reached: it has not connected to this rank's port");
  }
  // Nor is a run of the same name, to the address of which a rank is led.
  LinkedRanks one(2, linksSecret, hurry), other(2, linksSecret, hurry);
  redirect(calledAddress(one), portOf(calledAddress(other)));
  std::vector<std::string> ofOther;
  std::jthread beside([&] { ofOther = other.connect(); });
  auto failures = one.connect();
  beside.join();
  EXPECT_EQ(failures[1].substr(0, 24), "rank 0 cannot be reached") << failures[1];
  EXPECT_EQ(ofOther, fine2);
  EXPECT_TRUE(isConnected(other));
}

/// Who comes ahead of the ranks, says anything and stays keeps nobody out.
TEST(SecureLinks, StrangersKeepNobodyOut) {
  LinkedRanks ranks(3, linksSecret);
  const uint16_t port = portOf(ranks.address(0, 1));
  const std::string other = handshake("another one, as long", "weir links 1 0-1 0 1 test"),
                    // With the secret, and for another purpose: the channel to rank 0.
      channel = handshake(linksSecret, secretName("test"));
  const std::vector<std::string> rude = {"",
                                         "GET / HTTP/1.1\r\n\r\n",
                                         std::string(5000, '\xff'),
                                         asRank(1),
                                         asRank(2).substr(0, 3),
                                         asRank(0),
                                         asRank(3),
                                         asRank(1) + other,
                                         asRank(2) + channel,
                                         asRank(1) + channel.substr(0, 100),
                                         asRank(2) + "\x16\3\1" + std::string(5000, '\x3f'),
                                         asRank(1) + channel + std::string(5000, '\x17')};
  std::vector<int> files;
  for (int turn = 0; turn < 5; ++turn)
    for (const std::string &words : rude) {
      files.push_back(connectToPort(port));
      ASSERT_GE(files.back(), 0);
      say(files.back(), words);
    }
  auto began = Clock::now();
  ASSERT_EQ(ranks.connect(), fine3);
  EXPECT_LT(Clock::now() - began, 3s); // none of them is waited for
  EXPECT_TRUE(isConnected(ranks));
  for (int file : files)
    close(file);
  EXPECT_EQ(connectToPort(port), -1); // nobody else is awaited
}

/// More than are listened to at once, who are sent away after a second.
TEST(SecureLinks, ACrowdOfSilentOnesIsLetGo) {
  LinkedRanks ranks(2, linksSecret);
  std::vector<int> files;
  for (int turn = 0; turn < 200; ++turn)
    files.push_back(connectToPort(portOf(calledAddress(ranks))));
  auto began = Clock::now();
  ASSERT_EQ(ranks.connect(), fine2);
  EXPECT_GT(Clock::now() - began, 900ms);
  EXPECT_LT(Clock::now() - began, 15s);
  EXPECT_TRUE(isConnected(ranks));
  for (int file : files)
    close(file);
}

/// A rank whose first connection is cut before it knows that it is taken calls again.
TEST(SecureLinks, WhatIsCutInConnectingIsTriedAgain) {
  LinkedRanks ranks(2, linksSecret);
  int cut = 0;
  LinkRelay relay(portOf(calledAddress(ranks)), [&](bool toListener, std::string &bytes) {
    if (!toListener && cut++ < 3)
      bytes.back() ^= 1;
  });
  redirect(calledAddress(ranks), relay.port);
  ASSERT_EQ(ranks.connect(), fine2);
  EXPECT_TRUE(isConnected(ranks));
  EXPECT_GT(relay.connections(), 1);
}

/// What a rank says as soon as it is connected can come together with the word that the other is.
TEST(SecureLinks, WhatComesWithTheEndOfConnectingIsHeard) {
  LinkedRanks ranks(2, linksSecret);
  int flights = 0;
  std::string held;
  LinkRelay relay(portOf(calledAddress(ranks)), [&](bool toListener, std::string &bytes) {
    constexpr size_t taken = 5 + 1 + 1 + 16; // a record of one byte: it has not come together yet
    if (!toListener && ++flights == 2 && bytes.size() == taken)
      held = std::exchange(bytes, {}); // the first was of the handshake
    else if (!toListener)
      bytes = std::exchange(held, {}) + bytes;
  });
  redirect(calledAddress(ranks), relay.port);
  Sack out(ranks[1], 1000, std::byte{5}), in(ranks[0], 1000);
  std::jthread patience([&](const std::stop_token &over) {
    for (int turn = 0; turn < 500 && !over.stop_requested(); ++turn)
      std::this_thread::sleep_for(10ms);
    in.buffer->stop();
  });
  ASSERT_EQ(ranks.connect([&](size_t rank) {
    if (rank == 0)
      in.buffer->receive(1, 1);
  }),
            fine2);
  out.buffer->send(0, 1);
  EXPECT_TRUE(in.buffer->waitReceived());
  EXPECT_TRUE(in.isAll(std::byte{5}));
}

/// The listener has taken a rank, and the rank has not heard of it: the port is open for it as long
/// as another rank is missing.
TEST(SecureLinks, WhoHasNotHeardThatItIsTakenCallsAgain) {
  LinkedRanks ranks(3, linksSecret);
  std::atomic<int> flights = 0; // of the handshake, then that it is taken
  LinkRelay cutting(portOf(ranks.address(0, 1)), [&](bool toListener, std::string &bytes) {
    if (!toListener && ++flights == 2)
      bytes.back() ^= 1;
  });
  LinkRelay waiting(portOf(ranks.address(0, 2)), [&](bool, std::string &) {
    for (int turn = 0; turn < 1000 && flights < 4; ++turn)
      std::this_thread::sleep_for(10ms);
  });
  redirect(ranks.address(0, 1), cutting.port);
  redirect(ranks.address(0, 2), waiting.port);
  ASSERT_EQ(ranks.connect(), fine3);
  EXPECT_EQ(cutting.connections(), 2);
  EXPECT_TRUE(isConnected(ranks));
}

/// Of one user the kernel says whose process has come. It knows the name of the socket here.
TEST(SecureLinks, OfOneUserTakeNoOtherUsersProcess) {
  if (geteuid() != 0)
    GTEST_SKIP() << "a process of another user is started by root alone";
  LinkedRanks ranks(2, nullptr);
  std::string address = calledAddress(ranks),
              name = "weir links " + address.substr(address.rfind(' ') + 1);
  pid_t child = fork();
  if (child == 0) {
    sockaddr_un other{};
    other.sun_family = AF_UNIX;
    name.copy(other.sun_path + 1, sizeof other.sun_path - 1);
    auto size = socklen_t(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    int file = socket(AF_UNIX, SOCK_STREAM, 0);
    if (setgid(65534) != 0 || setuid(65534) != 0 ||
        connect(file, reinterpret_cast<sockaddr *>(&other), size) != 0)
      _exit(2);
    send(file, "\0\0\0\1", 4, MSG_NOSIGNAL);
    char byte;
    _exit(recv(file, &byte, 1, 0) > 0); // that it is taken
  }
  std::this_thread::sleep_for(200ms); // for it to be the first
  ASSERT_EQ(ranks.connect(), fine2);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(isConnected(ranks));
}
