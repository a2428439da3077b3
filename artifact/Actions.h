//===- Actions.h - What every action of an artifact answers ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The plan dialect's Action interface (ir/plan/PlanAction.td) for files: who checks, prepares,
// traces or describes actions asks here and knows no kinds. Programs have been verified
// (artifact/Reader.h) unless a comment says otherwise.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_ARTIFACT_ACTIONS_H
#define WEIR_ARTIFACT_ACTIONS_H

#include "artifact/Artifact_generated.h"
#include "support/spec/Call.h"
#include <functional>
#include <optional>

namespace weir::artifact {

/// The device that the program is for.
inline const Device &deviceOf(const Program &program) { return *program.devices()->Get(0); }

/// Bytes of the device's arena, its pinned memory and what lies with the host.
inline uint64_t memoryOf(const Program &program) {
  const Device &device = deviceOf(program);
  return device.arena() + device.pinned() + device.host();
}

/// The spec of a call; none for one that is unknown, has other fields, or fails its own check.
/// `why` then says what is wrong. For programs that have not been verified.
std::optional<spec::Call> readSpec(const Call &call, std::string &why);

/// The spec of a call of a verified program.
spec::Call specOf(const Call &call);

/// Where a buffer of an entry or a variable lies: bytes from the arena's start, behind whose end
/// are pinned memory and then the host's.
uint64_t addressOf(const Program &program, const Buffer &buffer);
uint64_t addressOf(const Program &program, const Variable &variable);

/// Where an operand or a port of the entry lies in no round.
uint64_t addressOf(const Program &program, const Entry &entry, const Ref &ref);

/// What the action touches of each of its operands.
std::vector<spec::Footprint> footprintsOf(const Program &program, const Action &action);

/// The work of one run of it; all parts of a kernel count for the first, a loop's body for itself.
spec::Cost costOf(const Program &program, const Action &action);

/// "file:line", or "" where the location is null or unknown.
std::string placeOf(const Program &program, const Location *at);

/// In words: "launch of kernel_3, row", "product 64x32x16", "copy".
std::string describe(const Program &program, const Action &action);

/// The same and the model's first line that it computes: "launch of kernel_3, row (gpt.weir:12)".
std::string describeAt(const Program &program, const Action &action);

/// The actions of a loop's body; null for all others.
const flatbuffers::Vector<flatbuffers::Offset<Action>> *bodyOf(const Action &action);

/// Every action of an entry, at its number.
std::vector<const Action *> actionsOf(const Entry &entry);

} // namespace weir::artifact

#endif
