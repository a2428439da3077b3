//===- KernelCache.h - Compiled kernels that outlive the process ----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Entries are machine code, found by a hash of all that they were compiled from. They lie in a
// folder: $WEIR_KERNEL_CACHE, or weir/kernels in $XDG_CACHE_HOME or ~/.cache. A folder that another
// user owns or may write to is not used, and neither is one that cannot be read or written: the
// kernels are compiled then. Several processes may share a folder, and it may be deleted at any
// time.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_SYSTEM_KERNELCACHE_H
#define WEIR_SUPPORT_SYSTEM_KERNELCACHE_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// Its functions may be called on several threads at once, and throw nothing but std::bad_alloc.
class KernelCache {
public:
  /// The user's folder. `kind` ends the names of the files, such as "cubin". Once a folder holds
  /// more than `mostBytes`, the entries that were used longest ago are removed until half is left.
  explicit KernelCache(std::string kind, uint64_t mostBytes = uint64_t(1) << 30);

  /// What `source` was compiled to; nothing where that is not known. `source` is everything that
  /// the code depends on: the text, the compiler and its options.
  std::optional<std::vector<char>> find(std::string_view source) const;

  void keep(std::string_view source, std::span<const char> code) const;

private:
  std::string placeOf(std::string_view source) const;
  void removeOldest() const;

  std::string kind;
  uint64_t mostBytes;
  std::string folder; ///< "": there is none
};

/// 128 bits of a hash, as 32 hexadecimal digits.
std::string hashText(std::string_view text);

/// The build ID of the loaded program or library that contains `address`: another one wherever its
/// code differs. "" where it has none.
std::string buildIdOf(const void *address);

} // namespace weir

#endif
