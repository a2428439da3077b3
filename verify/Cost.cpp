//===- Cost.cpp - Estimated time of a verification ------------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/Cost.h"
#include "ir/weir/WeirDialect.h"
#include "ir/weir/program/Gradient.h"
#include "ir/weir/program/Microbatches.h"
#include "passes/Pipeline.h"
#include "support/mesh/MachineRates.h"
#include "verify/Gradients.h"

using namespace mlir;

namespace weir {
namespace {

/// A gradient's computation, in executions of what leads to its loss.
constexpr double backward = 2;
/// A plan is run over an arena that remembers what is known; an action is run, compared, and where
/// it differs run again with roundings.
constexpr double ofPlan = 1.3, ofActions = 3;

double secondsOf(Operation *op) {
  double seconds = 0;
  if (auto costed = dyn_cast<Costed>(op)) {
    Cost cost = costed.cost();
    seconds = cost.flops * machines::interpretedOperation +
              static_cast<double>(cost.bytes) / 4 * machines::interpretedElement;
  }
  double inside = 0;
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps())
      inside += secondsOf(&inner);
  auto microbatches = dyn_cast<MicrobatchesOp>(op);
  return seconds + inside * (microbatches ? microbatches.getCount() : 1);
}

} // namespace

VerifyCost verifyCost(ModuleOp module, bool full) {
  VerifyCost cost;
  double ran = 0;
  for (auto function : module.getOps<func::FuncOp>()) {
    double forward = secondsOf(function), sources = 0;
    function.walk([&](GradientOp op) { sources += op.getSources().size(); });
    if (function.getSymName() == "eval_one" && function.getNumArguments())
      if (auto eval = module.lookupSymbol<func::FuncOp>("eval"))
        cost.rows = forward * static_cast<double>(shapeOf(eval.getArgument(0))[0]);
    double once = sources ? (1 + backward) * forward : forward;
    for (Moment moment : moments) {
      if (!isRun(function.getSymName(), moment, full))
        continue;
      cost.truth += once;
      ran += moment == Moment::notFinite ? 0 : once;
    }
    if (sources)
      cost.gradients +=
          once + forward + 2 * forward * (full ? directionsOfEach * sources : directionsOfAll);
  }
  for (const PassGroup &group : passGroupsOnTensors())
    cost.passes += full ? cost.truth * group.passes.size() : 0;
  cost.plan = cost.truth * ofPlan * (full ? 2 : 1);
  cost.actions = ran * ofActions;
  return cost;
}

} // namespace weir
