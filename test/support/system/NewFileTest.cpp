//===- NewFileTest.cpp - A file that takes its place when it is whole -----===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/system/NewFile.h"
#include "support/Error.h"
#include "test/runtime/TestFiles.h"
#include <sys/stat.h>
#include <unistd.h>

using namespace weir;

namespace {

constexpr uid_t stranger = 65534;

void write(const std::string &path, const std::string &text, unsigned mode = 0666) {
  NewFile file(path, mode);
  file.write(reinterpret_cast<const std::byte *>(text.data()), text.size());
  file.finish();
}

} // namespace

TEST(NewFile, HasTheModeThatIsAskedFor) {
  TestFolder folder;
  write(folder / "a", "new", 0600);
  struct stat status{};
  ASSERT_EQ(stat((folder / "a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(NewFile, ReplacesWhatItsOwnLinkLeadsTo) {
  TestFolder folder;
  folder.write("target", "old");
  std::filesystem::create_symlink(folder / "target", folder / "link");
  write(folder / "link", "new");
  EXPECT_EQ(readAll(folder / "target"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
}

TEST(NewFile, FollowsRelativeLinksAndEndsInALoop) {
  TestFolder folder;
  std::filesystem::create_directory(folder / "sub");
  std::filesystem::create_symlink("../later", folder / "sub/link");
  std::filesystem::create_symlink("sub/link", folder / "link");
  write(folder / "link", "new");
  EXPECT_EQ(readAll(folder / "later"), "new");
  std::filesystem::create_symlink("loop", folder / "loop");
  EXPECT_EQ(messageOf(Exit::storage, [&] { write(folder / "loop", "new"); }),
            (folder / "loop") + ": cannot write: Too many levels of symbolic links");
}

/// As in /tmp, which the kernel guards for who opens a path, and not for who reads a link.
TEST(NewFile, FollowsNoLinkOfAnotherUser) {
  if (geteuid() != 0)
    GTEST_SKIP() << "a link of another user is made by root alone";
  TestFolder folder;
  folder.write("target", "old");
  std::filesystem::create_symlink(folder / "target", folder / "link");
  ASSERT_EQ(lchown((folder / "link").c_str(), stranger, stranger), 0);
  ASSERT_EQ(chmod(folder.path.c_str(), 01777), 0);
  EXPECT_EQ(messageOf(Exit::storage, [&] { write(folder / "link", "new"); }),
            (folder / "link") +
                ": cannot write: it is a link of another user (uid 65534) in a folder "
                "that all users may write to");
  EXPECT_EQ(readAll(folder / "target"), "old");
  // By way of a link of its own, too; and no FIFO is waited for.
  std::filesystem::create_symlink("link", folder / "own");
  EXPECT_EQ(messageOf(Exit::storage, [&] { write(folder / "own", "new"); }),
            (folder / "own") + ": cannot write: " + (folder / "link") +
                " is a link of another user (uid 65534) in a folder that all users may write to");
  ASSERT_EQ(mkfifo((folder / "fifo").c_str(), 0600), 0);
  ASSERT_EQ(chown((folder / "fifo").c_str(), stranger, stranger), 0);
  EXPECT_EQ(messageOf(Exit::storage, [&] { write(folder / "fifo", "new"); }),
            (folder / "fifo") + ": cannot write: it is a FIFO of another user (uid 65534) in a "
                                "folder that all users may write to");
  // A colleague's link in a folder that is shared on purpose is followed.
  ASSERT_EQ(chmod(folder.path.c_str(), 0770), 0);
  write(folder / "link", "new");
  EXPECT_EQ(readAll(folder / "target"), "new");
}
