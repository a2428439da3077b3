//===- FreePort.h - Ports for tests ---------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_RUNTIME_COLLECTIVES_FREEPORT_H
#define WEIR_TEST_RUNTIME_COLLECTIVES_FREEPORT_H

#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace weir {

/// Reserves the slot for this process until it exits, and says whether it was free. The name of an
/// abstract Unix socket has one owner, and the kernel gives it back however the process ends.
/// test/e2e/weirtest.py reserves by the same name.
inline bool reservePorts(int base) {
  std::string name = "weir test ports " + std::to_string(base);
  int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, sizeof address.sun_path - 1); // behind the 0 of an abstract name
  auto size = socklen_t(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (bind(file, reinterpret_cast<sockaddr *>(&address), size) == 0)
    return true; // the socket stays open
  close(file);
  return false;
}

/// A TCP port of the loopback interface that is free, with the 15 behind it. Outgoing connections
/// get no port of this range, and 29500, the default of a run, is outside. No other test gets these
/// ports before this process exits, whether a socket is bound to them or not: ranks of one machine
/// meet at Unix sockets that are named after a port.
inline uint16_t freePort() {
  constexpr int first = 10000, slots = 1200, slotSize = 16;
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
    int base = first + ++slot % slots * slotSize, free = 0;
    if (!reservePorts(base))
      continue;
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
