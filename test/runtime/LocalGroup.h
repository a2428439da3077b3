//===- LocalGroup.h - Processes of a run that are threads -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_RUNTIME_LOCALGROUP_H
#define WEIR_TEST_RUNTIME_LOCALGROUP_H

#include "runtime/core/Group.h"
#include "support/Error.h"
#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace weir {

/// What threads of a test share that are the ranks of a group. Exchanges are of all of them.
class LocalGroups {
public:
  explicit LocalGroups(int64_t size) : given(static_cast<size_t>(size)) {}

  /// Calls `body` as each rank, and returns what each fails with, "" where it does not.
  template <class Body> std::vector<std::string> run(Body body) {
    std::vector<std::string> failures(given.size());
    std::vector<std::jthread> threads;
    for (size_t rank = 0; rank < given.size(); ++rank)
      threads.emplace_back([&, rank] {
        One group(*this, int64_t(rank));
        try {
          body(static_cast<Group &>(group));
        } catch (const Failure &failure) {
          failures[rank] = failure.what();
        }
        std::lock_guard lock(mutex);
        ended = true;
        changed.notify_all();
      });
    threads.clear();
    return failures;
  }

  /// One of them, which exchanges nothing.
  std::unique_ptr<Group> alone(int64_t rank) { return std::make_unique<One>(*this, rank); }

private:
  class One : public Group {
  public:
    One(LocalGroups &all, int64_t own) : all(all), own(own) {}
    int64_t rank() const override { return own; }
    int64_t size() const override { return int64_t(all.given.size()); }
    int64_t neighbours() const override { return size(); }
    int64_t numberOnMachine() const override { return own; }
    void check(const std::string &, std::chrono::steady_clock::time_point) override {}
    void exchange(unsigned, std::span<const int64_t>, const std::string &what,
                  std::span<const std::span<const std::byte>> to,
                  std::span<const std::span<std::byte>> from) override {
      all.exchange(size_t(own), what, to, from);
    }
    void end() override {}
    void at(int64_t) override {}
    void recordWith(std::function<std::string()>) override {}
    void fail(Exit, const std::string &) override {}
    void finish() override {}

  private:
    LocalGroups &all;
    const int64_t own;
  };

  void exchange(size_t rank, const std::string &what,
                std::span<const std::span<const std::byte>> to,
                std::span<const std::span<std::byte>> from) {
    std::unique_lock lock(mutex);
    for (const auto &one : to)
      given[rank].emplace_back(one.begin(), one.end());
    words = arrived == 0 ? what : words;
    bool isSame = words == what;
    meet(lock);
    for (size_t other = 0; other < from.size(); ++other)
      if (isSame && !from[other].empty())
        std::ranges::copy(given[other][rank], from[other].begin());
    meet(lock);
    given[rank].clear();
    meet(lock);
    if (!isSame)
      throw GroupFailure(Exit::peer, "one is in " + words + " and one in " + what);
  }

  void meet(std::unique_lock<std::mutex> &lock) {
    size_t now = turn;
    if (++arrived == given.size()) {
      arrived = 0;
      ++turn;
      changed.notify_all();
    }
    changed.wait(lock, [&] { return turn != now || ended; });
    if (turn == now)
      throw GroupFailure(Exit::peer, "another rank has ended");
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::vector<std::vector<std::byte>>> given; // by each rank, to each
  std::string words;
  size_t arrived = 0, turn = 0;
  bool ended = false;
};

} // namespace weir

#endif
