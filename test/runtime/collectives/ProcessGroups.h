//===- ProcessGroups.h - Ranks that are threads, for tests ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A group knows of the others what comes over the network alone.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_RUNTIME_COLLECTIVES_PROCESSGROUPS_H
#define WEIR_TEST_RUNTIME_COLLECTIVES_PROCESSGROUPS_H

#include "runtime/collectives/Consensus.h"
#include "runtime/collectives/Plugin.h"
#include "runtime/collectives/Processes.h"
#include "support/Text.h"
#include "test/runtime/collectives/FreePort.h"
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace weir::collectives {

inline Processes::Settings settings(int64_t rank, int64_t size, uint16_t port) {
  Processes::Settings settings;
  settings.meeting = {.rank = rank,
                      .size = size,
                      .host = "127.0.0.1",
                      .port = port,
                      .job = "test",
                      .patience = std::chrono::seconds(20)};
  settings.silence = std::chrono::seconds(2);
  settings.timeout = std::chrono::seconds(20);
  return settings;
}

using Change = std::function<void(Processes::Settings &)>;
using Body = std::function<void(Processes &)>;

/// Runs `body` as each rank, and returns what each fails with, "" where it does not.
inline std::vector<std::string> onAll(
    int64_t size, const Body &body, const Change &change = [](Processes::Settings &) {},
    const LinksPlugin &plugin = linksPlugin()) {
  uint16_t port = freePort();
  std::vector<std::string> failures(static_cast<size_t>(size));
  std::vector<std::jthread> threads;
  for (int64_t rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      try {
        Processes::Settings own = settings(rank, size, port);
        change(own);
        Processes group(own, plugin);
        try {
          body(group);
          group.finish();
        } catch (const Failure &failure) {
          failures[size_t(rank)] = concat(int(failure.exit), " ", failure.what());
          group.fail(failure.exit, failure.what());
        }
      } catch (const Failure &failure) {
        failures[size_t(rank)] = concat(int(failure.exit), " ", failure.what());
      }
    });
  threads.clear();
  return failures;
}

inline const std::vector<std::string> none(4);

/// Ranks 0 and 1 give each other a number.
inline void swap(Group &group, const std::string &what) { fromAll(group, what, group.rank()); }

/// What meeting fails with, "" where it does not; NotMet where trying again is of no use.
inline std::string meets(Processes::Settings own, const Body &body = [](Processes &) {}) {
  try {
    Processes group(own, linksPlugin());
    body(group);
    return "";
  } catch (const NotMet &failure) {
    return concat("not met: ", failure.what());
  } catch (const Failure &failure) {
    return failure.what();
  }
}

} // namespace weir::collectives

#endif
