//===- OwnUserTest.cpp - Whose a process or a file is ---------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/system/OwnUser.h"
#include <fstream>
#include <gtest/gtest.h>
#include <optional>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace weir;

TEST(OwnUser, IsTheOneThatRuns) {
  EXPECT_TRUE(isOwnUser(geteuid()));
  EXPECT_FALSE(isOwnUser(geteuid() + 1));
}

/// What a process of user `inside` of a new user namespace answers; nothing where there is none.
static std::optional<bool> isOwnInside(uid_t inside) {
  const uid_t outside = geteuid();
  pid_t child = fork();
  if (child == 0) {
    if (unshare(CLONE_NEWUSER) != 0)
      _exit(2);
    std::ofstream("/proc/self/uid_map") << inside << " " << outside << " 1\n";
    _exit(geteuid() != inside ? 2 : isOwnUser(inside));
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
    return std::nullopt;
  return WEXITSTATUS(status) == 1;
}

/// All strangers look as 65534 does.
TEST(OwnUser, IsNotCertainForTheOverflowUserOfANamespace) {
  std::optional<bool> ofUsual = isOwnInside(1000), ofOverflow = isOwnInside(65534);
  if (!ofUsual || !ofOverflow)
    GTEST_SKIP() << "this machine allows no user namespaces";
  EXPECT_TRUE(*ofUsual);
  EXPECT_FALSE(*ofOverflow);
}

TEST(OwnUser, TheOtherEndOfOwnSocketIsNoStranger) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  EXPECT_EQ(strangerAt(ends[0]), std::nullopt);
  close(ends[0]);
  close(ends[1]);
}

TEST(OwnUser, WhoeverTheKernelDoesNotNameIsAStranger) {
  EXPECT_EQ(strangerAt(-1), std::optional(uid_t(-1)));
  int tcp = socket(AF_INET, SOCK_STREAM, 0); // its other end has no user
  EXPECT_EQ(strangerAt(tcp), std::optional(uid_t(-1)));
  close(tcp);
}
