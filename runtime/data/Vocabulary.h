//===- Vocabulary.h - The characters of a text ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A text's vocabulary is the sorted set of its distinct characters (Unicode code points); a
// character's number is its place in that set. It is kept with the checkpoint, so that a resumed
// run and `weir generate` number characters alike.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_DATA_VOCABULARY_H
#define WEIR_RUNTIME_DATA_VOCABULARY_H

#include "support/Utf8.h"
#include <map>
#include <vector>

namespace weir {

/// A character as a message shows it: 'a', or U+000A where it does not print.
std::string characterText(uint32_t code);

class Vocabulary {
public:
  Vocabulary() = default;
  /// `characters` is sorted and made unique.
  explicit Vocabulary(std::vector<uint32_t> characters);

  size_t size() const { return codes.size(); }
  uint32_t code(size_t number) const { return codes[number]; }
  /// The character's number, or -1.
  int32_t number(uint32_t code) const;
  /// All characters in order, as UTF-8: how it is stored.
  std::string text() const;
  bool operator==(const Vocabulary &other) const { return codes == other.codes; }

private:
  std::vector<uint32_t> codes;
  std::vector<int32_t> low; // the numbers of code points below 128
};

/// By the name of the input.
using Vocabularies = std::map<std::string, Vocabulary>;

} // namespace weir

#endif
