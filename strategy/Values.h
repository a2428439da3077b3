//===- Values.h - The values of a strategy that have names ---------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each type here has two functions. strategy::valueOf(text, value) sets `value` to what the text
// names and returns "", or returns what is wrong with the text. textOf(value) returns a text that
// valueOf() takes.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_STRATEGY_VALUES_H
#define WEIR_STRATEGY_VALUES_H

#include "support/mesh/MachineRates.h"
#include "support/mesh/Mesh.h"
#include "support/precision/Element.h"
#include "support/precision/LossScale.h"
#include "support/precision/Precision.h"
#include <cstdint>
#include <string>
#include <string_view>

namespace weir {

/// The order in which the ranks of a pipeline compute their parts of microbatches
/// (passes/stages/Schedules.h has the orders and their papers).
struct PipelineSchedule {
  enum Kind : uint8_t { gpipe, one_f_one_b, interleaved, zero_bubble };
  /// Most stages that a rank may be given.
  static constexpr int64_t mostChunks = 64;

  Kind kind = one_f_one_b;
  int64_t chunks = 1; ///< stages of each rank: 1, and with `interleaved` from 2 to mostChunks
  bool operator==(const PipelineSchedule &) const = default;
};

/// How attention is computed where its sequence is sharded over cp. docs/guides/several-gpus.md
/// compares them.
enum class ContextParallel : uint8_t { all_to_all, gather, ring };

/// The variables in host memory. Each kind includes the ones before it.
enum class OffloadedVariables : uint8_t { none, optimizer, parameters };

/// Tensors in host memory, which the device loads when it needs them.
struct Offload {
  OffloadedVariables variables = OffloadedVariables::none;
  bool activations = false; ///< allowed where `memory` leaves no room for them

  bool any() const { return activations || variables != OffloadedVariables::none; }
  bool operator==(const Offload &) const = default;
};

namespace strategy {

/// The end of a message, ", but found fast"; of an empty text, ", but found \"\"".
std::string butFound(std::string_view text);

/// "gpipe, 1f1b, interleaved[:N] (N from 2 to 64) or zero-bubble"
std::string scheduleNames();
std::string valueOf(std::string_view text, bool &value);
std::string valueOf(std::string_view text, Mesh &mesh);
std::string valueOf(std::string_view text, PipelineSchedule &schedule);
std::string valueOf(std::string_view text, ContextParallel &value);
std::string valueOf(std::string_view text, Precision &precision);
std::string valueOf(std::string_view text, LossScale &scale);
std::string valueOf(std::string_view text, Offload &offload);
std::string valueOf(std::string_view text, Link &link);
std::string valueOf(std::string_view text, MeshRates &rates);

std::string textOf(bool value);
std::string textOf(int64_t value);
std::string textOf(const Mesh &mesh);
std::string textOf(const PipelineSchedule &schedule);
std::string textOf(ContextParallel value);
std::string textOf(Precision precision);
std::string textOf(Element element);
std::string textOf(const LossScale &scale);
std::string textOf(OffloadedVariables variables);
std::string textOf(const Offload &offload);
std::string textOf(const Link &link);
std::string textOf(const MeshRates &rates);

} // namespace strategy
} // namespace weir

#endif
