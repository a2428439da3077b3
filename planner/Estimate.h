//===- Estimate.h - What a strategy comes to, without lowering it -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The closed form, which a search evaluates thousands of times. The time of a microbatch depends on
// the axes that shard a layer (tp, cp, ep), on its rows and on recomputation. Estimator lowers
// those once, as a sample of a few layers. From a sample it computes the effect of dp, pp, ZeRO,
// the schedule and the number of microbatches (StepTerms.h). Lowering the strategy itself (Lower.h)
// is exact.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PLANNER_ESTIMATE_H
#define WEIR_PLANNER_ESTIMATE_H

#include "planner/StepTerms.h"

namespace weir::planner {

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
  const StepSample &sample(const Strategy &strategy, const AxisSizes &sizes, int64_t count);
  StepSample withRows(StepSample sample, double rows) const;
  StepSample sampleOf(const Strategy &strategy, const AxisSizes &sizes, double rowsOfRank,
                      Rows rows);
  void lower(const Strategy &strategy, StepSample &sample);
  /// The model with so many of its layers.
  mlir::ModuleOp withRounds(int64_t rounds);

  mlir::ModuleOp model;
  const PipelineOptions &options;
  const Cluster &cluster;
  Facts &facts;
  std::map<std::string, StepSample> sampled;
  std::map<std::string, MeshRates> ratesOf; ///< what layouts are weighed by, by samples' meshes
  std::map<int64_t, mlir::OwningOpRef<mlir::ModuleOp>> withFewer; ///< by their rounds
};

} // namespace weir::planner

#endif
