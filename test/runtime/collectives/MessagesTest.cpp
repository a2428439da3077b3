//===- MessagesTest.cpp - What processes say to each other ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/Messages.h"
#include "runtime/collectives/Channel.h"
#include <cstring>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace weir::collectives;

namespace {

Message someMessage() {
  return {.kind = Message::Kind::ended,
          .rank = 3,
          .size = 4,
          .status = 8,
          .text = "no space left",
          .parts = {"", "one", std::string(Message::mostOfPart, 'p')}};
}

std::string body(const Message &message) { return encode(message).substr(4); }

/// Two ends of a connection.
struct Pair {
  Pair() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0); }
  int ends[2];
};

} // namespace

TEST(Messages, AreReadAsTheyWereWritten) {
  EXPECT_EQ(decode(body(someMessage())), someMessage());
  EXPECT_EQ(decode(body(Message())), Message());
}

TEST(Messages, WhatIsTooLongIsCutShort) {
  Message message{.text = std::string(Message::mostText + 1, 't')};
  EXPECT_EQ(decode(body(message))->text.size(), Message::mostText);
}

TEST(Messages, NoByteMayBeMissingOrTooMany) {
  std::string whole = body(someMessage());
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(decode(whole.substr(0, size))) << size;
  EXPECT_FALSE(decode(whole + '\0'));
}

TEST(Messages, NoLengthIsBelieved) {
  // The kind, three numbers, and then the length of the text and the number of parts.
  std::string plain = body(Message());
  for (size_t at = 13; at + 4 <= plain.size(); at += 4)
    for (uint32_t length : {1u, 5000u, 0x7fffffffu, 0xffffffffu}) {
      std::string wrong = plain;
      std::memcpy(wrong.data() + at, &length, sizeof length);
      EXPECT_FALSE(decode(wrong)) << at << " " << length;
    }
  std::string unknown = plain;
  unknown[0] = 99;
  EXPECT_FALSE(decode(unknown));
}

TEST(Channel, TakesMessagesInPieces) {
  Pair pair;
  Channel channel(pair.ends[0]);
  channel.trust();
  std::string two = encode(someMessage()) + encode(Message());
  for (char one : two) {
    ASSERT_EQ(send(pair.ends[1], &one, 1, 0), 1);
    EXPECT_TRUE(channel.move());
  }
  EXPECT_EQ(channel.take(), someMessage());
  EXPECT_EQ(channel.take(), Message());
  EXPECT_FALSE(channel.take());
  close(pair.ends[1]);
  EXPECT_FALSE(channel.move());
}

TEST(Channel, AStrangerSaysLittle) {
  for (bool trusted : {false, true}) {
    Pair pair;
    Channel channel(pair.ends[0]), other(pair.ends[1]);
    if (trusted)
      channel.trust();
    other.put({.text = std::string(2000, 't')});
    EXPECT_EQ(channel.move(), trusted);
  }
  Pair pair;
  Channel channel(pair.ends[0]), other(pair.ends[1]);
  for (int i = 0; i < 10; ++i)
    other.put(Message());
  EXPECT_FALSE(channel.move());
}

TEST(Channel, WhatIsNoMessageEndsIt) {
  Pair pair;
  Channel channel(pair.ends[0]);
  channel.trust();
  const char request[] = "GET / HTTP/1.1\r\n\r\n";
  ASSERT_GT(send(pair.ends[1], request, sizeof request, 0), 0);
  EXPECT_FALSE(channel.move());
  EXPECT_FALSE(channel.take());
  close(pair.ends[1]);
}
