//===- Recognize.h - Files of formats that are not read -------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files that people give for data or weights, told by their first bytes whatever their name is, and
// how to turn each into a format that is read. None of these is read itself.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_DATA_RECOGNIZE_H
#define WEIR_RUNTIME_DATA_RECOGNIZE_H

#include <cstddef>
#include <span>

namespace weir {

struct ForeignFile {
  const char *what;      ///< "is a .npz file of NumPy"
  const char *asData;    ///< what to do to read it as data
  const char *asWeights; ///< what to do to read it as weights; null: as for data, there is nothing
};

/// What the bytes of a file begin as; null where they are of no such format.
const ForeignFile *foreignFile(std::span<const std::byte> bytes);

/// Whether the file is one of safetensors, a row of its own where data are read.
bool isSafeTensors(std::span<const std::byte> bytes);

} // namespace weir

#endif
