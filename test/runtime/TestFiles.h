//===- TestFiles.h - Files and failures that tests make -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TEST_RUNTIME_TESTFILES_H
#define WEIR_TEST_RUNTIME_TESTFILES_H

#include "support/Error.h"
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>

namespace weir {

/// A directory that goes away with the test.
class TestFolder {
public:
  TestFolder() {
    // In memory where there is such a place: tests sync files hundreds of times.
    std::filesystem::path shared = "/dev/shm";
    if (!std::filesystem::is_directory(shared))
      shared = std::filesystem::temp_directory_path();
    std::string pattern = (shared / "weir-test-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string operator/(const std::string &name) const { return (path / name).string(); }
  std::string write(const std::string &name, const std::string &content) const {
    std::ofstream(path / name, std::ios::binary) << content;
    return *this / name;
  }
  std::filesystem::path path;
};

inline std::string readAll(const std::filesystem::path &path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

/// `value`'s bytes, for file contents.
template <typename T> std::string raw(T value, bool bigEndian = false) {
  std::string bytes(reinterpret_cast<const char *>(&value), sizeof value);
  return bigEndian ? std::string(bytes.rbegin(), bytes.rend()) : bytes;
}

/// The message of the Failure that `body` throws, which has to have this exit status.
template <typename Body> std::string messageOf(Exit exit, Body body) {
  try {
    body();
  } catch (const Failure &failure) {
    EXPECT_EQ(static_cast<int>(failure.exit), static_cast<int>(exit)) << failure.what();
    return failure.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

/// Whether each of `words` is in `message`.
inline ::testing::AssertionResult says(const std::string &message,
                                       std::initializer_list<std::string> words) {
  for (const std::string &word : words)
    if (message.find(word) == std::string::npos)
      return ::testing::AssertionFailure() << "'" << word << "' is not in: " << message;
  return ::testing::AssertionSuccess();
}

} // namespace weir

#endif
