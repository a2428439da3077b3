//===- Fault.h - Faults of a planned entry --------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_SUPPORT_PLANNED_FAULT_H
#define WEIR_SUPPORT_PLANNED_FAULT_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::planned {

/// Fault.cpp has a text for each, in this order.
enum class FaultKind : uint8_t {
  // Malformed plans.
  unknownKind,
  misplaced,
  unknownBuffer,
  unknownQueue,
  unknownEvent,
  unknownLoop,
  strideTwice,
  emptyAccess,
  emptyLoop,
  nestingTooDeep,
  tooManyQueues,
  neverRecorded,
  // Offsets and lifetimes of buffers.
  emptyBuffer,
  bufferOutsideSpace,
  misaligned,
  badLifetime,
  buffersOverlap,
  // Ranges of accesses.
  accessOutsideBuffer,
  writeToConstant,
  outsideLifetime,
  diesInLoop,
  // Reads.
  readBeforeWrite,
  overwritten,
  // Happens-before.
  queueNotForked,
  inputNotVisible,
  writeThenRead,
  readThenWrite,
  writeThenWrite,
  writtenTwice,
  outputBeforeCompletion,
  queueNotJoined,
  // The plan may be correct, but simulating it would take too long.
  tooLongToProve,
  // All ranks together (Ranks.h).
  rankWithoutProgram,
  otherEntries,
  otherVariables,
  otherInputs,
  otherResults,
  unknownLayout,
  otherLayout,
  sharesOverlap,
  shareMissing,
  unknownAxis,
  axisOnQueues,
  missingCollective,
  otherOrder,
  otherAxis,
  otherRounds,
  otherKind,
  otherSource,
  otherElement,
  otherSize,
  deadlock,
  unknownPeer,
  missingSend,
  missingReceive,
  otherMicrobatch,
  sentTwice,
};

/// A short text without a place: "read before it is written".
std::string_view text(FaultKind kind);

struct Fault {
  FaultKind kind;
  std::string message; ///< the action, queue, access and buffer, and what was expected
  /// The number of the action; none for a fault of a buffer or the host.
  std::optional<uint32_t> action = std::nullopt;
};

/// Nothing if there is no fault.
using Finding = std::optional<Fault>;

} // namespace weir::planned

#endif
