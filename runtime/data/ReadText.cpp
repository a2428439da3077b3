//===- ReadText.cpp - Text as numbered characters -------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/data/Readers.h"
#include "support/Error.h"
#include "support/Text.h"
#include <cstring>

namespace weir {
namespace {

Vocabulary vocabularyOf(std::string_view text, const std::string &path) {
  std::vector<bool> seen(0x110000);
  for (size_t at = 0; at < text.size();) {
    size_t before = at;
    int32_t code = decodeUtf8(text, at);
    if (code < 0)
      throw Failure(Exit::data, concat(path, ": is not UTF-8 text: byte ", before,
                                       " does not begin a character; ", supportedFormats));
    seen[code] = true;
  }
  std::vector<uint32_t> codes;
  for (uint32_t code = 0; code < seen.size(); ++code)
    if (seen[code])
      codes.push_back(code);
  return Vocabulary(std::move(codes));
}

template <typename Number>
void encode(Array &array, std::string_view text, const Vocabulary &vocabulary) {
  auto numbers = std::make_shared<std::vector<Number>>();
  numbers->reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    size_t before = at;
    int32_t code = decodeUtf8(text, at);
    if (code < 0)
      throw Failure(Exit::data, concat(array.path, ": is not UTF-8 text: byte ", before,
                                       " does not begin a character; ", supportedFormats));
    int32_t number = vocabulary.number(code);
    if (number < 0)
      throw Failure(Exit::data,
                    concat(array.path, ": the character ", characterText(code), " at byte ", before,
                           " is not among the ", vocabulary.size(),
                           " that the model was trained with; use text of those characters only, "
                           "or train again with text that contains it"));
    numbers->push_back(static_cast<Number>(number));
  }
  array.shape = {static_cast<int64_t>(numbers->size())};
  array.data = reinterpret_cast<const std::byte *>(numbers->data());
  array.owner = numbers;
}

} // namespace

void readText(Array &array, std::span<const std::byte> bytes, const Vocabulary *given) {
  std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  // A byte-order mark is no character, unless a run that read it as one goes on.
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  constexpr uint32_t markCode = 0xFEFF;
  if (text.starts_with(mark) && !(given && given->number(markCode) >= 0))
    text.remove_prefix(mark.size());
  if (text.empty())
    throw Failure(Exit::data, array.path + ": has a byte-order mark and no text");
  auto file = array.owner; // encode() replaces the owner while the text is still read
  Vocabulary vocabulary = given ? *given : vocabularyOf(text, array.path);
  array.format = "text";
  if (vocabulary.size() <= 0x10000) {
    array.element = Element::u16;
    encode<uint16_t>(array, text, vocabulary);
  } else {
    array.element = Element::i32;
    encode<int32_t>(array, text, vocabulary);
  }
  array.vocabulary = std::move(vocabulary);
}

} // namespace weir
