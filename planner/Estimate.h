//===- Estimate.h - What a strategy comes to, without lowering it -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The closed form that a search asks thousands of times. What a microbatch takes depends on the
// axes that cut a layer (tp, cp, ep), on its rows and on what is computed again; that much is
// lowered once, as a sample of a few layers, and the others, dp, pp, ZeRO, the schedule and the
// number of microbatches are reckoned from it. Lowering the strategy itself (Lower.h) says it
// exactly.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PLANNER_ESTIMATE_H
#define WEIR_PLANNER_ESTIMATE_H

#include "planner/Facts.h"
#include "planner/Lower.h"

namespace weir::planner {

/// A mesh's axes, each 1 where there is none.
struct AxisSizes {
  int64_t pp = 1, dp = 1, ep = 1, cp = 1, tp = 1;

  static AxisSizes of(const Mesh &mesh);
  /// In the order that has what is exchanged most innermost. No axes: one rank.
  Mesh mesh() const;
  int64_t ranks() const { return pp * dp * ep * cp * tp; }
};

class Estimator {
public:
  /// All outlive it.
  Estimator(mlir::ModuleOp model, const PipelineOptions &options, const Cluster &cluster,
            Facts &facts)
      : model(model), options(options), cluster(cluster), facts(facts) {}

  /// How well a microbatch's rows are met: by the sample of as many, or by what lies between those
  /// of few and of more, which is the same for many strategies.
  enum class Rows { met, between };

  /// Nothing where the strategy cannot be compiled, with the reason.
  std::optional<Prediction> estimate(const Strategy &strategy, Rows rows, std::string &why);

  /// The same from two shallow models, of a layer a stage and of two (of eight and ten without
  /// stages), that are lowered whole: what grows with layers is taken to grow evenly, and of stages
  /// what grows with microbatches. Of a model that is no deeper it is what the plan says.
  std::optional<Prediction> estimateClosely(const Strategy &strategy, std::string &why);

  /// How many samples were lowered.
  int64_t samples() const { return int64_t(sampled.size()); }

private:
  /// A step on one rank of dp and pp: what a microbatch takes, what a step takes besides, and
  /// bytes.
  struct Sample {
    std::string why;                                                    ///< "" where there is one
    double body = 0, computing = 0, recomputing = 0, communicating = 0; ///< of a microbatch
    double outside = 0;                                                 ///< of a step
    RankMemory memory;
    double ofLayers = 0; ///< bytes of scratch that are there for layers, not for what is around
    double rows = 0;     ///< of a microbatch
    /// Bytes of scratch that grow with rows: what is kept of a microbatch for its gradients, and
    /// what is not kept.
    double kept = 0, passing = 0;
  };
  const Sample &sample(const Strategy &strategy, const AxisSizes &sizes, int64_t count);
  Sample withRows(Sample sample, double rows) const;
  Sample sampleOf(const Strategy &strategy, const AxisSizes &sizes, double rowsOfRank, Rows rows);
  void lower(const Strategy &strategy, Sample &sample);
  /// The model with so many of its layers.
  mlir::ModuleOp withRounds(int64_t rounds);

  mlir::ModuleOp model;
  const PipelineOptions &options;
  const Cluster &cluster;
  Facts &facts;
  std::map<std::string, Sample> sampled;
  std::map<std::string, MeshRates> ratesOf; ///< what layouts are weighed by, by samples' meshes
  std::map<int64_t, mlir::OwningOpRef<mlir::ModuleOp>> withFewer; ///< by their rounds
};

} // namespace weir::planner

#endif
