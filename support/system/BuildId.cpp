//===- BuildId.cpp - Which build of a program or library is loaded --------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "support/system/KernelCache.h"
#include <cstdint>
#include <cstring>
#include <link.h>

namespace weir {
namespace {

struct Search {
  uintptr_t address;
  std::string found;
};

/// The build ID among the notes of a segment: each is its header, a name and a description, each
/// padded to four bytes (System V ABI, "Note Section").
std::string buildIdIn(const char *notes, size_t size) {
  auto padded = [](size_t bytes) { return (bytes + 3) / 4 * 4; };
  for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes + at, sizeof note);
    const char *name = notes + at + sizeof note;
    const char *description = name + padded(note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !std::memcmp(name, "GNU", 4))
      return std::string(description, note.n_descsz);
    at += sizeof note + padded(note.n_namesz) + padded(note.n_descsz);
  }
  return "";
}

int look(dl_phdr_info *object, size_t, void *data) {
  auto &search = *static_cast<Search *>(data);
  bool contains = false;
  std::string id;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = object->dlpi_phdr[i];
    uintptr_t start = object->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD)
      contains |= search.address >= start && search.address < start + segment.p_memsz;
    if (segment.p_type == PT_NOTE && id.empty())
      id = buildIdIn(reinterpret_cast<const char *>(start), segment.p_memsz);
  }
  if (contains)
    search.found = id;
  return contains;
}

} // namespace

std::string buildIdOf(const void *address) {
  Search search{reinterpret_cast<uintptr_t>(address), ""};
  dl_iterate_phdr(look, &search);
  return search.found;
}

} // namespace weir
