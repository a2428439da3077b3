//===- Lines.cpp - Where in the model something is said -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "artifact/Lines.h"

namespace weir {

Lines linesOf(const Locations *locations) {
  Lines lines;
  if (locations)
    for (const artifact::Location *location : *locations)
      if (location->line() != 0)
        lines.emplace(location->file(), location->line());
  return lines;
}

std::vector<std::string> placesOf(const artifact::Program &program, const Lines &lines) {
  std::vector<std::string> places;
  for (auto [file, line] : lines)
    places.push_back(program.files()->Get(file)->str() + ":" + std::to_string(line));
  return places;
}

std::string linesText(const std::vector<std::string> &places) {
  std::string result, last;
  for (const std::string &at : places) {
    size_t colon = at.rfind(':');
    std::string file = at.substr(0, colon);
    result += file == last ? "," + at.substr(colon + 1) : (result.empty() ? "" : " ") + at;
    last = file;
  }
  return result;
}

} // namespace weir
