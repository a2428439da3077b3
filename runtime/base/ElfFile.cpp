//===- ElfFile.cpp - What is wrong with a library's file ------------------===//
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
#include <filesystem>
#include <fstream>

namespace weir {

/// Of a 64-bit ELF file: whether it ends before what its headers say it has.
static bool isTruncated(std::ifstream &file, const Elf64_Ehdr &header) {
  file.seekg(0, std::ios::end);
  auto size = static_cast<uint64_t>(std::max<std::streamoff>(file.tellg(), 0));
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

std::string faultOfLibrary(const std::string &path) {
  std::error_code none;
  auto kind = std::filesystem::status(path, none).type();
  if (kind == std::filesystem::file_type::not_found || kind == std::filesystem::file_type::none)
    return "";
  if (kind != std::filesystem::file_type::regular)
    return "is not a regular file";
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return "";
  Elf64_Ehdr header{};
  file.read(reinterpret_cast<char *>(&header), sizeof header);
  if (file.gcount() < SELFMAG || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return "is not a shared library";
  if (file.gcount() < std::streamsize(sizeof header))
    return "is truncated";
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_machine != EM_X86_64)
    return "is built for another processor architecture";
  if (header.e_type != ET_DYN)
    return "is not a shared library";
  return isTruncated(file, header) ? "is truncated" : "";
}

} // namespace weir
