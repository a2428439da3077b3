//===- Facts.h - Facts about a model, for planning ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef WEIR_PLANNER_FACTS_H
#define WEIR_PLANNER_FACTS_H

#include "mlir/IR/BuiltinOps.h"
#include "planner/Shrink.h"
#include "support/mesh/Mesh.h"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weir::planner {

/// In ascending order.
std::vector<int64_t> divisorsOf(int64_t number);

/// The possible numbers of microbatches of a step, ascending: only the recipe's if rows cannot be
/// split, or if something is carried from one microbatch to the next.
std::vector<int64_t> microbatchCounts(mlir::ModuleOp model);

/// One pipeline stage, as fractions of the whole model.
struct StageShare {
  double work = 0;       ///< of a microbatch's time
  double parameters = 0; ///< of their bytes
};

/// Facts of a model as the frontend produces it. The module must outlive this, and does not change.
class Facts {
public:
  explicit Facts(mlir::ModuleOp model);

  int64_t rows = 1;                     ///< of a step
  double items = 0;                     ///< over which the loss is a mean: tokens, or rows
  bool hasTokens = false;               ///< items are tokens
  double parameters = 0, optimizer = 0; ///< bytes of the whole model
  double trained = 1;                   ///< the fraction of parameters that a step updates
  double flops = 0;                     ///< of a step, for all ranks together
  std::vector<int64_t> counts;          ///< of microbatchCounts()
  int64_t recipeCount = 1;              ///< the recipe's number of microbatches
  /// Patterns of blocks that occur more than once, the outermost first: "h.*", "h.*.mlp".
  std::vector<std::string> blocks;
  Repeats repeats;          ///< its layers
  bool marksBlocks = false; ///< the model itself marks blocks for recomputation

  /// The stages into which the compiler cuts the model for the ranks along pp, with so many stages
  /// each; nothing if it cannot, with the reason.
  const std::optional<std::vector<StageShare>> &stages(const Mesh::Axis &pipe, int64_t chunks,
                                                       std::string *why = nullptr);
  /// Bytes that pass from each of those stages to the next one, for one row.
  double crossing(const Mesh::Axis &pipe, int64_t chunks);

private:
  struct Cut {
    std::optional<std::vector<StageShare>> shares;
    double crossing = 0;
    std::string why;
  };
  const Cut &cut(const Mesh::Axis &pipe, int64_t chunks);

  mlir::ModuleOp model;
  mlir::OwningOpRef<mlir::ModuleOp> forward; ///< the step, before it is cut into stages
  std::map<std::string, Cut> cuts;           ///< by the number of ranks and stages per rank
};

} // namespace weir::planner

#endif
