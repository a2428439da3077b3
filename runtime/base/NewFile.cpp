//===- NewFile.cpp - A file that takes its place when it is whole ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/NewFile.h"
#include "runtime/base/Error.h"
#include "runtime/base/Text.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace weir {

/// The user whose link the path is, where following it could harm this one: as the kernel has it
/// (fs.protected_symlinks), in a sticky folder that all may write to, such as /tmp, only the
/// folder's owner and this user make links that are followed.
static std::optional<uid_t> strangersLink(const std::string &path) {
  struct stat link{}, folder{};
  std::string parent = std::filesystem::path(path).parent_path().string();
  if (lstat(path.c_str(), &link) != 0 || !S_ISLNK(link.st_mode) || link.st_uid == geteuid() ||
      stat(parent.empty() ? "." : parent.c_str(), &folder) != 0)
    return std::nullopt;
  bool isForAll = (folder.st_mode & S_ISVTX) && (folder.st_mode & S_IWOTH);
  return isForAll && link.st_uid != folder.st_uid ? std::optional(link.st_uid) : std::nullopt;
}

NewFile::NewFile(std::string path, unsigned mode) : target(std::move(path)), place(target) {
  if (std::optional<uid_t> stranger = strangersLink(target))
    throw Failure(Exit::storage,
                  concat(target, ": cannot write: it is a link of another user (uid ", *stranger,
                         ") in a folder that all users may write to"));
  std::error_code error;
  auto status = std::filesystem::status(target, error);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    file = ::open(place.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    renamed = target;
    if (std::filesystem::is_symlink(target, error)) {
      renamed = std::filesystem::weakly_canonical(target, error).string();
      if (error)
        fail(error.value());
    }
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
