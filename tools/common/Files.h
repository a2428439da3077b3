//===- Files.h - Whole files in and out -----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_TOOLS_COMMON_FILES_H
#define WEIR_TOOLS_COMMON_FILES_H

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace weir {

/// An artifact's bytes, unverified; Failure{Exit::model} where it cannot be read.
std::vector<std::byte> readArtifact(const std::string &path);

/// As readArtifact(), of a file that artifact::verifiedPayload() accepts. If it does not,
/// Failure{Exit::model} names the file. Loading the program verifies the rest.
std::vector<std::byte> readUndamagedArtifact(const std::string &path);

/// Writes beside `path` and renames, so that what was there stays until the new file is whole. "-"
/// is standard output. Failure{Exit::storage} where that is not possible.
void writeFile(const std::string &path, std::span<const std::byte> bytes);
inline void writeFile(const std::string &path, const std::string &text) {
  writeFile(path, std::as_bytes(std::span(text)));
}

} // namespace weir

#endif
