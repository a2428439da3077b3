//===- LinkRelay.h - A stranger between two ranks, for tests --------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_RUNTIME_COLLECTIVES_LINKRELAY_H
#define WEIR_TEST_RUNTIME_COLLECTIVES_LINKRELAY_H

#include "test/runtime/collectives/FreePort.h"
#include <atomic>
#include <functional>
#include <mutex>
#include <poll.h>
#include <string>
#include <thread>
#include <vector>

namespace weir {

/// A TCP socket of the loopback interface that is connected to `port`; -1 where nobody listens.
inline int connectToPort(uint16_t port) {
  int file = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  if (connect(file, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0)
    return file;
  close(file);
  return -1;
}

/// Listens in a rank's place, and passes on what comes to that rank, and back.
class LinkRelay {
public:
  /// Changes what is passed on: to who listens, or to who has called.
  using Edit = std::function<void(bool toListener, std::string &bytes)>;

  /// `edit` is called for all connections, from one thread.
  explicit LinkRelay(
      uint16_t target, Edit edit = [](bool, std::string &) {})
      : port(freePort()), target(target), edit(std::move(edit)) {
    listening = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    EXPECT_EQ(bind(listening, reinterpret_cast<sockaddr *>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listening, 99), 0);
    thread = std::jthread([this](std::stop_token over) { run(over); });
  }
  ~LinkRelay() {
    thread.request_stop();
    thread.join();
    close(listening);
    for (const Pair &pair : pairs) {
      close(pair.caller);
      close(pair.listener);
    }
  }

  /// All that has come, of both ends.
  std::string recorded() {
    std::lock_guard lock(mutex);
    return said;
  }
  int connections() const { return count; }

  const uint16_t port;

private:
  struct Pair {
    int caller, listener;
  };

  void run(const std::stop_token &over) {
    while (!over.stop_requested()) {
      std::vector<pollfd> files{{listening, POLLIN, 0}};
      for (const Pair &pair : pairs) {
        files.push_back({pair.caller, POLLIN, 0});
        files.push_back({pair.listener, POLLIN, 0});
      }
      poll(files.data(), files.size(), 20);
      for (size_t i = pairs.size(); i-- > 0;) {
        bool isOpen =
            (!files[2 * i + 1].revents || pass(pairs[i].caller, pairs[i].listener, true)) &&
            (!files[2 * i + 2].revents || pass(pairs[i].listener, pairs[i].caller, false));
        if (isOpen)
          continue;
        close(pairs[i].caller);
        close(pairs[i].listener);
        pairs.erase(pairs.begin() + ptrdiff_t(i));
      }
      if (int caller = accept(listening, nullptr, nullptr); caller >= 0) {
        pairs.push_back({caller, connectToPort(target)});
        ++count;
      }
    }
  }

  /// What there is. Ranks always read, so that a blocking send comes to its end.
  bool pass(int from, int to, bool toListener) {
    char some[1 << 16];
    ssize_t got = recv(from, some, sizeof some, MSG_DONTWAIT);
    if (got <= 0)
      return false;
    std::string bytes(some, size_t(got));
    {
      std::lock_guard lock(mutex);
      said += bytes;
    }
    edit(toListener, bytes);
    return send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL) == ssize_t(bytes.size());
  }

  const uint16_t target;
  const Edit edit;
  int listening;
  std::vector<Pair> pairs;
  std::atomic<int> count = 0;
  std::mutex mutex;
  std::string said;
  std::jthread thread;
};

} // namespace weir

#endif
