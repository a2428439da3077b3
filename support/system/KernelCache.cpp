//===- KernelCache.cpp - Compiled kernels that outlive the process --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/system/KernelCache.h"
#include "support/system/NewFile.h"
#include "support/system/OwnUser.h"
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <iostream>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace weir {
namespace {

/// At the head of a file: the hash of its name and of what follows.
struct Mark {
  char magic[8];
  uint64_t hash;
};
constexpr char magic[8] = {'w', 'e', 'i', 'r', 'k', 'e', 'r', '1'};

std::string userFolder() {
  auto named = [](const char *name) {
    const char *value = std::getenv(name);
    return std::string(value ? value : "");
  };
  if (std::string folder = named("WEIR_KERNEL_CACHE"); !folder.empty())
    return folder;
  // One that is relative is to be ignored (XDG Base Directory Specification).
  if (std::string folder = named("XDG_CACHE_HOME"); folder.starts_with('/'))
    return folder + "/weir/kernels";
  std::string home = named("HOME");
  return home.empty() ? "" : home + "/.cache/weir/kernels";
}

uint64_t hashOf(const std::string &path, std::span<const char> code) {
  std::string name = std::filesystem::path(path).filename().string();
  return XXH3_64bits_withSeed(code.data(), code.size(), XXH3_64bits(name.data(), name.size()));
}

/// Whether nobody but this user may have written it.
bool isOwn(const struct stat &status) {
  return isOwnUser(status.st_uid) && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// Whether the folder is there, made if need be, and this user's alone. A folder that is this
/// user's, and that others may write to since the umask let them, is closed to them. A warning
/// tells of another user's.
bool isOwnFolder(const std::string &folder) {
  std::error_code none;
  std::filesystem::create_directories(std::filesystem::path(folder).parent_path(), none);
  mkdir(folder.c_str(), S_IRWXU);
  struct stat status{};
  if (stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    return false;
  if (isOwnUser(status.st_uid) && !isOwn(status) &&
      chmod(folder.c_str(), status.st_mode & ~mode_t(S_IWGRP | S_IWOTH) & 07777) == 0 &&
      stat(folder.c_str(), &status) != 0)
    return false;
  if (isOwn(status))
    return true;
  static std::atomic<bool> isTold = false; // several devices, and compiles, have a cache each
  if (isTold.exchange(true))
    return false;
  std::cerr << "warning: the cache of kernels, " << folder << ", is not used: "
            << (isOwnUser(status.st_uid)
                    ? "other users may write to it"
                    : "it belongs to another user (uid " + std::to_string(status.st_uid) + ")")
            << "; name a folder of your own in WEIR_KERNEL_CACHE\n";
  return false;
}

/// What it has, where it is a regular file that this user alone may write to; no link is followed,
/// and nothing that is no file is opened for long. Its time becomes now: it has been used.
std::optional<std::vector<char>> readOwn(const std::string &path) {
  int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0)
    return std::nullopt;
  std::optional<std::vector<char>> bytes;
  struct stat status{};
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && isOwn(status)) {
    bytes.emplace(size_t(status.st_size));
    size_t at = 0;
    for (ssize_t got = 1; got > 0 && at < bytes->size(); at += size_t(std::max<ssize_t>(got, 0)))
      got = read(file, bytes->data() + at, bytes->size() - at);
    bytes->resize(at);
    futimens(file, nullptr);
  }
  close(file);
  return bytes;
}

} // namespace

KernelCache::KernelCache(std::string kind, uint64_t mostBytes)
    : kind(std::move(kind)), mostBytes(mostBytes), folder(userFolder()) {
  if (!folder.empty() && !isOwnFolder(folder))
    folder.clear();
}

std::string KernelCache::placeOf(std::string_view source) const {
  return folder + "/" + hashText(source) + "." + kind;
}

std::optional<std::vector<char>> KernelCache::find(std::string_view source) const {
  if (folder.empty())
    return std::nullopt;
  std::string path = placeOf(source);
  std::optional<std::vector<char>> bytes = readOwn(path);
  Mark mark;
  if (!bytes || bytes->size() <= sizeof mark)
    return std::nullopt;
  std::memcpy(&mark, bytes->data(), sizeof mark);
  bytes->erase(bytes->begin(), bytes->begin() + sizeof mark);
  if (std::memcmp(mark.magic, magic, sizeof magic) != 0 || hashOf(path, *bytes) != mark.hash)
    return std::nullopt;
  return bytes;
}

void KernelCache::keep(std::string_view source, std::span<const char> code) const {
  if (folder.empty())
    return;
  std::string path = placeOf(source);
  // What is no file, such as a FIFO, is left alone.
  struct stat status{};
  if (lstat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return;
  try {
    Mark mark;
    std::memcpy(mark.magic, magic, sizeof magic);
    mark.hash = hashOf(path, code);
    NewFile file(path, S_IRUSR | S_IWUSR);
    file.write(reinterpret_cast<const std::byte *>(&mark), sizeof mark);
    file.write(reinterpret_cast<const std::byte *>(code.data()), code.size());
    file.finish();
  } catch (const std::exception &) {
    return; // the next process compiles it again
  }
  // Now and then, whichever process it is.
  if (std::filesystem::path(path).filename().string().starts_with("00"))
    removeOldest();
}

void KernelCache::removeOldest() const {
  struct Entry {
    std::filesystem::file_time_type used;
    uint64_t bytes;
    std::filesystem::path path;
    auto operator<=>(const Entry &) const = default;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code error; // another process may remove the same
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code gone;
    if (at->path().extension() != "." + kind || !at->is_regular_file(gone))
      continue;
    Entry entry{at->last_write_time(gone), at->file_size(gone), at->path()};
    if (gone)
      continue;
    total += entry.bytes;
    entries.push_back(std::move(entry));
  }
  if (total <= mostBytes)
    return;
  std::ranges::sort(entries);
  for (const Entry &entry : entries) {
    if (total <= mostBytes / 2)
      return;
    std::filesystem::remove(entry.path, error);
    total -= entry.bytes;
  }
}

std::string hashText(std::string_view text) {
  XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  char digits[40];
  std::snprintf(digits, sizeof digits, "%016llx%016llx",
                static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return digits;
}

} // namespace weir
