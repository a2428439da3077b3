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

/// The numbers of microbatches that a step's rows can be cut into, the fewest first: the recipe's
/// alone where there are no rows to cut, or where something goes on from one to the next.
std::vector<int64_t> microbatchCounts(mlir::ModuleOp model);

/// One of a pipeline's stages, as parts of the whole model.
struct StageShare {
  double work = 0;       ///< of what a microbatch takes
  double parameters = 0; ///< of their bytes
};

/// Of a model as the frontend makes it, which stays so and outlives this.
class Facts {
public:
  explicit Facts(mlir::ModuleOp model);

  int64_t rows = 1;                     ///< of a step
  double items = 0;                     ///< that its loss is a mean over: tokens, or rows
  bool hasTokens = false;               ///< they are more than the rows
  double parameters = 0, optimizer = 0; ///< bytes, of the whole model
  double trained = 1;                   ///< the part of parameters that a step changes
  double flops = 0;                     ///< of a step, for all ranks together
  std::vector<int64_t> counts;          ///< microbatchCounts
  int64_t recipeCount = 1;              ///< of microbatches, as the recipe says
  /// Patterns of blocks that the model has several of, the outermost first: "h.*", "h.*.mlp".
  std::vector<std::string> blocks;
  Repeats repeats;          ///< its layers
  bool marksBlocks = false; ///< the model says itself what is computed again

  /// How the compiler cuts it into stages for the ranks along pp, so many for each; nothing where
  /// it cannot, with the reason.
  const std::optional<std::vector<StageShare>> &stages(const Mesh::Axis &pipe, int64_t chunks,
                                                       std::string *why = nullptr);
  /// Bytes of a row that pass from one of those stages to the next one.
  double crossing(const Mesh::Axis &pipe, int64_t chunks);

private:
  struct Cut {
    std::optional<std::vector<StageShare>> shares;
    double crossing = 0;
    std::string why;
  };
  const Cut &cut(const Mesh::Axis &pipe, int64_t chunks);

  mlir::ModuleOp model;
  mlir::OwningOpRef<mlir::ModuleOp> forward; ///< the step, as stages are cut
  std::map<std::string, Cut> cuts;           ///< by the ranks and their stages
};

} // namespace weir::planner

#endif
