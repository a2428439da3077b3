//===- Header.h - What stands before an artifact's payload ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 32 bytes, little endian, then the FlatBuffer (Artifact.fbs). The hash covers every byte of the
// payload, so damage is told apart from a file that was made wrong.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_ARTIFACT_HEADER_H
#define WEIR_ARTIFACT_HEADER_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weir::artifact {

/// Grows with every change of the schema or of what a field means; not with a field added at a
/// table's end that may be missing, nor with one deprecated that every reader can do without.
constexpr uint32_t formatVersion = 3;

/// A FlatBuffer addresses no more.
constexpr uint64_t maxPayload = (uint64_t(1) << 31) - 1;

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t reserved; ///< 0
  uint64_t payloadBytes;
  uint64_t hash; ///< XXH3_64 of the payload
};
static_assert(sizeof(Header) == 32);

constexpr char magic[8] = {'W', 'E', 'I', 'R', 'X', 0, 0, 0};

uint64_t payloadHash(std::span<const std::byte> payload);

/// The file's bytes: the header, then `payload` (a finished FlatBuffer with the identifier).
std::vector<std::byte> wrap(std::span<const std::byte> payload);

} // namespace weir::artifact

#endif
