//===- HostStore.cpp - Bytes that a device has no room for ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/core/HostStore.h"
#include "support/Error.h"
#include "support/Text.h"
#include <cstring>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace weir {
namespace {

class MemoryStore : public HostStore {
public:
  explicit MemoryStore(uint64_t bytes) : bytes(bytes) {
    mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED)
      throw Failure(Exit::device,
                    concat("not enough memory for what lies with the host: ", bytes,
                           " bytes are needed; --offload-dir DIR puts them into a file"));
  }
  ~MemoryStore() override { munmap(mapping, bytes); }
  void read(uint64_t from, std::span<std::byte> to) override {
    std::memcpy(to.data(), data() + from, to.size());
  }
  void write(uint64_t to, std::span<const std::byte> from) override {
    std::memcpy(data() + to, from.data(), from.size());
  }

private:
  std::byte *data() const { return static_cast<std::byte *>(mapping); }
  void *mapping = nullptr;
  const uint64_t bytes;
};

class FileStore : public HostStore {
public:
  FileStore(uint64_t bytes, std::string inFolder) : folder(std::move(inFolder)) {
    file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
      file = openUnlinked();
    if (file < 0)
      fail("make a file there", errno);
    if (int reason = ::posix_fallocate(file, 0, off_t(bytes))) {
      ::close(file);
      fail(concat("set ", bytes, " bytes aside there"), reason);
    }
  }
  ~FileStore() override { ::close(file); }

  void read(uint64_t from, std::span<std::byte> to) override {
    while (!to.empty()) {
      ssize_t got = ::pread(file, to.data(), to.size(), off_t(from));
      if (got < 0 && errno == EINTR)
        continue;
      if (got <= 0)
        fail("read back what was put there", got < 0 ? errno : EIO);
      to = to.subspan(size_t(got));
      from += uint64_t(got);
    }
  }

  void write(uint64_t to, std::span<const std::byte> from) override {
    while (!from.empty()) {
      ssize_t wrote = ::pwrite(file, from.data(), from.size(), off_t(to));
      if (wrote < 0 && errno == EINTR)
        continue;
      if (wrote <= 0)
        fail("write there", wrote < 0 ? errno : EIO);
      from = from.subspan(size_t(wrote));
      to += uint64_t(wrote);
    }
  }

private:
  /// Where the file system makes no nameless files.
  int openUnlinked() const {
    std::string name = folder + "/weir-XXXXXX";
    int made = ::mkostemp(name.data(), O_CLOEXEC);
    if (made >= 0)
      ::unlink(name.c_str());
    return made;
  }

  [[noreturn]] void fail(const std::string &what, int reason) const {
    throw Failure(isScarce(reason) ? Exit::device : Exit::storage,
                  concat("--offload-dir ", folder, ": cannot ", what, ": ", std::strerror(reason)));
  }

  const std::string folder;
  int file = -1;
};

} // namespace

std::unique_ptr<HostStore> makeHostStore(uint64_t bytes, const std::string &folder) {
  if (bytes == 0 && !folder.empty())
    throw Failure(Exit::usage, concat("--offload-dir ", folder,
                                      ": nothing of this artifact lies with the host; compile "
                                      "the model with --offload, and in so little --memory that "
                                      "something has to"));
  if (bytes == 0)
    return nullptr;
  if (folder.empty())
    return std::make_unique<MemoryStore>(bytes);
  return std::make_unique<FileStore>(bytes, folder);
}

bool isMemory(const std::string &folder) {
  struct statfs system;
  return ::statfs(folder.c_str(), &system) == 0 &&
         (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC);
}

} // namespace weir
