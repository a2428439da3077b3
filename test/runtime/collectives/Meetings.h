//===- Meetings.h - A run of two processes, for tests ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_RUNTIME_COLLECTIVES_MEETINGS_H
#define WEIR_TEST_RUNTIME_COLLECTIVES_MEETINGS_H

#include "runtime/collectives/Rendezvous.h"

namespace weir {

inline constexpr char secret[] = "sixteen letters!";

/// One of two ranks that share the secret, on this machine.
inline collectives::Meeting meetingOf(int64_t rank, uint16_t port) {
  return {.rank = rank,
          .size = 2,
          .host = "127.0.0.1",
          .port = port,
          .job = "test",
          .secret = secret,
          .patience = std::chrono::seconds(10)};
}

} // namespace weir

#endif
