//===- FreePort.h - Ports for tests ---------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_RUNTIME_COLLECTIVES_FREEPORT_H
#define WEIR_TEST_RUNTIME_COLLECTIVES_FREEPORT_H

#include <cstdint>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace weir {

/// A TCP port of the loopback interface that is free, with the 15 behind it. Outgoing connections
/// get no port of this range, and each process begins at another one, so that tests beside each
/// other do not take each other's ports.
inline uint16_t freePort() {
  constexpr int first = 10000, slots = 1375, slotSize = 16;
  static int slot = getpid();
  auto isFree = [](int port) {
    int file = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    bool bound = bind(file, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0;
    close(file);
    return bound;
  };
  for (int tried = 0; tried < slots; ++tried) {
    slot += 97; // far from the processes that started just before and after this one
    int base = first + slot % slots * slotSize, free = 0;
    while (free < slotSize && isFree(base + free))
      ++free;
    if (free == slotSize)
      return base;
  }
  ADD_FAILURE() << "no 16 free ports in a row from " << first << " on";
  return first;
}

} // namespace weir

#endif
