//===- Cubin.cpp - What a GPU's machine code says of itself ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Cubin.h"
#include <cstring>
#include <elf.h>
#include <map>
#include <optional>

namespace weir::cuda {
namespace {

/// Reads within a file, and nothing outside of it.
struct File {
  std::span<const std::byte> bytes;

  template <class T> std::optional<T> at(uint64_t offset) const {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T))
      return std::nullopt;
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }
  std::string text(uint64_t offset) const {
    std::string text;
    for (std::optional<char> c; (c = at<char>(offset)) && *c; ++offset)
      text += *c;
    return text;
  }
};

// Records of the section .nv.info: a format, an attribute, and a value of 16 bits or, of one
// format, as many bytes as those say: here a symbol's number and a value.
constexpr uint8_t sizedFormat = 4, registersAttribute = 0x2f, frameAttribute = 0x11;
struct Record {
  uint8_t format, attribute;
  uint16_t value;
};
struct OfSymbol {
  uint32_t symbol, value;
};

} // namespace

std::vector<KernelFacts> kernelsOf(std::span<const std::byte> cubin) {
  File file{cubin};
  auto header = file.at<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
    return {};
  auto section = [&](uint32_t number) {
    return file.at<Elf64_Shdr>(header->e_shoff + uint64_t(number) * sizeof(Elf64_Shdr));
  };
  auto names = section(header->e_shstrndx);
  std::optional<Elf64_Shdr> symbols, info;
  for (uint32_t i = 0; names && i < header->e_shnum; ++i) {
    auto one = section(i);
    if (!one)
      break;
    if (one->sh_type == SHT_SYMTAB)
      symbols = one;
    if (file.text(names->sh_offset + one->sh_name) == ".nv.info")
      info = one;
  }
  auto strings = symbols ? section(symbols->sh_link) : std::nullopt;
  if (!strings || !info)
    return {};
  std::map<uint32_t, KernelFacts> kernels;
  uint64_t end = info->sh_offset + info->sh_size;
  for (uint64_t at = info->sh_offset; at < end;) {
    auto record = file.at<Record>(at);
    if (!record)
      break;
    at += sizeof(Record);
    if (record->format != sizedFormat)
      continue;
    auto value = file.at<OfSymbol>(at);
    at += record->value;
    if (!value || record->value < sizeof(OfSymbol))
      continue;
    if (record->attribute == registersAttribute)
      kernels[value->symbol].registers = int(value->value);
    if (record->attribute == frameAttribute)
      kernels[value->symbol].frame = int(value->value);
  }
  std::vector<KernelFacts> list;
  for (auto &[number, facts] : kernels) {
    auto symbol = file.at<Elf64_Sym>(symbols->sh_offset + uint64_t(number) * sizeof(Elf64_Sym));
    if (symbol)
      facts.name = file.text(strings->sh_offset + symbol->st_name);
    list.push_back(facts);
  }
  return list;
}

} // namespace weir::cuda
