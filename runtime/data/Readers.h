//===- Readers.h - The formats data comes in ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Readers of the formats that people have: idx, .npy, text, bytes, nanoGPT's and llm.c's token
// files, and numbers of any type without a header. Each checks every length it finds against the
// file before believing it, and throws Failure(Exit::data) naming the file, what was expected, what
// was found and what to do.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_RUNTIME_DATA_READERS_H
#define WEIR_RUNTIME_DATA_READERS_H

#include "runtime/data/Array.h"
#include <span>
#include <vector>

namespace weir {

/// Opens what `location` names: "FORMAT:PATH", or a path, whose format is told by its content and
/// its name. What several formats could be is refused, and how to be explicit is said. A text is
/// numbered by `vocabulary` where one is given, otherwise by its own.
Array openSource(const std::string &location, const Vocabulary *vocabulary = nullptr);

/// The path in a location.
std::string pathOf(const std::string &location);

/// The word before the colon of a location that is no path, since no file is named so, and no
/// format either; "" where there is none.
std::string unknownFormat(const std::string &location);

/// The formats that a location can name: "text, bytes, idx, npy, …".
std::vector<std::string> formatNames();

/// The formats one by one. `array` has its path and owner set; `bytes` is the whole file.
void readIdx(Array &array, std::span<const std::byte> bytes);
void readNpy(Array &array, std::span<const std::byte> bytes);
void readTokens(Array &array, std::span<const std::byte> bytes); ///< llm.c's
/// Whether a file has llm.c's header, of tokens or of something else.
bool isLlmC(std::span<const std::byte> bytes);
/// Numbers of one type, little-endian, and nothing else.
void readRaw(Array &array, std::span<const std::byte> bytes, Element element);
/// UTF-8, its byte-order mark left out.
void readText(Array &array, std::span<const std::byte> bytes, const Vocabulary *vocabulary);

/// Ends the message of a file that is no format of ours.
extern const char *const supportedFormats;

} // namespace weir

#endif
