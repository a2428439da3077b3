//===- ElfFile.cpp - Whether a shared library's file is whole -------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/base/ElfFile.h"
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <fstream>

namespace weir {

bool isCutShort(const std::string &path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  auto size = static_cast<uint64_t>(std::max<std::streamoff>(file.tellg(), 0));
  Elf64_Ehdr header;
  file.seekg(0);
  if (!file.read(reinterpret_cast<char *>(&header), sizeof header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return false;
  // Linkers write the table of sections last.
  uint64_t sections = uint64_t(header.e_shnum) * header.e_shentsize;
  return header.e_shoff > size || sections > size - header.e_shoff;
}

} // namespace weir
