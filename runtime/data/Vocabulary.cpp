//===- Vocabulary.cpp - The characters of a text --------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/data/Vocabulary.h"
#include <algorithm>
#include <cstdio>

namespace weir {

int32_t decodeUtf8(std::string_view text, size_t &at) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned lead = byte(at);
  if (lead < 0x80) {
    ++at;
    return static_cast<int32_t>(lead);
  }
  int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  if (lead < 0xC2 || lead > 0xF4 || text.size() - at <= static_cast<size_t>(more))
    return -1;
  uint32_t code = lead & (0x3F >> more);
  for (int i = 1; i <= more; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80)
      return -1;
    code = code << 6 | (byte(at + i) & 0x3F);
  }
  constexpr uint32_t least[] = {0, 0x80, 0x800, 0x10000};
  if (code < least[more] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
    return -1;
  at += more + 1;
  return static_cast<int32_t>(code);
}

void appendUtf8(std::string &out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  int more = code >= 0x10000 ? 3 : code >= 0x800 ? 2 : 1;
  constexpr unsigned lead[] = {0, 0xC0, 0xE0, 0xF0};
  out += static_cast<char>(lead[more] | code >> (6 * more));
  for (int i = more - 1; i >= 0; --i)
    out += static_cast<char>(0x80 | (code >> (6 * i) & 0x3F));
}

std::string characterText(uint32_t code) {
  char name[16];
  std::snprintf(name, sizeof name, "U+%04X", code);
  if (code < 0x20 || (code >= 0x7F && code < 0xA0))
    return name;
  std::string out = "'";
  appendUtf8(out, code);
  return out + "' (" + name + ")";
}

Vocabulary::Vocabulary(std::vector<uint32_t> characters)
    : codes(std::move(characters)), low(128, -1) {
  std::sort(codes.begin(), codes.end());
  codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
  for (size_t i = 0; i < codes.size() && codes[i] < low.size(); ++i)
    low[codes[i]] = static_cast<int32_t>(i);
}

int32_t Vocabulary::number(uint32_t code) const {
  if (code < low.size())
    return low[code];
  auto at = std::lower_bound(codes.begin(), codes.end(), code);
  return at != codes.end() && *at == code ? static_cast<int32_t>(at - codes.begin()) : -1;
}

std::string Vocabulary::text() const {
  std::string out;
  for (uint32_t code : codes)
    appendUtf8(out, code);
  return out;
}

} // namespace weir
