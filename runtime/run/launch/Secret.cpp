//===- Secret.cpp - The secret of a run's ranks ---------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/run/launch/Secret.h"
#include "runtime/report/Say.h"
#include "support/Error.h"
#include "support/Text.h"
#include "support/system/OwnUser.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weir {
namespace {

constexpr size_t least = 16, most = 4096; // bytes

/// An open file, which is the one that was looked at, whatever its name means later.
class OpenFile {
public:
  /// Links are followed. A pipe that nobody writes to is not waited for.
  explicit OpenFile(const char *path)
      : file(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)), error(file < 0 ? errno : 0) {}
  OpenFile(const OpenFile &) = delete;
  OpenFile &operator=(const OpenFile &) = delete;
  ~OpenFile() {
    if (file >= 0)
      close(file);
  }
  /// Why it was not opened; 0 where it was.
  int reason() const { return error; }
  bool isRegular(struct stat &status) const {
    return fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  }
  /// As much as there is, up to `size` bytes.
  std::string read(size_t size) const {
    std::string bytes(size, '\0');
    size_t at = 0;
    for (ssize_t got = 1; got > 0 && at < size; at += size_t(std::max<ssize_t>(got, 0)))
      got = ::read(file, bytes.data() + at, size - at);
    bytes.resize(at);
    return bytes;
  }

private:
  int file, error;
};

Failure refuse(const char *path, const std::string &why) {
  return Failure(Exit::usage, concat("WEIR_JOB_SECRET_FILE=", path, ": ", why));
}

/// Whoever owns the secret, or may write to it, can take part in the run. Containers are given
/// files of root's.
void requireOwn(const char *path, const struct stat &status) {
  std::string whose;
  if (!isOwnUser(status.st_uid) && status.st_uid != 0)
    whose = concat("belongs to another user (uid ", status.st_uid, ")");
  else if (status.st_mode & S_IWOTH)
    whose = "every user may write to it";
  else if (status.st_mode & S_IWGRP)
    whose = concat("its group (gid ", status.st_gid, ") may write to it");
  if (!whose.empty())
    throw refuse(path, whose + "; give a file of your own, with mode 600");
  if (status.st_uid == geteuid() && (status.st_mode & S_IROTH))
    say(concat("warning: WEIR_JOB_SECRET_FILE=", path,
               ": every user of this machine can read the secret; chmod 600 it"));
}

} // namespace

std::string readSecret(const char *path) {
  if (!path || !*path)
    return "";
  OpenFile file(path);
  struct stat status{};
  std::string secret;
  if (!file.reason() && file.isRegular(status)) {
    requireOwn(path, status);
    secret = file.read(most + 1);
    while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r'))
      secret.pop_back();
  }
  if (secret.size() < least || secret.size() > most)
    throw refuse(path, concat("expected a readable file with ", least, " to ", most,
                              " bytes that nobody can guess",
                              file.reason() ? concat(": ", std::strerror(file.reason())) : ""));
  return secret;
}

} // namespace weir
