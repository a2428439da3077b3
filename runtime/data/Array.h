//===- Array.h - Numbers read from a file ---------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What every reader returns: a row-major array over a file's own bytes, its length already checked
// against its shape, and the conversion of its elements to what a model's input takes.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_DATA_ARRAY_H
#define WEIR_RUNTIME_DATA_ARRAY_H

#include "runtime/data/MappedFile.h"
#include "runtime/data/Vocabulary.h"
#include "support/precision/Element.h"
#include <memory>
#include <optional>

namespace weir {

class MappedFile;

struct Array {
  std::string path;   ///< as the user wrote it
  std::string format; ///< idx, npy, text, bytes, nanogpt (u16), llm.c, or a type such as u32
  Element element = Element::u8;
  bool swapped = false; ///< the file is big-endian
  bool isPlain = false; ///< numbers alone: a file that says no shape, which is the input's
  std::vector<int64_t> shape;
  const std::byte *data = nullptr;
  std::shared_ptr<const void> owner;      ///< keeps `data` alive
  std::optional<Vocabulary> vocabulary;   ///< of a text
  std::shared_ptr<const MappedFile> file; ///< all of it, as it lies there

  int64_t count() const; ///< elements
};

/// The number of elements of `shape`, or nothing where it does not fit 63 bits of bytes or a size
/// is negative.
std::optional<int64_t> elementCount(const std::vector<int64_t> &shape, size_t elementSize);

/// Element `index` of an array of integers.
int64_t integerAt(const Array &array, int64_t index);

/// Whether elements of `from` are taken by an input of `to`: the same type, integers by an i32, f64
/// by an f32.
bool converts(Element from, Element to);

/// Writes elements [first, first + count) as `to` (converts() holds). Returns the index of the
/// first element that is not in the range of `to`, or outside [0, limit) where limit is not 0; -1
/// when all were written.
int64_t convert(const Array &array, int64_t first, int64_t count, Element to, int64_t limit,
                std::byte *out);

/// convert() without writing: only the check.
int64_t findOutside(const Array &array, int64_t first, int64_t count, Element to, int64_t limit);

} // namespace weir

#endif
