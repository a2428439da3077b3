//===- Utf8.h - Characters in bytes ---------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Header only.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_UTF8_H
#define WEIR_SUPPORT_UTF8_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir {

/// Reads the code point at `at` and moves `at` behind it; -1 where the bytes are not UTF-8
/// (overlong forms and surrogates are not).
inline int32_t decodeUtf8(std::string_view text, size_t &at) {
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

/// Appends the UTF-8 form of `code`.
inline void appendUtf8(std::string &out, uint32_t code) {
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

/// Whether a terminal obeys the character instead of showing it: controls, and what turns the
/// direction of writing.
inline bool isControl(uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x200E || code == 0x200F ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

/// Whether the bytes are characters and none of them is a control.
inline bool isPlainText(std::string_view text) {
  for (size_t at = 0; at < text.size();)
    if (int32_t code = decodeUtf8(text, at); code < 0 || isControl(code))
      return false;
  return true;
}

/// What any text may be printed as: controls but the end of a line and the tab, and bytes that are
/// no UTF-8, are spelt out, \x1b. A text of characters without controls stays as it is.
inline std::string printable(std::string_view text) {
  if (isPlainText(text))
    return std::string(text);
  auto spell = [](std::string &out, char kind, uint32_t value, int digits) {
    out += {'\\', kind};
    while (digits-- > 0)
      out += "0123456789abcdef"[value >> (4 * digits) & 0xF];
  };
  std::string out;
  for (size_t at = 0; at < text.size();) {
    size_t before = at;
    int32_t code = decodeUtf8(text, at);
    if (code < 0)
      spell(out, 'x', static_cast<unsigned char>(text[at++]), 2);
    else if (code == '\n' || code == '\t' || !isControl(code))
      out += text.substr(before, at - before);
    else if (code < 0x100)
      spell(out, 'x', code, 2);
    else
      spell(out, 'u', code, 4);
  }
  return out;
}

/// A name out of a file, as a message shows it: printable on one line, and no longer than `most`
/// bytes and a little.
inline std::string shownName(std::string_view name, size_t most = 120) {
  std::string text = printable(name);
  for (size_t at = 0; (at = text.find_first_of("\n\t", at)) != std::string::npos;)
    text.replace(at, 1, text[at] == '\n' ? "\\n" : "\\t");
  if (text.size() <= most)
    return text;
  // Not within a character.
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80)
    --most;
  return text.substr(0, most) + "… (" + std::to_string(name.size()) + " bytes)";
}

} // namespace weir

#endif
