//===- OwnUser.cpp - Whose a process or a file is -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/system/OwnUser.h"
#include <cstdint>
#include <fstream>
#include <sys/socket.h>
#include <unistd.h>

namespace weir {

static uid_t overflowUser() {
  uid_t user = 65534;
  std::ifstream("/proc/sys/kernel/overflowuid") >> user;
  return user;
}

/// Whether the kernel shows every user under a number of its own.
static bool areAllMapped() {
  uint64_t inside = 0, outside = 0, count = 0;
  return (std::ifstream("/proc/self/uid_map") >> inside >> outside >> count) && inside == 0 &&
         outside == 0 && count == UINT32_MAX;
}

bool isOwnUser(uid_t user) {
  return user == geteuid() && (user != overflowUser() || areAllMapped());
}

std::optional<uid_t> strangerAt(int socket) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
    return uid_t(-1);
  return isOwnUser(credentials.uid) ? std::nullopt : std::optional(credentials.uid);
}

} // namespace weir
