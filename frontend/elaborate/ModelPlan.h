//===- ModelPlan.h - What the model's plan asks of the compiler -----------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads a model's `plan { … }`: precisions of ops, blocks to recompute, cuts of parameters. Once
// the program is emitted, applies each line to all that its `where` or pattern matches.
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_FRONTEND_ELABORATE_MODELPLAN_H
#define WEIR_FRONTEND_ELABORATE_MODELPLAN_H

#include "frontend/elaborate/Evaluator.h"
#include "frontend/elaborate/Variables.h"
#include "ir/weir/requests/PrecisionOverrides.h"

namespace weir::elab {

class ModelPlan {
public:
  ModelPlan(Evaluator &evaluator, Locations &locations, const Variables &variables)
      : evaluator(evaluator), reporter(evaluator.reporter), diagnostics(reporter.diagnostics),
        locations(locations), variables(variables) {}

  void read(const ast::Module &model);
  /// To a finished program. Reports lines that match nothing.
  void apply(mlir::ModuleOp module);

private:
  struct Pin {
    const ast::PinEntry *entry;
    Precision precision;
    bool matches = false, takes = false; ///< an op; one that no pin before it takes
  };
  /// A cut that the plan asks for, of what its pattern matches.
  struct Shard {
    const ast::ShardEntry *entry;
    std::string pattern;
    int64_t dimension;
  };
  using Ops = std::set<std::pair<std::string, std::string>>; ///< names and kinds

  void readPin(const ast::PinEntry &entry);
  void readShard(const ast::ShardEntry &entry);
  void readRecompute(const ast::RecomputeEntry &entry);
  void pinOps(mlir::ModuleOp module);
  void markBlocks(mlir::ModuleOp module);
  void pinShards(mlir::ModuleOp module);
  /// Whether a predicate holds for these texts.
  bool holds(const ast::ExprPtr &where, const std::vector<std::pair<const char *, Value>> &texts);
  bool matches(const Pin &pin, const std::string &name, const std::string &op);
  Pin *pinOf(const std::string &name, const std::string &op);
  std::string nameOf(mlir::Operation *op);
  void reportUnmatched(const Pin &pin, const Ops &ops);
  void reportUnmatched(const ast::ShardEntry &entry);
  void reportUnmatched(const ast::RecomputeEntry &entry, const std::set<std::string> &blocks);
  Diagnostic &error(Range range, std::string message) {
    return reporter.error(range, std::move(message));
  }

  Evaluator &evaluator;
  Reporter &reporter;
  Diagnostics &diagnostics;
  Locations &locations;
  const Variables &variables;
  std::vector<Pin> pins;
  std::vector<const ast::RecomputeEntry *> recomputes;
  std::vector<Shard> shards;
};

} // namespace weir::elab

#endif
