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

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weir {

class NpyFile {
public:
  /// Begins a file of `descr` ("<f4") elements beside `path`. Throws Failure(Exit::storage) where
  /// it cannot be written.
  NpyFile(std::string path, const std::string &descr, const std::vector<int64_t> &shape);
  /// Removes it unless it was finished.
  ~NpyFile();
  NpyFile(const NpyFile &) = delete;
  NpyFile &operator=(const NpyFile &) = delete;

  /// Appends elements, in their order. Throws Failure(Exit::storage).
  void write(const std::byte *data, size_t size);

  /// All elements were written: puts the file in its place, where another may have been until now.
  /// A pipe or a device was written all along. Throws Failure(Exit::storage).
  void finish();

  const std::string &path() const { return target; }

private:
  [[noreturn]] void fail();
  void discard();
  std::string target;  // as it was asked for
  std::string renamed; // the file that is replaced; "": none
  std::string place;   // what is written
  int file = -1;
  bool made = false; // a file to be removed unless it is finished
  bool finished = false;
};

} // namespace weir

#endif
