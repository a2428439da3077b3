//===- Blocks.cpp - The blocks of a model, by their paths --------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/requests/Blocks.h"
#include "ir/weir/Locations.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace weir {

/// Whether `*` in the pattern may stand for what is in its place in a text without points.
static bool matchesPart(StringRef text, StringRef pattern) {
  size_t at = 0, next = 0, star = StringRef::npos, behindStar = 0;
  while (at < text.size()) {
    if (next < pattern.size() && pattern[next] == '*') {
      star = next++;
      behindStar = at;
    } else if (next < pattern.size() && pattern[next] == text[at]) {
      ++at;
      ++next;
    } else if (star != StringRef::npos) {
      next = star + 1; // the last star stands for one letter more
      at = ++behindStar;
    } else {
      return false;
    }
  }
  return pattern.drop_front(next).ltrim('*').empty();
}

bool matchesPath(StringRef text, StringRef pattern) {
  SmallVector<StringRef> parts, patterns;
  text.split(parts, '.');
  pattern.split(patterns, '.');
  return parts.size() == patterns.size() && llvm::all_of(llvm::zip(parts, patterns), [](auto both) {
           return std::apply(matchesPart, both);
         });
}

StringRef pathAround(StringRef path) {
  size_t end = path.rfind('.');
  return end == StringRef::npos ? "" : path.take_front(end);
}

std::string patternOf(StringRef path) {
  std::vector<std::string> parts;
  for (StringRef part : llvm::split(path, '.'))
    parts.push_back(!part.empty() && llvm::all_of(part, llvm::isDigit) ? "*" : part.str());
  return llvm::join(parts, ".");
}

/// Of a parameter's update, whose ops stand in "adamw/h.0.mlp.weight".
static bool isOfOptimizer(StringRef path) { return path.contains('/'); }

std::set<std::string> blocksOf(ModuleOp module) {
  std::set<std::string> blocks = {""};
  module->walk([&](Operation *op) {
    StringRef path = instancePath(op->getLoc());
    while (!isOfOptimizer(path) && blocks.insert(path.str()).second)
      path = pathAround(path);
  });
  return blocks;
}

std::vector<std::string> outermost(const std::set<std::string> &blocks) {
  std::vector<std::string> all;
  for (const std::string &path : blocks) {
    bool isInside = false;
    for (StringRef around = path; !around.empty() && !isInside;) {
      around = pathAround(around);
      isInside = blocks.count(around.str());
    }
    if (!isInside)
      all.push_back(path);
  }
  return all;
}

} // namespace weir
