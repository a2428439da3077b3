//===- NpyFile.h - An array written row by row ----------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NumPy's .npy, version 1.0, little-endian and row-major.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_REPORT_NPYFILE_H
#define WEIR_RUNTIME_REPORT_NPYFILE_H

#include "support/precision/Element.h"
#include "support/system/NewFile.h"
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weir {

class NpyFile {
public:
  /// Begins a file beside `path`; it is removed unless it is finished. What NumPy has no name for
  /// is written as f32, which holds each of its numbers. Throws Failure(Exit::storage) where it
  /// cannot be written.
  NpyFile(std::string path, Element element, const std::vector<int64_t> &shape);

  /// Appends elements, in their order. Throws Failure(Exit::storage).
  void write(const std::byte *data, size_t size);

  /// Of the file.
  Element element() const { return written; }

  /// All elements were written: puts the file in its place, where another may have been until now.
  /// A pipe or a device was written all along. Throws Failure(Exit::storage).
  void finish() { file.finish(); }

  const std::string &path() const { return file.path(); }

private:
  NewFile file;
  Element given, written;
};

} // namespace weir

#endif
