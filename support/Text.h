//===- Text.h - Putting messages together ---------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small helpers that build messages. Header only.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_TEXT_H
#define WEIR_SUPPORT_TEXT_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

/// A NaN's sign says nothing to anybody.
template <typename Part> const Part &shown(const Part &part) { return part; }
inline double shown(double part) { return std::isnan(part) ? NAN : part; }
inline float shown(float part) { return std::isnan(part) ? NAN : part; }

/// The parts, one after another, as a stream would print them.
template <typename... Parts> std::string concat(const Parts &...parts) {
  std::ostringstream out;
  (out << ... << shown(parts));
  return out.str();
}

/// The text with the letters of ASCII in lower case, as endings of files are compared.
inline std::string lowerCase(std::string_view text) {
  std::string lower(text);
  for (char &c : lower)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

/// What stands between the separators, be it nothing: one part more than there are of these.
inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

inline std::string join(const std::vector<std::string> &parts, std::string_view separator = ", ") {
  std::string out;
  for (const std::string &part : parts) {
    if (!out.empty())
      out += separator;
    out += part;
  }
  return out;
}

/// The first `most` of them, then how many more there are.
inline std::string joinFew(std::vector<std::string> parts, std::string_view separator = ", ",
                           size_t most = 20) {
  if (parts.size() > most + 1) { // "and 1 more" is no shorter than the one
    std::string rest = "and " + std::to_string(parts.size() - most) + " more";
    parts.resize(most);
    parts.push_back(rest);
  }
  return join(parts, separator);
}

/// "[12, 65]".
inline std::string shapeText(const std::vector<int64_t> &shape) {
  std::vector<std::string> parts;
  for (int64_t size : shape)
    parts.push_back(std::to_string(size));
  return "[" + join(parts) + "]";
}

} // namespace weir

#endif
