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

std::string characterText(uint32_t code) {
  char name[16];
  std::snprintf(name, sizeof name, "U+%04X", code);
  if (isControl(code))
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
