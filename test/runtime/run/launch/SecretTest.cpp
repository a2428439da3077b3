//===- SecretTest.cpp - The secret of a run's ranks -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/launch/Secret.h"
#include "test/runtime/TestFiles.h"
#include <sys/stat.h>
#include <unistd.h>

using namespace weir;

namespace {

class Secret : public ::testing::Test {
protected:
  std::string write(const std::string &content, mode_t mode) {
    std::string path = folder.write("secret", content);
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }
  std::string refused(const std::string &path) {
    return messageOf(Exit::usage, [&] { readSecret(path.c_str()); });
  }
  TestFolder folder;
};

} // namespace

TEST_F(Secret, IsTheFileWithoutTheLinesEnd) {
  EXPECT_EQ(readSecret(nullptr), "");
  EXPECT_EQ(readSecret(""), "");
  EXPECT_EQ(readSecret(write("0123456789abcdef\r\n", 0600).c_str()), "0123456789abcdef");
  EXPECT_EQ(readSecret(write(std::string(4096, 'x'), 0400).c_str()), std::string(4096, 'x'));
  std::string link = folder / "link";
  ASSERT_EQ(symlink((folder / "secret").c_str(), link.c_str()), 0);
  EXPECT_EQ(readSecret(link.c_str()), std::string(4096, 'x'));
}

TEST_F(Secret, WhatOthersMayWriteIsRefused) {
  for (mode_t mode : {0620, 0660, 0664}) {
    std::string path = write("0123456789abcdef", mode);
    EXPECT_EQ(refused(path), "WEIR_JOB_SECRET_FILE=" + path + ": its group (gid " +
                                 std::to_string(getegid()) +
                                 ") may write to it; give a file of your own, with mode 600");
    // By a link to it as well.
    std::string link = folder / "link";
    unlink(link.c_str());
    ASSERT_EQ(symlink(path.c_str(), link.c_str()), 0);
    EXPECT_TRUE(says(refused(link), {"may write to it"}));
  }
  for (mode_t mode : {0602, 0666})
    EXPECT_TRUE(says(refused(write("0123456789abcdef", mode)), {"every user may write to it"}));
  if (geteuid() != 0)
    return;
  std::string path = write("0123456789abcdef", 0600);
  ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
  EXPECT_TRUE(says(refused(path), {"belongs to another user (uid 65534)"}));
}

TEST_F(Secret, WhatIsNoSecretIsRefused) {
  for (const std::string &content : {std::string("0123456789abcde\n"), std::string(4097, 'x')})
    EXPECT_TRUE(
        says(refused(write(content, 0600)), {"expected a readable file with 16 to 4096 bytes"}));
  EXPECT_TRUE(says(refused(folder / "absent"), {"16 to 4096 bytes", "No such file"}));
  EXPECT_TRUE(says(refused(folder.path.string()), {"16 to 4096 bytes"}));
  std::string pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(says(refused(pipe), {"16 to 4096 bytes"})); // and not waited for
}
