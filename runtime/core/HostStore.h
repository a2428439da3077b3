//===- HostStore.h - Bytes that a device has no room for ------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CORE_HOSTSTORE_H
#define WEIR_RUNTIME_CORE_HOSTSTORE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace weir {

/// What lies in the host's memory (artifact::Space::host), zeros at first. Several threads may read
/// and write it, each other bytes. Throws Failure{Exit::storage} where a file cannot be read or
/// written.
class HostStore {
public:
  virtual ~HostStore() = default;
  virtual void read(uint64_t from, std::span<std::byte> to) = 0;
  virtual void write(uint64_t to, std::span<const std::byte> from) = 0;
};

/// In memory, or in a file of `folder`, where that is not empty, which no name leads to: nothing of
/// it is left behind however the process ends. A file's room is set aside at once. Null for no
/// bytes. Throws Failure{Exit::device} for memory, Exit::storage for a file, Exit::usage for a
/// folder where there is nothing to put into it.
std::unique_ptr<HostStore> makeHostStore(uint64_t bytes, const std::string &folder);

/// Whether a folder's files are memory themselves (tmpfs, ramfs).
bool isMemory(const std::string &folder);

} // namespace weir

#endif
