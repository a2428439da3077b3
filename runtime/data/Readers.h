//===- Readers.h - The formats data comes in ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Readers of the formats that people have: idx, .npy, text, bytes, nanoGPT's and llm.c's token
// files. Each checks every length it finds against the file before believing it, and throws
// Failure(Exit::data) naming the file, what was expected, what was found and what to do.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_DATA_READERS_H
#define WEIR_RUNTIME_DATA_READERS_H

#include "runtime/data/Array.h"
#include <span>

namespace weir {

/// Opens what `location` names: "bytes:PATH" or a path, whose format is told by its content and
/// extension. A text is numbered by `vocabulary` where one is given, otherwise by its own.
Array openSource(const std::string &location, const Vocabulary *vocabulary = nullptr);

/// The path in a location.
std::string pathOf(const std::string &location);

/// The formats one by one. `array` has its path and owner set; `bytes` is the whole file.
void readIdx(Array &array, std::span<const std::byte> bytes);
void readNpy(Array &array, std::span<const std::byte> bytes);
void readTokens(Array &array, std::span<const std::byte> bytes);
void readText(Array &array, std::span<const std::byte> bytes, const Vocabulary *vocabulary);

/// Ends the message of a file that is no format of ours.
extern const char *const supportedFormats;

} // namespace weir

#endif
