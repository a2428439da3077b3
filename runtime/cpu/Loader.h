//===- Loader.h - Machine code from memory --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Maps an ELF shared object that needs nothing from outside (no symbol, no library, no constructor,
// no thread-local data) without the system's loader: no temporary file, no /proc, so an artifact
// runs in an empty chroot. Pages are never writable and executable at once.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CPU_LOADER_H
#define WEIR_RUNTIME_CPU_LOADER_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace weir::cpu {

class Loader {
public:
  /// Maps `file`, which is copied. Throws Failure: Exit::model for a file that is not such an
  /// object, Exit::device for memory.
  explicit Loader(std::span<const std::byte> file);
  ~Loader();
  Loader(const Loader &) = delete;
  Loader &operator=(const Loader &) = delete;

  /// The address of a defined, exported function, or null.
  void *symbol(std::string_view name) const;

private:
  std::byte *base = nullptr;
  size_t size = 0;
  std::map<std::string, void *, std::less<>> symbols;
};

} // namespace weir::cpu

#endif
