//===- Lower.h - Lowers a strategy to a plan ------------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles a strategy up to its plan, without code, and simulates the plan's actions on a described
// cluster. The memory of the plan is exact, to the byte.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PLANNER_LOWER_H
#define WEIR_PLANNER_LOWER_H

#include "ir/weir/RankPrograms.h"
#include "passes/Pipeline.h"
#include "planner/machines/Cluster.h"
#include "strategy/Strategy.h"

namespace weir::planner {

/// Memory of a rank, in bytes.
struct RankMemory {
  int64_t parameters = 0, optimizer = 0, state = 0; ///< kept from step to step
  int64_t scratch = 0; ///< activations, gradients, and communication buffers
  int64_t reserve = 0; ///< threads' scratch, prefetched batches, and libraries' workspace
  int64_t host = 0;    ///< offloaded to the host's memory

  int64_t device() const { return parameters + optimizer + state + scratch + reserve; }
};

/// Predicted time of a step in seconds, and memory.
struct Prediction {
  double seconds = 0;
  double computing = 0;     ///< of a rank, on average
  double recomputing = 0;   ///< the part of that for recomputation
  double bubble = 0;        ///< idle time of stages, if links were infinitely fast
  double exposed = 0;       ///< communication without overlapping computation
  double communicating = 0; ///< a rank's communication without overlap
  RankMemory memory;        ///< of the rank with the most memory on its device
  /// Memory of the ranks that run one program on devices of one group of the cluster, for all such
  /// sets.
  struct Held {
    size_t group;
    RankMemory memory;
  };
  std::vector<Held> held = {};
  bool isLowered = false; ///< from the lowered plan, not an estimate

  /// Whether each rank fits on its device.
  bool fits = true;

  /// Sets `memory` and `fits` from the memory of all ranks.
  void sumUpMemory(const Cluster &cluster);
};

class Lowering {
public:
  /// `model` is the frontend's module. It does not change, and it and `cluster` must outlive this.
  /// `options` contains what no strategy states: the target.
  Lowering(mlir::ModuleOp model, PipelineOptions options, const Cluster &cluster)
      : model(model), options(std::move(options)), cluster(cluster) {}

  /// Nothing if it cannot be compiled; `why` is then the first error, as a user would see it. With
  /// pipeline stages, computes only so many of the step's microbatches, unless 0.
  std::optional<Prediction> predict(const Strategy &strategy, std::string &why,
                                    int64_t sampled = 0);

  /// Whether the step can be sharded over the mesh at all; if not, why.
  bool takesMesh(const Mesh &mesh, std::string &why);

  /// For a step on a mesh without stages: the seconds of a microbatch, and of everything that runs
  /// once, on rank 0. For a step of one microbatch, everything is its body.
  struct Parts {
    double body = 0, bodyComputing = 0, bodyRecomputing = 0, bodyCommunicating = 0;
    double outside = 0;
    RankMemory memory = {};
  };
  std::optional<Parts> parts(const Strategy &strategy, std::string &why);

private:
  struct Plans {
    std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
    RankPrograms programs;
    Mesh mesh;
    int64_t threads = 1; ///< per rank
  };
  std::optional<Plans> plansOf(const Strategy &strategy, bool firstAlone, int64_t sampled,
                               std::string &why);

  mlir::ModuleOp model;
  const PipelineOptions options;
  const Cluster &cluster;
};

} // namespace weir::planner

#endif
