//===- Readers.cpp - The formats data comes in ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/data/Readers.h"
#include "runtime/data/MappedFile.h"
#include "runtime/data/Recognize.h"
#include "support/Text.h"
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace weir {

const char *const supportedFormats =
    "the supported formats are idx (MNIST's), .npy, UTF-8 text, .bin token files (nanoGPT's raw "
    "uint16, llm.c's), and any file whose path has a format as prefix: bytes:PATH reads numbers "
    "from 0 to 255, u32:PATH values of 32 bits";

namespace {

using Bytes = std::span<const std::byte>;

std::string_view textOf(Bytes bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

//===----------------------------------------------------------------------===//
// The formats
//===----------------------------------------------------------------------===//

struct DataFormat {
  const char *name;
  void (*read)(Array &array, Bytes bytes, const Vocabulary *vocabulary);
};

template <void (*read)(Array &, Bytes)>
void withoutVocabulary(Array &array, Bytes bytes, const Vocabulary *) {
  read(array, bytes);
}

template <Element element> void asNumbers(Array &array, Bytes bytes, const Vocabulary *) {
  readRaw(array, bytes, element);
}

void readBytes(Array &array, Bytes bytes) {
  readRaw(array, bytes, Element::u8);
  array.format = "bytes";
}

/// What checkpoints have called it since there were no other types.
void readU16(Array &array, Bytes bytes) {
  readRaw(array, bytes, Element::u16);
  array.format = "nanogpt";
}

constexpr DataFormat formats[] = {
    {"text", readText},
    {"bytes", withoutVocabulary<readBytes>},
    {"idx", withoutVocabulary<readIdx>},
    {"npy", withoutVocabulary<readNpy>},
    {"llm.c", withoutVocabulary<readTokens>},
    {"u8", asNumbers<Element::u8>},
    {"i8", asNumbers<Element::i8>},
    {"u16", withoutVocabulary<readU16>},
    {"i16", asNumbers<Element::i16>},
    {"u32", asNumbers<Element::u32>},
    {"i32", asNumbers<Element::i32>},
    {"i64", asNumbers<Element::i64>},
    {"f16", asNumbers<Element::f16>},
    {"f32", asNumbers<Element::f32>},
    {"f64", asNumbers<Element::f64>},
};

const DataFormat *formatNamed(std::string_view name) {
  for (const DataFormat &format : formats)
    if (name == format.name)
      return &format;
  return nullptr;
}

/// The format that a location names before its first colon; null for a path.
const DataFormat *formatOf(const std::string &location) {
  size_t colon = location.find(':');
  return colon == location.npos ? nullptr : formatNamed(location.substr(0, colon));
}

//===----------------------------------------------------------------------===//
// What a file is that does not say it
//===----------------------------------------------------------------------===//

/// A file as it is looked at.
struct Candidate {
  std::string path, name; ///< the latter without folders, in lower case
  Bytes bytes;

  bool ends(std::initializer_list<std::string_view> endings) const {
    return std::ranges::any_of(endings, [&](std::string_view one) { return name.ends_with(one); });
  }
  bool begins(std::string_view magic) const { return textOf(bytes).starts_with(magic); }
  /// What is looked at where all would take too long.
  std::string_view head() const { return textOf(bytes).substr(0, 1 << 16); }

  /// How to say what it is.
  template <typename... Parts> Failure refuse(const Parts &...parts) const {
    return Failure(Exit::data, concat(path, ": ", parts...));
  }
};

/// idx begins with two zeros, a type and the number of dimensions; no text does.
bool looksLikeIdx(const Candidate &file) {
  if (file.name.ends_with("-ubyte") || file.name.find(".idx") != std::string::npos)
    return true;
  auto at = [&](size_t i) { return std::to_integer<unsigned>(file.bytes[i]); };
  return file.bytes.size() >= 4 && at(0) == 0 && at(1) == 0 && at(2) >= 8 && at(2) <= 14 &&
         at(3) >= 1 && at(3) <= 8;
}

bool isPrintable(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\r' || c == '\t'; });
}

/// The type to suggest where tokens seem to have more than two bytes each, "" where they have two.
///
/// A number of 32 bits is a pair of 16-bit halves, the lower one first. With a vocabulary of up to
/// a million its upper half is below 16, or all ones in a negative number, such as the -100 of
/// labels that do not count. Tokens of two bytes are alike at even and odd places, so their odd
/// ones are all as small only with a vocabulary as small. Three kinds of pairs tell the two apart:
/// - spread, whose lower half is large: those of wider tokens nearly all;
/// - extended, a small number whose upper half repeats its sign;
/// - mixed, a small lower half with any other upper one: those of a small vocabulary of two-byte
///   tokens nearly all.
/// Where all are extended, both may be meant, and it is refused too; but zeros are zeros.
const char *widerTokens(Bytes bytes) {
  constexpr size_t least = 4, most = 1 << 15; // pairs
  constexpr uint16_t largest = 15, negative = 0xffff;
  struct Pair {
    uint16_t lower, upper;
  };
  if (bytes.size() % sizeof(Pair) != 0 || bytes.size() < least * sizeof(Pair))
    return "";
  auto isSmall = [](uint16_t half) { return half <= largest || half == negative; };
  auto signOf = [](uint16_t half) { return half == negative ? negative : uint16_t(0); };
  size_t pairs = std::min(bytes.size() / sizeof(Pair), most), spread = 0, mixed = 0;
  bool areZero = true, anyNegative = false;
  bool areLong = bytes.size() % (2 * sizeof(Pair)) == 0; // every second pair repeats a sign
  Pair before{};
  for (size_t i = 0; i < pairs; ++i) {
    Pair pair;
    std::memcpy(&pair, bytes.data() + i * sizeof pair, sizeof pair);
    if (!isSmall(pair.upper))
      return "";
    spread += !isSmall(pair.lower);
    mixed += isSmall(pair.lower) && pair.upper != signOf(pair.lower);
    areZero &= pair.lower == 0 && pair.upper == 0;
    anyNegative |= pair.upper == negative;
    if (i % 2 == 1)
      areLong &= pair.lower == signOf(before.upper) && pair.upper == pair.lower;
    before = pair;
  }
  if (areZero || (mixed > 0 && mixed >= spread))
    return "";
  return areLong ? "i64" : anyNegative ? "i32" : "u32";
}

/// nanoGPT's files have no header: what they could be as well is looked at.
void requireTokens(const Candidate &file) {
  if (isPrintable(file.head()) && file.bytes.size() >= 32)
    throw file.refuse(
        "is named .bin, like files of two-byte tokens, but contains text; give the format: text:",
        file.path, " or u16:", file.path);
  if (std::string type = widerTokens(file.bytes); !type.empty())
    throw file.refuse("does not look like nanoGPT's two-byte tokens, of which every second one "
                      "would be below 16 or all ones: its tokens seem to have ",
                      type == "i64" ? "64" : "32", " bits each; give the format: ", type, ":",
                      file.path, " or u16:", file.path);
}

/// Whether all of it is numbers and what separates them.
bool isOfNumbers(std::string_view text) {
  bool any = false;
  for (char c : text) {
    bool digit = c >= '0' && c <= '9';
    any |= digit;
    if (!digit && !std::strchr("+-.eE,;\t \r\n", c))
      return false;
  }
  return any && text.find_first_of(",;\t \n") != text.npos;
}

/// Whether all that there is of the text is JSON, whose rest may be missing.
bool beginsAsJson(std::string_view text) {
  auto keepNothing = [](int, nlohmann::json::parse_event_t, nlohmann::json &) { return false; };
  try {
    [[maybe_unused]] auto nothing = nlohmann::json::parse(text, keepNothing);
    return true;
  } catch (const nlohmann::json::parse_error &error) {
    return error.byte > text.size(); // the end was not expected
  } catch (const nlohmann::json::exception &) {
    return false; // a number that no f64 holds
  }
}

/// Whether the first line that has something is an object or a list of JSON, or all of the text is
/// one; of a text that is cut off, up to there.
bool isJson(std::string_view text, bool isCut) {
  size_t first = text.find_first_not_of(" \t\r\n");
  if (first == text.npos || (text[first] != '{' && text[first] != '['))
    return false;
  text.remove_prefix(first);
  if (nlohmann::json::accept(text.substr(0, text.find('\n'))))
    return true;
  return isCut ? beginsAsJson(text) : nlohmann::json::accept(text);
}

/// A table or records would be read as their characters, which is hardly meant.
void requireProse(const Candidate &file) {
  std::string_view text = file.head();
  bool isCut = text.size() < file.bytes.size();
  if (constexpr std::string_view byteOrderMark = "\xEF\xBB\xBF"; text.starts_with(byteOrderMark))
    text.remove_prefix(byteOrderMark.size());
  const char *what = file.ends({".csv", ".tsv"})                           ? "is a table"
                     : file.ends({".json", ".jsonl", ".ndjson", ".ipynb"}) ? "is JSON"
                     : isOfNumbers(text)   ? "is a text file of numbers"
                     : isJson(text, isCut) ? "is JSON"
                                           : nullptr;
  if (what)
    throw file.refuse(what,
                      ", which Weir would read as characters; save numbers in Python, "
                      "numpy.save(\"OUT.npy\", …), or mark the file as text: text:",
                      file.path);
}

void refuseOtherEncodings(const Candidate &file) {
  using namespace std::string_view_literals;
  struct Mark {
    std::string_view bytes;
    const char *name;
  };
  // The longer first: UTF-32 begins as UTF-16 does.
  for (Mark mark : {Mark{"\xff\xfe\0\0"sv, "UTF-32"}, Mark{"\0\0\xfe\xff"sv, "UTF-32"},
                    Mark{"\xff\xfe"sv, "UTF-16"}, Mark{"\xfe\xff"sv, "UTF-16"}})
    if (file.begins(mark.bytes))
      throw file.refuse("is text in ", mark.name, ", but Weir reads UTF-8; convert it: iconv -f ",
                        mark.name, " -t UTF-8 ", file.path, " > OUT.txt");
  // Without a mark, every second or fourth byte of most texts in these is 0, as in numbers.
  if (file.head().find('\0') != std::string_view::npos)
    throw file.refuse("contains zero bytes, which text does not; if it is text in UTF-16, convert "
                      "it: iconv -f UTF-16LE (or UTF-16BE) -t UTF-8 ",
                      file.path,
                      " > OUT.txt; if it contains numbers, give their type, as in u16:", file.path,
                      "; or mark the file as text: text:", file.path);
}

/// Throws Failure(Exit::data) for what is none, or could be several.
const DataFormat &recognize(const Candidate &file) {
  if (file.begins("\x93NUMPY"))
    return *formatNamed("npy");
  if (const ForeignFile *other = foreignFile(file.bytes))
    throw file.refuse(other->what, "; ", other->asData);
  if (file.ends({".npy"}))
    return *formatNamed("npy");
  if (file.ends({".bin"})) {
    if (isLlmC(file.bytes))
      return *formatNamed("llm.c");
    requireTokens(file);
    return *formatNamed("u16");
  }
  if (looksLikeIdx(file))
    return *formatNamed("idx");
  refuseOtherEncodings(file);
  requireProse(file);
  return *formatNamed("text");
}

} // namespace

std::vector<std::string> formatNames() {
  std::vector<std::string> names;
  for (const DataFormat &format : formats)
    names.emplace_back(format.name);
  return names;
}

std::string pathOf(const std::string &location) {
  return formatOf(location) ? location.substr(location.find(':') + 1) : location;
}

std::string unknownFormat(const std::string &location) {
  size_t colon = location.find(':');
  std::error_code none;
  bool isWord = colon != location.npos && colon > 0 && colon <= 8 &&
                std::ranges::all_of(location.substr(0, colon), [](char c) {
                  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                         (c >= '0' && c <= '9') || c == '.';
                });
  return isWord && !formatOf(location) && !std::filesystem::exists(location, none)
             ? location.substr(0, colon)
             : "";
}

void readRaw(Array &array, Bytes bytes, Element element) {
  size_t size = sizeOf(element);
  if (bytes.size() % size != 0)
    throw Failure(Exit::data,
                  concat(array.path, ": has ", bytes.size(), " bytes, which is no whole number of ",
                         nameOf(element), " values of ", size, " bytes each; ", supportedFormats));
  array.format = nameOf(element);
  array.element = element;
  array.shape = {static_cast<int64_t>(bytes.size() / size)};
  array.data = bytes.data();
  array.isPlain = true;
}

Array openSource(const std::string &location, const Vocabulary *vocabulary) {
  const DataFormat *format = formatOf(location);
  std::string path = pathOf(location);
  auto file = MappedFile::open(path, Exit::data);
  Bytes bytes = file->bytes();
  Array array;
  array.path = path;
  array.owner = array.file = file;
  if (bytes.empty())
    throw Failure(Exit::data, path + ": the file is empty");
  if (!format)
    format = &recognize({path, lowerCase(std::filesystem::path(path).filename().string()), bytes});
  format->read(array, bytes, vocabulary);
  file->requireIntact();
  return array;
}

} // namespace weir
