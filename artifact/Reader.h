//===- Reader.h - Believing an artifact -----------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nothing in an artifact is used before verify() has returned: afterwards every index, offset,
// size, stride and lifetime in it holds, so the runtime checks none again. What verify() cannot
// know is left to the loader of the machine code (runtime/cpu/Loader.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_ARTIFACT_READER_H
#define WEIR_ARTIFACT_READER_H

#include "artifact/Artifact_generated.h"
#include "support/precision/Precision.h"
#include <cstddef>
#include <span>

namespace weir::artifact {

/// The FlatBuffer in `file`, which is an artifact of this format version, whole and undamaged, or
/// Failure{Exit::model} is thrown. What the FlatBuffer contains is not verified.
std::span<const std::byte> verifiedPayload(std::span<const std::byte> file);

/// The program in `file`, which must stay alive and 16-byte aligned. Throws Failure{Exit::model}
/// that says what is wrong: not an artifact, another format version, truncated, damaged, or made
/// wrong.
const Program &verify(std::span<const std::byte> file);

/// The semantic half alone: what the FlatBuffers verifier cannot see. verify() calls it.
void verifySemantics(const Program &program);

/// Bytes that an artifact may ask for.
constexpr uint64_t maxArena = uint64_t(1) << 40;

/// What a launch may take at most: inputs, results and a workspace.
constexpr uint32_t maxOperands = 1024;

/// What a training run relies on besides: `eval` and `eval_one` take the rows that `step` takes,
/// and have the same outputs. Throws Failure{Exit::model}. A program whose entries are run one by
/// one need not be so. `program` has been verified.
void verifyEvaluations(const Program &program);

/// Where a launch's lines have no place in the action's locations.
constexpr uint16_t noLine = 65535;

static_assert(size_t(DType::MAX) + 1 == programElements, "the schema has the elements of programs");

/// Of a verified artifact.
constexpr Element elementOf(DType dtype) { return Element(dtype); }

/// Of a verified program.
inline weir::Precision precisionOf(const Program &program) {
  return *precisionNamed(EnumNamePrecision(program.precision()));
}

/// Bytes of a tensor; false if a dimension is not positive or the size overflows.
bool tensorSize(DType dtype, const flatbuffers::Vector<int64_t> &shape, uint64_t &size);

} // namespace weir::artifact

#endif
