//===- Fingerprint.h - Whether a file has the same content ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_CHECKPOINT_FINGERPRINT_H
#define WEIR_RUNTIME_CHECKPOINT_FINGERPRINT_H

#include <cstddef>
#include <span>
#include <string>

namespace weir {

/// What is read of larger files: this many blocks of this many bytes, the first at the file's
/// beginning, the last at its end, the others evenly between them.
constexpr size_t wholeUpTo = size_t{1} << 30, sampledBlocks = 1024, blockBytes = size_t{1} << 16;

/// XXH3_64 of the bytes, or of the sample where there are more than `whole`; 16 hexadecimal digits.
/// Files of different sizes may have the same.
std::string fingerprint(std::span<const std::byte> bytes, size_t whole = wholeUpTo);

} // namespace weir

#endif
