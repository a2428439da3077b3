//===- Element.h - What tensors hold --------------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one table of element types. What asks for a type's size, name or range asks it here; the
// compiler's types are mapped to it in ir/weir/ElementTypes.h, an artifact's in
// artifact/Reader.h. docs/checklists/type.md says how to add one.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_PRECISION_ELEMENT_H
#define WEIR_SUPPORT_PRECISION_ELEMENT_H

#include "support/precision/SmallFloat.h"
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>

namespace weir {

/// The first `programElements` are a program's tensors', the others stand in files alone.
enum class Element : uint8_t {
  f32,
  i32,
  u8,
  b8,
  bf16,
  f16,
  f8e4m3,
  f8e5m2, // as the schema's DType
  f64,
  c64,
  i64,
  u64,
  u32,
  i16,
  u16,
  i8
};

constexpr size_t programElements = 8;

enum class ElementKind : uint8_t { real, complex, integer, natural, truth };

struct ElementRow {
  Element element;
  const char *name; ///< in models, messages and reports
  size_t bytes;     ///< as stored
  ElementKind kind;
  Element work;            ///< what arithmetic on it is done in
  const char *numpy;       ///< its descr without the byte order; null: files of it are not read
  const char *safetensors; ///< its dtype there
};

constexpr ElementRow elementRows[] = {
    {Element::f32, "f32", 4, ElementKind::real, Element::f32, "f4", "F32"},
    {Element::i32, "i32", 4, ElementKind::integer, Element::i32, "i4", "I32"},
    {Element::u8, "u8", 1, ElementKind::natural, Element::i32, "u1", "U8"},
    {Element::b8, "bool", 1, ElementKind::truth, Element::b8, "b1", "BOOL"}, // a byte, 0 or 1
    {Element::bf16, "bf16", 2, ElementKind::real, Element::f32, nullptr, "BF16"},
    {Element::f16, "f16", 2, ElementKind::real, Element::f32, "f2", "F16"},
    {Element::f8e4m3, "f8e4m3", 1, ElementKind::real, Element::f32, nullptr, "F8_E4M3"},
    {Element::f8e5m2, "f8e5m2", 1, ElementKind::real, Element::f32, nullptr, "F8_E5M2"},
    {Element::f64, "f64", 8, ElementKind::real, Element::f64, "f8", "F64"},
    {Element::c64, "c64", 8, ElementKind::complex, Element::c64, nullptr, "C64"},
    {Element::i64, "i64", 8, ElementKind::integer, Element::i64, "i8", "I64"},
    {Element::u64, "u64", 8, ElementKind::natural, Element::u64, nullptr, "U64"},
    {Element::u32, "u32", 4, ElementKind::natural, Element::u32, "u4", "U32"},
    {Element::i16, "i16", 2, ElementKind::integer, Element::i32, "i2", "I16"},
    {Element::u16, "u16", 2, ElementKind::natural, Element::i32, "u2", "U16"},
    {Element::i8, "i8", 1, ElementKind::integer, Element::i32, "i1", "I8"},
};

static_assert(
    [] {
      size_t at = 0;
      for (const ElementRow &row : elementRows)
        if (row.element != Element(at++))
          return false;
      return true;
    }(),
    "rows stand in the order of the enumerators");

constexpr const ElementRow &rowOf(Element element) { return elementRows[size_t(element)]; }
constexpr size_t sizeOf(Element element) { return rowOf(element).bytes; }
constexpr const char *nameOf(Element element) { return rowOf(element).name; }

/// The names of a program's elements, in their order.
constexpr auto programElementNames = [] {
  std::array<std::string_view, programElements> names;
  for (size_t i = 0; i < programElements; ++i)
    names[i] = elementRows[i].name;
  return names;
}();

/// Whether tensors of it are stored alone: arithmetic on it is done in a wider type.
constexpr bool isLow(Element element) {
  return rowOf(element).kind == ElementKind::real && rowOf(element).work != element;
}

/// Whether its numbers are whole; a truth value is none.
constexpr bool isInteger(Element element) {
  return rowOf(element).kind == ElementKind::integer || rowOf(element).kind == ElementKind::natural;
}

/// The least and the greatest number of an element of at most four bytes that is whole or a truth
/// value.
constexpr int64_t leastOf(Element element) {
  return rowOf(element).kind == ElementKind::integer ? -(int64_t(1) << (8 * sizeOf(element) - 1))
                                                     : 0;
}
constexpr int64_t mostOf(Element element) {
  if (rowOf(element).kind == ElementKind::truth)
    return 1;
  return leastOf(element) + (int64_t(1) << (8 * sizeOf(element))) - 1;
}

/// The row that safetensors files, or NumPy's, name so; null where none is.
constexpr const ElementRow *findSafetensors(std::string_view name) {
  for (const ElementRow &row : elementRows)
    if (name == row.safetensors)
      return &row;
  return nullptr;
}
constexpr const ElementRow *findNumpy(std::string_view name) {
  for (const ElementRow &row : elementRows)
    if (row.numpy && name == row.numpy)
      return &row;
  return nullptr;
}

/// Calls body(T()) with the C++ type of the element's numbers, which programs' elements have and
/// those that NumPy's files are read of.
template <typename Body> decltype(auto) visitNumber(Element element, Body body) {
  switch (element) {
  case Element::f32:
    return body(float{});
  case Element::f64:
    return body(double{});
  case Element::u8:
  case Element::b8:
    return body(uint8_t{});
  case Element::i8:
    return body(int8_t{});
  case Element::u16:
    return body(uint16_t{});
  case Element::i16:
    return body(int16_t{});
  case Element::u32:
    return body(uint32_t{});
  case Element::i32:
    return body(int32_t{});
  case Element::i64:
    return body(int64_t{});
  case Element::bf16:
    return body(BFloat16{});
  case Element::f16:
    return body(Float16{});
  case Element::f8e4m3:
    return body(Float8E4M3{});
  case Element::f8e5m2:
    return body(Float8E5M2{});
  case Element::c64:
  case Element::u64:
    break;
  }
  assert(false && "no number of this element is read or written");
  __builtin_unreachable();
}

/// Numbers from and to their bytes, at any alignment. What is stored is in the element's range.
inline void loadNumbers(Element element, const std::byte *from, std::span<double> to) {
  visitNumber(element, [&](auto number) {
    for (double &value : to) {
      std::memcpy(&number, from, sizeof number);
      from += sizeof number;
      value = static_cast<double>(number);
    }
  });
}
inline void storeNumbers(Element element, std::span<const double> from, std::byte *to) {
  visitNumber(element, [&](auto number) {
    for (double value : from) {
      number = static_cast<decltype(number)>(value);
      std::memcpy(to, &number, sizeof number);
      to += sizeof number;
    }
  });
}

/// What is loaded again after `value` was stored.
inline double rounded(Element element, double value) {
  return visitNumber(element, [&](auto number) {
    return static_cast<double>(static_cast<decltype(number)>(value));
  });
}

/// The distance from 1 to the next larger number of a float.
inline double lastPlace(Element element) {
  double place = 1;
  while (rounded(element, 1 + place / 2) != 1)
    place /= 2;
  return place;
}

} // namespace weir

#endif
