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

bool isTruncated(const std::string &path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  auto size = static_cast<uint64_t>(std::max<std::streamoff>(file.tellg(), 0));
  Elf64_Ehdr header;
  file.seekg(0);
  if (!file.read(reinterpret_cast<char *>(&header), sizeof header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB)
    return false;
  auto isOutside = [&](uint64_t offset, uint64_t bytes) {
    return offset > size || bytes > size - offset;
  };
  if (isOutside(header.e_shoff, uint64_t(header.e_shnum) * header.e_shentsize) ||
      isOutside(header.e_phoff, uint64_t(header.e_phnum) * header.e_phentsize))
    return true;
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    file.seekg(static_cast<std::streamoff>(header.e_phoff + i * header.e_phentsize));
    if (!file.read(reinterpret_cast<char *>(&segment), sizeof segment))
      return true;
    if (segment.p_type == PT_LOAD && isOutside(segment.p_offset, segment.p_filesz))
      return true;
  }
  return false;
}

} // namespace weir
