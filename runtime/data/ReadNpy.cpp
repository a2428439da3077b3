//===- ReadNpy.cpp - NumPy's .npy files -----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Magic, version, header length, and a header that is a Python dictionary with 'descr',
// 'fortran_order' and 'shape'.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
//
//===----------------------------------------------------------------------===//

#include "runtime/data/Readers.h"
#include "support/Error.h"
#include "support/Text.h"
#include <cstring>

namespace weir {
namespace {

/// Reads the dictionary's few literals: strings, True, False and tuples of integers.
class Header {
public:
  Header(std::string_view text, const std::string &path) : text(text), path(path) {}

  std::string descr;
  bool fortran = false;
  std::vector<int64_t> shape;

  void parse() {
    bool seenDescr = false, seenOrder = false, seenShape = false;
    expect('{');
    while (!accept('}')) {
      std::string key = string();
      expect(':');
      if (key == "descr" && !seenDescr) {
        seenDescr = true;
        if (peek() == '[')
          throw fail("has records with fields; save each field as an array of its own");
        descr = string();
      } else if (key == "fortran_order" && !seenOrder) {
        seenOrder = true;
        fortran = boolean();
      } else if (key == "shape" && !seenShape) {
        seenShape = true;
        tuple();
      } else {
        throw fail("has the unexpected or repeated header field '", key, "'");
      }
      if (!accept(',') && peek() != '}')
        throw fail("has a broken header");
    }
    if (peek() != 0 || !seenDescr || !seenOrder || !seenShape)
      throw fail("has a header without 'descr', 'fortran_order' and 'shape' alone");
  }

  template <typename... Parts> Failure fail(const Parts &...parts) const {
    return Failure(Exit::data, concat(path, ": as a .npy file, ", parts...));
  }

private:
  char peek() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t'))
      ++at;
    return at < text.size() ? text[at] : 0;
  }
  bool accept(char c) {
    if (peek() != c)
      return false;
    ++at;
    return true;
  }
  void expect(char c) {
    if (!accept(c))
      throw fail("has a broken header: '", c, "' expected at its byte ", at);
  }
  std::string string() {
    char quote = peek();
    size_t end = quote == '\'' || quote == '"' ? text.find(quote, at + 1) : std::string_view::npos;
    if (end == std::string_view::npos)
      throw fail("has a broken header: a quoted word expected at its byte ", at);
    std::string word(text.substr(at + 1, end - at - 1));
    at = end + 1;
    return word;
  }
  bool boolean() {
    peek();
    for (std::string_view word : {std::string_view("True"), std::string_view("False")})
      if (text.substr(at).starts_with(word)) {
        at += word.size();
        return word == "True";
      }
    throw fail("has a broken header: True or False expected");
  }
  void tuple() {
    expect('(');
    while (!accept(')')) {
      int64_t size = 0;
      if (peek() < '0' || peek() > '9')
        throw fail("has a broken header: a size expected");
      for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
        if (__builtin_mul_overflow(size, 10, &size) ||
            __builtin_add_overflow(size, text[at] - '0', &size))
          throw fail("has a size in its shape that does not fit 63 bits");
      shape.push_back(size);
      if (shape.size() > 8)
        throw fail("has more than 8 dimensions");
      if (!accept(',') && peek() != ')')
        throw fail("has a broken header: a tuple expected");
    }
  }

  std::string_view text;
  const std::string &path;
  size_t at = 0;
};

Element elementOf(const Header &header, bool &swapped) {
  if (header.descr.size() == 3 && std::strchr("<>|=", header.descr[0]))
    if (const ElementRow *row = findNumpy(header.descr.substr(1))) {
      swapped = header.descr[0] == '>' && row->bytes > 1;
      return row->element;
    }
  std::vector<std::string> known;
  for (const ElementRow &row : elementRows)
    if (row.numpy)
      known.push_back(row.name);
  throw header.fail("has elements of type '", header.descr, "'; expected one of ", join(known),
                    "; convert it with astype");
}

} // namespace

void readNpy(Array &array, std::span<const std::byte> bytes) {
  Header none("", array.path);
  if (bytes.size() < 10 || std::memcmp(bytes.data(), "\x93NUMPY", 6) != 0)
    throw none.fail("does not begin with NumPy's magic bytes; ", supportedFormats);
  auto at = [&](size_t i) { return std::to_integer<size_t>(bytes[i]); };
  size_t version = at(6), start = version == 1 ? 10 : 12;
  if (version < 1 || version > 3)
    throw none.fail("has format version ", version, "; expected 1, 2 or 3");
  if (bytes.size() < start)
    throw none.fail("ends within its header");
  size_t length = at(8) | at(9) << 8;
  if (version > 1)
    length |= at(10) << 16 | at(11) << 24;
  if (length > bytes.size() - start)
    throw none.fail("ends within its header: ", length, " bytes expected, ", bytes.size() - start,
                    " found");
  Header header({reinterpret_cast<const char *>(bytes.data()) + start, length}, array.path);
  header.parse();
  array.element = elementOf(header, array.swapped);
  array.shape = header.shape;
  if (header.fortran && array.shape.size() > 1)
    throw header.fail("is in Fortran order; save it with numpy.ascontiguousarray");
  if (array.shape.empty())
    throw header.fail("holds a single number; expected an array");
  std::optional<int64_t> count = elementCount(array.shape, sizeOf(array.element));
  size_t found = bytes.size() - start - length;
  if (!count || static_cast<size_t>(*count) * sizeOf(array.element) != found)
    throw Failure(Exit::data,
                  concat(array.path, ": the header says ", shapeText(array.shape), " of ",
                         nameOf(array.element), ", ",
                         count ? std::to_string(*count * sizeOf(array.element)) : "too many",
                         " bytes, but ", found,
                         " follow it; the file is truncated or damaged, write it again"));
  array.format = "npy";
  array.data = bytes.data() + start + length;
}

} // namespace weir
