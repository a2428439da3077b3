//===- Strategy.h - Every decision about a training step -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A strategy says how a step is carried out: on which devices, in which precision, within which
// memory, with which communication. It says nothing of the model, nor of the target.
//
// The command line, plan files, `weir plan`, `weir verify`, weir-smith and `weir-opt
// --weir-strategy` fill in this struct, and passes read it from the module (ir/weir/Strategy.h).
// Fields.h lists its fields with their names and help. To add a decision: a member here, a row in
// Fields.cpp, and the pass that reads it.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_STRATEGY_STRATEGY_H
#define WEIR_STRATEGY_STRATEGY_H

#include "strategy/Setting.h"
#include "strategy/Values.h"
#include <optional>
#include <vector>

namespace weir {

struct Strategy {
  // Parallelism.
  Mesh mesh = {};  ///< the devices and their axes; no axes: one device
  Mesh hosts = {}; ///< the processes, where one has several ranks of `mesh`; no axes: one rank each
  Setting<int64_t> zero = byDefault<int64_t>(0); ///< ZeRO stage, 0 to 3
  Setting<PipelineSchedule> schedule = byDefault(PipelineSchedule());
  Setting<bool> sequenceParallel = byDefault(true); ///< Megatron sequence parallelism over tp
  std::optional<ContextParallel> contextParallel = std::nullopt; ///< nothing: the compiler chooses
  Setting<bool> deterministic = byDefault(false);                ///< the same bits on every mesh

  // Precision.
  Setting<Precision> precision = byDefault(Precision::f32); ///< what products multiply
  Setting<Element> paramType = byDefault(Element::f32);     ///< of parameters and optimizer state
  std::optional<LossScale> lossScale = std::nullopt; ///< nothing: dynamic with f16, else none

  // Memory.
  std::optional<int64_t> memory = std::nullopt; ///< bytes of a rank; nothing: as many as it takes
  int64_t threads = 1; ///< of a rank, on a CPU: each takes memory of its own
  std::optional<int64_t> microbatches = std::nullopt; ///< of a step; nothing: the model's
  Setting<Offload> offload = byDefault(Offload());
  std::vector<std::string> recompute = {}; ///< patterns of blocks (ir/weir/requests/Blocks.h)

  // Communication. The types of reductions are f32, or what `precision` stores.
  Setting<Element> gradReduceType = byDefault(Element::f32); ///< of gradients, over ranks
  Setting<Element> tpReduceType = byDefault(Element::f32);   ///< of partial sums, over tp
  Setting<bool> overlap = byDefault(true);                   ///< with computation
  Setting<Link> link = byDefault(machines::defaultLink);     ///< that collectives are scheduled for
  std::optional<MeshRates> rates = std::nullopt;             ///< that shardings are chosen by

  bool operator==(const Strategy &) const = default;

  bool hasMesh() const { return !mesh.axes.empty(); }
  /// Ranks along pp; 1 without a pipeline.
  int64_t stages() const;
  /// Whether each microbatch reduces its gradients over ranks, so that shards are accumulated.
  bool reducesInMicrobatches() const { return hasMesh() && *zero >= 2; }
  /// The ranks of a pipeline wait for each other where they communicate, so nothing overlaps there.
  bool overlaps() const { return hasMesh() && *overlap && stages() == 1; }
  /// The rates by which shardings are chosen.
  MeshRates usedRates() const { return rates.value_or(MeshRates()); }

  /// The strategy that passes carry out where this one was asked for. `deterministic` computes as a
  /// mesh of fixed size does, whose ranks the processes share; a mesh of one CPU is no mesh.
  Strategy carriedOut(std::string_view target) const;

private:
  template <class T> static Setting<T> byDefault(T value) { return Setting<T>::byDefault(value); }
};

} // namespace weir

#endif
