//===- LinkTest.cpp - Messages over a socket that takes little at a time --===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/gloo/Link.h"
#include "runtime/collectives/gloo/Tls.h"
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/socket.h>

using namespace weir::collectives;

namespace {

using End = SecureStream::End;

/// A link's two ends in one thread, connected by a socket that holds about 16 KiB.
struct SlowLink {
  SlowLink() {
    int ends[2], size = 1 << 14;
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    for (int end : ends)
      setsockopt(end, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    auto wire = [](int socket, End end) {
      return std::make_unique<Wire>(socket, makeSecure(end, "sixteen letters!", "weir test"));
    };
    auto client = wire(ends[0], End::client), server = wire(ends[1], End::server);
    while (!client->isProved() || !server->isProved())
      if (!server->read() || !client->read()) {
        ADD_FAILURE() << client->why() << server->why();
        break;
      }
    sender = std::make_unique<Link>(std::move(client));
    receiver = std::make_unique<Link>(std::move(server));
  }

  /// The socket is full before each time that it is read.
  void turn() {
    receiver->write();
    sender->read();
    sender->write();
    receiver->read();
  }

  std::unique_ptr<Link> sender, receiver;
};

struct Message {
  explicit Message(SlowLink &link, size_t size, uint64_t tag)
      : sent(size, std::byte(tag)), received(size) {
    link.receiver->receive(receiving, received, tag);
    link.sender->send(sending, sent, tag);
  }
  bool isOver() { return !sending.isUnderWay() && !receiving.isUnderWay(); }

  std::vector<std::byte> sent, received;
  Progress sending, receiving;
};

/// Bytes that are allocated. With a sanitizer this is 0.
size_t allocated() {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST(Link, KeepsLittleForASlowSocket) {
  SlowLink link;
  Message message(link, 16 << 20, 1);
  size_t before = allocated(), most = 0;
  for (int turns = 0; !message.isOver() && turns < 1000000; ++turns) {
    link.turn();
    most = std::max(most, allocated());
  }
  EXPECT_TRUE(message.isOver());
  EXPECT_EQ(message.received, message.sent);
  EXPECT_LT(most, before + (1 << 20));
}

TEST(Link, AShortMessagePassesALongOne) {
  SlowLink link;
  Message longOne(link, 16 << 20, 1), shortOne(link, 100, 2);
  for (int turns = 0; !shortOne.isOver() && turns < 1000; ++turns)
    link.turn();
  EXPECT_TRUE(shortOne.isOver());
  EXPECT_EQ(shortOne.received, shortOne.sent);
  EXPECT_TRUE(longOne.sending.isUnderWay());
  link.sender->forget(longOne.sending);
  link.receiver->forget(longOne.receiving);
}

} // namespace
