//===- MappedFile.cpp - A file's bytes, read only -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/data/MappedFile.h"
#include "support/Text.h"
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

namespace weir {

/// One of a list that only grows, so that the handler walks it without a lock; the place of a
/// mapping that is gone is used again.
struct MappedFile::Place {
  std::atomic<bool> taken{true};
  std::atomic<const std::byte *> start{nullptr};
  std::atomic<size_t> size{0};
  std::atomic<bool> torn{false};
  Place *next = nullptr;

  static std::atomic<Place *> all;
  static Place *take(const std::byte *start, size_t size);
  static void handle(int signal, siginfo_t *info, void *context);
};

std::atomic<MappedFile::Place *> MappedFile::Place::all{nullptr};

static struct sigaction previousHandler;

void MappedFile::Place::handle(int signal, siginfo_t *info, void *context) {
  auto *at = static_cast<const std::byte *>(info->si_addr);
  for (Place *place = all.load(); place; place = place->next) {
    const std::byte *start = place->start.load();
    if (!start || at < start || at >= start + place->size.load())
      continue;
    // From the page that is missing to the end, since all behind it are missing as well.
    auto page = reinterpret_cast<uintptr_t>(at) & ~uintptr_t(sysconf(_SC_PAGESIZE) - 1);
    auto *from = reinterpret_cast<std::byte *>(page);
    place->torn = true;
    int before = errno;
    void *zeros = mmap(from, start + place->size.load() - from, PROT_READ,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    errno = before;
    if (zeros != MAP_FAILED)
      return;
  }
  // Not ours: as if this handler were not there.
  if (previousHandler.sa_flags & SA_SIGINFO)
    return previousHandler.sa_sigaction(signal, info, context);
  sigaction(SIGBUS, &previousHandler, nullptr);
}

MappedFile::Place *MappedFile::Place::take(const std::byte *start, size_t size) {
  static std::mutex mutex;
  static bool handles = false;
  std::lock_guard lock(mutex);
  if (!handles) {
    struct sigaction action = {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &previousHandler);
    handles = true;
  }
  Place *place = all.load();
  while (place && place->taken)
    place = place->next;
  if (!place) {
    place = new Place;
    place->next = all.load();
    all = place;
  }
  place->taken = true;
  place->torn = false;
  place->size = size;
  place->start = start;
  return place;
}

std::shared_ptr<const MappedFile> MappedFile::open(const std::string &path, Exit exit) {
  auto fail = [&](const char *what) {
    int reason = errno;
    return Unreadable(isScarce(reason) ? Exit::device : exit,
                      concat(path, ": ", what, ": ", std::strerror(reason)));
  };
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
    throw Failure(exit, concat(path, ": cannot open: ", std::strerror(errno)));
  if (file < 0)
    throw fail("cannot open");
  struct stat info;
  if (fstat(file, &info) != 0) {
    Unreadable failure = fail("cannot read");
    ::close(file);
    throw failure;
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(file);
    throw Failure(exit, concat(path, ": is ",
                               S_ISDIR(info.st_mode) ? "a directory" : "not a regular file",
                               "; expected a file"));
  }
  size_t size = static_cast<size_t>(info.st_size);
  void *start = nullptr;
  if (size > 0) {
    start = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (start == MAP_FAILED) {
      Unreadable failure = fail("cannot map");
      ::close(file);
      throw failure;
    }
  }
  return std::shared_ptr<const MappedFile>(
      new MappedFile(path, exit, file, static_cast<const std::byte *>(start), info));
}

MappedFile::MappedFile(std::string path, Exit exit, int file, const std::byte *start,
                       const struct stat &info)
    : path(std::move(path)), exit(exit), file(file), start(start),
      size(static_cast<size_t>(info.st_size)), written(info.st_mtim) {
  if (size > 0)
    place = Place::take(start, size);
}

MappedFile::~MappedFile() {
  if (place) {
    place->start = nullptr;
    munmap(const_cast<std::byte *>(start), size);
    place->taken = false;
  }
  ::close(file);
}

void MappedFile::requireIntact() const {
  struct stat now;
  bool known = fstat(file, &now) == 0;
  if (known && static_cast<size_t>(now.st_size) != size)
    throw Unreadable(exit, concat(path, ": was changed while it was in use: it had ", size,
                                  " bytes, now ", now.st_size));
  if (known && (now.st_mtim.tv_sec != written.tv_sec || now.st_mtim.tv_nsec != written.tv_nsec))
    throw Unreadable(exit, concat(path, ": was written to while it was in use"));
  if (place && place->torn)
    throw Unreadable(
        exit, concat(path, ": can no longer be read; check that its disk is still attached"));
}

} // namespace weir
