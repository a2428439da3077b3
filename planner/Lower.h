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

/// What a rank takes, in bytes.
struct RankMemory {
  int64_t parameters = 0, optimizer = 0, state = 0; ///< what is kept from step to step
  int64_t scratch = 0; ///< activations, gradients, and what is exchanged
  int64_t reserve = 0; ///< of threads, batches that are read ahead, and libraries
  int64_t host = 0;    ///< in the host's memory instead

  int64_t device() const { return parameters + optimizer + state + scratch + reserve; }
};

/// Seconds of a step, and memory.
struct Prediction {
  double seconds = 0;
  double computing = 0;     ///< of a rank, on average
  double recomputing = 0;   ///< what of that has been computed before
  double bubble = 0;        ///< that stages wait for each other, were links infinitely fast
  double exposed = 0;       ///< that is exchanged while nothing is computed
  double communicating = 0; ///< what a rank exchanges, one after the other
  RankMemory memory;        ///< of the rank that takes most on its device
  /// What ranks take that run one program on devices of one group of the cluster's: all of them.
  struct Held {
    size_t group;
    RankMemory memory;
  };
  std::vector<Held> held = {};
  bool isLowered = false; ///< what the plan says, not an estimate

  /// Whether each rank takes no more than its device has.
  bool fits = true;

  /// Sets `memory` and `fits` by what is held.
  void sumUpMemory(const Cluster &cluster);
};

class Lowering {
public:
  /// `model` is as the frontend makes it, stays so, and outlives this, as does `cluster`. `options`
  /// has what no strategy says: the target.
  Lowering(mlir::ModuleOp model, PipelineOptions options, const Cluster &cluster)
      : model(model), options(std::move(options)), cluster(cluster) {}

  /// Nothing where it cannot be compiled; `why` is the first error then, as it is said of a model.
  /// Of stages that compute only so many of the step's microbatches, unless 0.
  std::optional<Prediction> predict(const Strategy &strategy, std::string &why,
                                    int64_t sampled = 0);

  /// Whether the step can be cut over the mesh at all, else why not.
  bool takesMesh(const Mesh &mesh, std::string &why);

  /// Of a step on a mesh without stages: seconds of a microbatch and of what is done once, of rank
  /// 0. Of a step that is one microbatch all is its body.
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
    int64_t threads = 1; ///< of a rank
  };
  std::optional<Plans> plansOf(const Strategy &strategy, bool firstAlone, int64_t sampled,
                               std::string &why);

  mlir::ModuleOp model;
  const PipelineOptions options;
  const Cluster &cluster;
};

} // namespace weir::planner

#endif
