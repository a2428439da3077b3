//===- NewFile.cpp - A file that takes its place when it is whole ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/system/NewFile.h"
#include "support/Error.h"
#include "support/Text.h"
#include "support/system/OwnUser.h"
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace weir {

/// Where following the path's link, or opening its FIFO, could harm this user: as the kernel has it
/// (fs.protected_symlinks, fs.protected_fifos), in a sticky folder that all may write to, such as
/// /tmp, only the folder's owner and this user make what is followed or opened.
static bool isStrangers(const std::string &path, const struct stat &there) {
  struct stat folder{};
  std::string parent = std::filesystem::path(path).parent_path().string();
  if (isOwnUser(there.st_uid) || stat(parent.empty() ? "." : parent.c_str(), &folder) != 0)
    return false;
  bool isForAll = (folder.st_mode & S_ISVTX) && (folder.st_mode & S_IWOTH);
  return isForAll && there.st_uid != folder.st_uid;
}

/// Throws where what is at `place` is a link or a FIFO of a stranger's.
void NewFile::requireNoStrangers(const struct stat &there) const {
  bool isLink = S_ISLNK(there.st_mode);
  if ((isLink || S_ISFIFO(there.st_mode)) && isStrangers(place, there))
    throw Failure(Exit::storage,
                  concat(target, ": cannot write: ", place == target ? "it" : place, " is a ",
                         isLink ? "link" : "FIFO", " of another user (uid ", there.st_uid,
                         ") in a folder that all users may write to"));
}

/// Replaces `place` by where its links lead. What is read is the link whose owner was looked at,
/// even if another one has taken its place since.
void NewFile::followLinks() {
  constexpr int most = 40; // as the kernel
  for (int links = 0; links < most; ++links) {
    int there = ::open(place.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (there < 0 && errno == ENOENT)
      return;
    struct stat status{};
    char text[PATH_MAX];
    bool isKnown = there >= 0 && fstat(there, &status) == 0;
    ssize_t size =
        isKnown && S_ISLNK(status.st_mode) ? readlinkat(there, "", text, sizeof text) : 0;
    int reason = errno;
    if (there >= 0)
      ::close(there);
    if (!isKnown || size < 0)
      fail(reason);
    if (!S_ISLNK(status.st_mode))
      return;
    requireNoStrangers(status);
    // An absolute path takes the place of all ahead of it.
    place = (std::filesystem::path(place).parent_path() / std::string(text, size_t(size))).string();
  }
  fail(ELOOP);
}

NewFile::NewFile(std::string path, unsigned mode) : target(std::move(path)), place(target) {
  struct stat link{}, there{};
  if (lstat(place.c_str(), &link) == 0)
    requireNoStrangers(link);
  if (stat(place.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) {
    file = ::open(place.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    followLinks();
    renamed = place;
    // Nothing that is there already is written to, whatever it leads to.
    for (int number = 0; number == 0 || (file < 0 && errno == EEXIST); ++number) {
      place = concat(renamed, ".", getpid(), ".", number, ".tmp");
      file = ::open(place.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    }
  }
  if (file < 0)
    fail(errno);
  made = !renamed.empty();
}

NewFile::~NewFile() { discard(); }

void NewFile::discard() {
  if (file >= 0)
    ::close(file);
  file = -1;
  if (made)
    ::unlink(place.c_str());
  made = false;
}

void NewFile::fail(int reason) {
  discard();
  throw Failure(isScarce(reason) ? Exit::device : Exit::storage,
                concat(target, ": cannot write: ", std::strerror(reason)));
}

void NewFile::write(const std::byte *data, size_t size) {
  while (size > 0) {
    ssize_t wrote = ::write(file, data, size);
    if (wrote < 0 && errno == EINTR)
      continue;
    if (wrote <= 0)
      fail(errno);
    data += wrote;
    size -= wrote;
  }
}

void NewFile::finish() {
  int closing = file;
  file = -1;
  if (::close(closing) != 0 || (made && ::rename(place.c_str(), renamed.c_str()) != 0))
    fail(errno);
  made = false;
}

} // namespace weir
