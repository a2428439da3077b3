//===- FreePort.h - Ports for tests ---------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_RUNTIME_COLLECTIVES_FREEPORT_H
#define WEIR_TEST_RUNTIME_COLLECTIVES_FREEPORT_H

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace weir {

/// A port that is free, with some behind it most likely.
inline uint16_t freePort() {
  int file = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(bind(file, reinterpret_cast<sockaddr *>(&address), size), 0);
  EXPECT_EQ(getsockname(file, reinterpret_cast<sockaddr *>(&address), &size), 0);
  close(file);
  return std::min<uint16_t>(ntohs(address.sin_port), 60000);
}

} // namespace weir

#endif
