//===- CheckGradients.cpp - Gradients against central differences ---------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ir/weir/program/Access.h"
#include "ir/weir/program/Gradient.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "verify/Checks.h"
#include "verify/Gradients.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace weir {

LogicalResult checkGradients(Verification &verification, const Samples &samples) {
  ModuleOp module = verification.module;
  const VerifyOptions &options = verification.options;
  VerifyReport &found = verification.found;
  auto tampering = [&](ModuleOp copy) { verification.tamper("autodiff", copy); };
  const Feed &feed = samples.middle().feed;
  for (auto function : module.getOps<func::FuncOp>()) {
    StringRef entry = function.getSymName();
    if (function.walk([](GradientOp) { return WalkResult::interrupt(); }).wasInterrupted() == false)
      continue;
    FailureOr<std::vector<Tensors>> gradients = gradientsOf(samples.twin(), entry, feed, false);
    if (failed(gradients))
      return failure();
    size_t round = 0;
    std::string wrong;
    double off = 0;
    Interpreter interpreter;
    interpreter.rounds = false;
    interpreter.variables = feed.variables;
    interpreter.gradients = [&](GradientOp op, Interpreter &running) -> FailureOr<Tensors> {
      const Tensors &values = (*gradients)[round++];
      Differences differences(op, values, running);
      unsigned count = values.size();
      if (!options.full && failed(differences.check(0, count, directionsOfAll)))
        return failure();
      for (unsigned source = 0; options.full && source < count; ++source)
        if (failed(differences.check(source, 1, directionsOfEach)))
          return failure();
      found.largestSlope = std::max(found.largestSlope, differences.off);
      if (wrong.empty() && !differences.wrong.empty()) {
        auto read = op.getSources()[differences.wrong.front().first].getDefiningOp<ReadOp>();
        wrong = "the gradient of `" + (read ? read.getVariable().str() : "a value") + "` in @" +
                entry.str();
        off = differences.wrong.front().second;
      }
      found.gradients += round == 1 ? count : 0;
      return values;
    };
    if (failed(interpreter.run(function, feed.inputs.at(entry.str()))))
      return failure();
    if (wrong.empty())
      continue;
    verification.report(
        "autodiff", wrong, Verification::named(blameGradient(module, entry, feed, tampering)),
        llvm::formatv("central differences of the loss are off by {0:e3} of its norm", off).str());
    return success();
  }
  verification.worked(verification.cost.gradients);
  if (found.gradients)
    verification.progress("gradients",
                          llvm::formatv("{0} agree with central differences (to {1:e1}), {2}",
                                        found.gradients, found.largestSlope,
                                        options.full ? "each along 2 directions"
                                                     : "along 4 directions of all of them at once")
                              .str());
  return success();
}

} // namespace weir
