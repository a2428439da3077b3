//===- Messages.cpp - What strangers may send to a run --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/collectives/Channel.h"
#include "test/fuzz/Target.h"
#include <sys/socket.h>
#include <unistd.h>

using namespace weir::collectives;

/// What is a message is written as it was read; and a connection takes any bytes.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string bytes(reinterpret_cast<const char *>(data), size);
  if (auto message = decode(bytes))
    weir::fuzz::require(encode(*message).substr(sizeof(uint32_t)) == bytes,
                        "a message is written as it was read");
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
    return 0;
  {
    Channel channel(ends[0]);
    if (size % 2)
      channel.trust();
    weir::fuzz::require(send(ends[1], data, size, MSG_DONTWAIT) == ssize_t(size),
                        "a socket takes so little");
    channel.move();
    while (channel.take())
      ;
  }
  close(ends[1]);
  return 0;
}
