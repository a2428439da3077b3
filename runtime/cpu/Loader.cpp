//===- Loader.cpp - Machine code from memory ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cpu/Loader.h"
#include "runtime/cpu/Arena.h"
#include "support/Error.h"
#include <algorithm>
#include <cstring>
#include <elf.h>
#include <sys/mman.h>
#include <vector>

namespace weir::cpu {

static constexpr uint64_t maxImage = uint64_t(1) << 31;
static constexpr uint64_t maxSymbols = 1 << 20;

static void require(bool holds, const char *what) {
  if (!holds)
    throw Failure(Exit::model, std::string("the artifact's machine code cannot be loaded: ") +
                                   what + "; compile the model again");
}

static uint64_t pageUp(uint64_t address) { return (address + pageSize - 1) & ~(pageSize - 1); }
static uint64_t pageDown(uint64_t address) { return address & ~(pageSize - 1); }

namespace {

/// Reads from bytes that nobody has vouched for: the file, or the image made from it.
class Bytes {
public:
  Bytes(const std::byte *data, uint64_t size) : data(data), size(size) {}

  bool holds(uint64_t offset, uint64_t length) const {
    return offset <= size && length <= size - offset;
  }

  template <typename T> T at(uint64_t offset) const {
    require(holds(offset, sizeof(T)), "a structure lies outside of it");
    T value;
    std::memcpy(&value, data + offset, sizeof(T));
    return value;
  }

  /// Element `index` of a table that starts at `offset`.
  template <typename T> T element(uint64_t offset, uint64_t index) const {
    require(offset <= size && index < (size - offset) / sizeof(T), "a table lies outside of it");
    return at<T>(offset + index * sizeof(T));
  }

  std::string_view text(uint64_t offset) const {
    require(offset < size, "a name lies outside of it");
    const char *begin = reinterpret_cast<const char *>(data) + offset;
    const void *end = std::memchr(begin, 0, size - offset);
    require(end, "a name has no end");
    return {begin, static_cast<size_t>(static_cast<const char *>(end) - begin)};
  }

private:
  const std::byte *data;
  uint64_t size;
};

/// What the program headers say.
struct Headers {
  std::vector<Elf64_Phdr> segments; // PT_LOAD, ascending, on pages of their own
  uint64_t dynamic = 0;             // relative to the image; 0: none
  uint64_t dynamicSize = 0;
  uint64_t span = 0; // bytes of the image
};

/// What the dynamic section says; addresses are relative to the image, 0: none.
struct Dynamic {
  uint64_t symbols = 0, names = 0, hash = 0, gnuHash = 0;
  uint64_t relocations = 0, relocationsSize = 0;
  uint64_t jumps = 0, jumpsSize = 0;
};

} // namespace

static Headers readHeaders(const Bytes &file) {
  auto header = file.at<Elf64_Ehdr>(0);
  require(std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
              header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
              header.e_type == ET_DYN && header.e_machine == EM_X86_64,
          "it is not a shared object for x86-64");
  require(header.e_phentsize == sizeof(Elf64_Phdr) && header.e_phnum <= 64,
          "its program headers are malformed");
  Headers headers;
  for (int i = 0; i < header.e_phnum; ++i) {
    auto segment = file.element<Elf64_Phdr>(header.e_phoff, i);
    if (segment.p_type == PT_DYNAMIC) {
      headers.dynamic = segment.p_vaddr;
      headers.dynamicSize = segment.p_memsz;
    }
    require(segment.p_type != PT_TLS || segment.p_memsz == 0, "it has thread-local data");
    require(segment.p_type != PT_INTERP, "it wants another loader");
    if (segment.p_type != PT_LOAD || segment.p_memsz == 0)
      continue;
    require(file.holds(segment.p_offset, segment.p_filesz) && segment.p_filesz <= segment.p_memsz &&
                segment.p_vaddr <= maxImage && segment.p_memsz <= maxImage - segment.p_vaddr,
            "a segment lies outside of it");
    require(pageDown(segment.p_vaddr) >= headers.span, "segments share a page");
    require((segment.p_flags & PF_W) == 0 || (segment.p_flags & PF_X) == 0,
            "a segment is writable and executable");
    headers.segments.push_back(segment);
    headers.span = pageUp(segment.p_vaddr + segment.p_memsz);
  }
  require(!headers.segments.empty() && headers.dynamic != 0, "it has no segments or symbols");
  return headers;
}

static Dynamic readDynamic(const Bytes &image, const Headers &headers) {
  Dynamic dynamic;
  for (uint64_t i = 0; i < headers.dynamicSize / sizeof(Elf64_Dyn); ++i) {
    auto entry = image.element<Elf64_Dyn>(headers.dynamic, i);
    uint64_t value = entry.d_un.d_val;
    switch (entry.d_tag) {
    case DT_NULL:
      return dynamic;
    case DT_SYMTAB:
      dynamic.symbols = value;
      break;
    case DT_STRTAB:
      dynamic.names = value;
      break;
    case DT_HASH:
      dynamic.hash = value;
      break;
    case DT_GNU_HASH:
      dynamic.gnuHash = value;
      break;
    case DT_RELA:
      dynamic.relocations = value;
      break;
    case DT_RELASZ:
      dynamic.relocationsSize = value;
      break;
    case DT_JMPREL:
      dynamic.jumps = value;
      break;
    case DT_PLTRELSZ:
      dynamic.jumpsSize = value;
      break;
    case DT_RELAENT:
      require(value == sizeof(Elf64_Rela), "its relocations are malformed");
      break;
    case DT_SYMENT:
      require(value == sizeof(Elf64_Sym), "its symbols are malformed");
      break;
    case DT_NEEDED:
      require(false, "it needs another library");
      break;
    case DT_REL:
    case 36: // DT_RELR
      require(false, "it has relocations of another kind");
      break;
    case DT_INIT:
    case DT_FINI:
    case DT_INIT_ARRAY:
    case DT_FINI_ARRAY:
    case DT_PREINIT_ARRAY:
      require(false, "it has constructors");
      break;
    default:
      break;
    }
  }
  return dynamic;
}

static uint64_t countSymbols(const Bytes &image, const Dynamic &dynamic) {
  uint64_t count = 0;
  if (dynamic.hash) {
    count = image.element<uint32_t>(dynamic.hash, 1); // one chain entry per symbol
  } else if (dynamic.gnuHash) {
    auto word = [&](uint64_t index) { return image.element<uint32_t>(dynamic.gnuHash, index); };
    uint64_t buckets = word(0), firstHashed = word(1), bloomWords = word(2);
    uint64_t bucketTable = 4 + bloomWords * 2, chains = bucketTable + buckets;
    // Chains stand in the order of symbols: the one that begins last holds the last symbol.
    uint64_t last = 0;
    for (uint64_t i = 0; i < buckets; ++i)
      last = std::max<uint64_t>(last, word(bucketTable + i));
    count = firstHashed;
    if (last >= firstHashed) {
      while ((word(chains + last - firstHashed) & 1) == 0) // the lowest bit ends a chain
        ++last;
      count = last + 1;
    }
  }
  require(count <= maxSymbols, "it has too many symbols");
  return count;
}

static void relocate(const Bytes &image, std::byte *base, uint64_t span, uint64_t table,
                     uint64_t bytes) {
  for (uint64_t i = 0; i < bytes / sizeof(Elf64_Rela); ++i) {
    auto relocation = image.element<Elf64_Rela>(table, i);
    uint64_t type = ELF64_R_TYPE(relocation.r_info);
    if (type == R_X86_64_NONE)
      continue;
    require(type == R_X86_64_RELATIVE, "it refers to a symbol outside of it");
    require(image.holds(relocation.r_offset, sizeof(uint64_t)) &&
                static_cast<uint64_t>(relocation.r_addend) < span,
            "a relocation lies outside of it");
    uint64_t address = reinterpret_cast<uint64_t>(base) + relocation.r_addend;
    std::memcpy(base + relocation.r_offset, &address, sizeof(address));
  }
}

Loader::Loader(std::span<const std::byte> code) {
  Bytes file(code.data(), code.size());
  Headers headers = readHeaders(file);
  size = headers.span;
  void *place = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED)
    throw Failure(Exit::device, "no memory for " + std::to_string(size) + " bytes of machine code");
  base = static_cast<std::byte *>(place);
  try {
    for (const Elf64_Phdr &segment : headers.segments)
      std::memcpy(base + segment.p_vaddr, code.data() + segment.p_offset, segment.p_filesz);
    Bytes image(base, size);
    Dynamic dynamic = readDynamic(image, headers);
    uint64_t count = countSymbols(image, dynamic);
    for (uint64_t i = 1; i < count; ++i) {
      auto symbol = image.element<Elf64_Sym>(dynamic.symbols, i);
      std::string_view name = image.text(dynamic.names + symbol.st_name);
      require(symbol.st_shndx != SHN_UNDEF, "it has an undefined symbol");
      bool executable =
          std::any_of(headers.segments.begin(), headers.segments.end(), [&](const Elf64_Phdr &s) {
            return (s.p_flags & PF_X) && symbol.st_value >= s.p_vaddr &&
                   symbol.st_value - s.p_vaddr < s.p_filesz;
          });
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && executable)
        symbols.emplace(name, base + symbol.st_value);
    }
    relocate(image, base, size, dynamic.relocations, dynamic.relocationsSize);
    relocate(image, base, size, dynamic.jumps, dynamic.jumpsSize);
    for (const Elf64_Phdr &segment : headers.segments) {
      uint64_t begin = pageDown(segment.p_vaddr), end = pageUp(segment.p_vaddr + segment.p_memsz);
      int protection = (segment.p_flags & PF_R ? PROT_READ : 0) |
                       (segment.p_flags & PF_W ? PROT_WRITE : 0) |
                       (segment.p_flags & PF_X ? PROT_EXEC : 0);
      if (mprotect(base + begin, end - begin, protection) != 0)
        throw Failure(Exit::device, "this system does not let memory become executable");
    }
  } catch (...) {
    munmap(base, size);
    throw;
  }
}

Loader::~Loader() { munmap(base, size); }

void *Loader::symbol(std::string_view name) const {
  auto found = symbols.find(name);
  return found == symbols.end() ? nullptr : found->second;
}

} // namespace weir::cpu
