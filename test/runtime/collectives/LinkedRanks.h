//===- LinkedRanks.h - Links between threads, for tests -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_RUNTIME_COLLECTIVES_LINKEDRANKS_H
#define WEIR_TEST_RUNTIME_COLLECTIVES_LINKEDRANKS_H

#include "runtime/collectives/Plugin.h"
#include <algorithm>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace weir::collectives {

constexpr char linksSecret[] = "sixteen letters!";

/// Without a secret Gloo's links where `secret` is "", and those of one user where it is null.
inline Links::Settings linkSettings(int64_t rank, int64_t size, const char *secret) {
  return {.rank = rank,
          .size = size,
          .interface = "127.0.0.1",
          .secret = secret ? secret : "",
          .isOneUser = !secret,
          .run = "1 test",
          .patience = std::chrono::seconds(20)};
}

/// Of tests that have the secret as their parameter.
inline std::string nameOfLinks(const ::testing::TestParamInfo<const char *> &info) {
  return !info.param ? "Unix" : *info.param ? "Tls" : "Gloo";
}

/// Links of all ranks of a run, in one process.
class LinkedRanks {
public:
  using Change = std::function<void(Links::Settings &)>;

  explicit LinkedRanks(
      int64_t size, const char *secret, const Change &change = [](Links::Settings &) {}) {
    for (int64_t rank = 0; rank < size; ++rank) {
      Links::Settings own = linkSettings(rank, size, secret);
      change(own);
      links.push_back(linksPlugin().make(own));
      said.push_back(links.back()->addresses());
    }
  }

  /// What rank `of` has told `to`: where it is reached.
  std::string &address(int64_t of, int64_t to) { return said[size_t(of)][size_t(to)]; }

  /// Returns what each fails with, "" where it does not. A rank that is connected does `then`
  /// without waiting for the others.
  std::vector<std::string> connect(const std::function<void(size_t rank)> &then = [](size_t) {}) {
    std::vector<std::string> failures(links.size());
    std::vector<std::jthread> threads;
    for (size_t rank = 0; rank < links.size(); ++rank)
      threads.emplace_back([&, rank] {
        std::vector<std::string> heard;
        for (const auto &one : said)
          heard.push_back(one[rank]);
        try {
          links[rank]->connect(heard);
          then(rank);
        } catch (const std::exception &error) {
          failures[rank] = error.what();
        }
      });
    threads.clear();
    return failures;
  }

  Links &operator[](int64_t rank) { return *links[size_t(rank)]; }
  void end(int64_t rank) { links[size_t(rank)].reset(); }

private:
  std::vector<std::unique_ptr<Links>> links;
  std::vector<std::vector<std::string>> said;
};

/// Bytes that are on their way, and what they are on their way with.
struct Sack {
  Sack(Links &links, size_t size, std::byte value = {})
      : bytes(size), buffer(links.buffer(bytes.data(), bytes.size())) {
    if (size > 0)
      std::memset(bytes.data(), int(value), size);
  }
  /// By functions of libc: a loop takes minutes with sanitizers.
  bool isAll(std::byte value) const {
    return bytes.empty() ||
           (bytes[0] == value && !std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1));
  }

  std::vector<std::byte> bytes;
  std::unique_ptr<Buffer> buffer;
};

} // namespace weir::collectives

#endif
