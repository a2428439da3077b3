//===- Reader.cpp - Believing an artifact ---------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "artifact/Reader.h"
#include "artifact/Header.h"
#include "support/Error.h"
#include <cstring>
#include <string>

namespace weir::artifact {

// Nesting of tables in a whole artifact: program, entry, action, repeat, action, work, bounded with
// room for growth.
static constexpr flatbuffers::uoffset_t maxDepth = 16;
static constexpr flatbuffers::uoffset_t maxTables = 4'000'000;

static void fail(const std::string &what) { throw Failure(Exit::model, what); }

std::span<const std::byte> verifiedPayload(std::span<const std::byte> file) {
  if (file.size() < sizeof(magic) || std::memcmp(file.data(), magic, sizeof(magic)) != 0)
    fail("this is not a Weir artifact: it does not begin with WEIRX (`weir compile` makes one)");
  if (file.size() < sizeof(Header))
    fail("the artifact is truncated: it has " + std::to_string(file.size()) +
         " bytes, its header alone has 32; copy or compile it again");
  Header header;
  std::memcpy(&header, file.data(), sizeof(Header));
  if (header.version != formatVersion)
    fail("the artifact has format version " + std::to_string(header.version) +
         ", this Weir reads version " + std::to_string(formatVersion) +
         ": run it with the Weir that compiled it, or compile the model again with this one");
  std::span<const std::byte> payload = file.subspan(sizeof(Header));
  if (payload.size() < header.payloadBytes)
    fail("the artifact is truncated: its header promises " + std::to_string(header.payloadBytes) +
         " bytes, " + std::to_string(payload.size()) + " are there; copy or compile it again");
  if (payload.size() > header.payloadBytes)
    fail("the artifact goes on after its end; copy or compile it again");
  if (header.reserved != 0 || payloadHash(payload) != header.hash)
    fail("the artifact is damaged: its hash does not match its bytes; copy or compile it again");
  return payload;
}

const Program &verify(std::span<const std::byte> file) {
  const std::span<const std::byte> payload = verifiedPayload(file);
  flatbuffers::Verifier::Options limits;
  limits.max_depth = maxDepth;
  limits.max_tables = maxTables;
  if (payload.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
    fail("the artifact is larger than the 2 GiB its format can address");
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t *>(payload.data()), payload.size(),
                                 limits);
  if (!VerifyProgramBuffer(verifier))
    fail("the artifact is malformed: a table or offset in it points outside the file; it was made "
         "by a broken or another version: compile it again");
  const Program &program = *GetProgram(payload.data());
  verifySemantics(program);
  return program;
}

bool tensorSize(DType dtype, const flatbuffers::Vector<int64_t> &shape, uint64_t &size) {
  // The FlatBuffers verifier looks at where a vector begins, not at where its 8-byte elements do.
  if (shape.size() && reinterpret_cast<uintptr_t>(shape.Data()) % alignof(int64_t) != 0)
    return false;
  size = sizeOf(elementOf(dtype));
  for (int64_t dim : shape)
    if (dim <= 0 || __builtin_mul_overflow(size, static_cast<uint64_t>(dim), &size))
      return false;
  return true;
}

} // namespace weir::artifact
