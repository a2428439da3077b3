//===- Verify.cpp - Tests every pass by running its result ----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/Verify.h"
#include "ir/weir/Program.h"
#include "ir/weir/Strategy.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "verify/Checks.h"

using namespace mlir;

namespace weir {

FailureOr<VerifyReport> verifyProgram(ModuleOp module, const VerifyOptions &options) {
  // Everything agrees about a program that computes nothing.
  auto step = module.lookupSymbol<func::FuncOp>("step");
  if (std::string missing = step ? missingLoss(step) : "there is no `step`"; !missing.empty()) {
    VerifyReport nothing;
    nothing.fault = VerifyFault{"elaborate", "", "", "", missing + ": there is nothing to verify"};
    return nothing;
  }
  nameEntryPorts(module);
  // Differences are of a loss that is computed where its gradient is, and of what is differentiated
  // of it; and what is looked at are the outputs and variables that there are from here on.
  PassManager preparation(module.getContext());
  setStrategy(module, options.strategy);
  preparation.addPass(createCutMicrobatches());
  preparation.addNestedPass<func::FuncOp>(createAccumulateGradients());
  preparation.addPass(createScaleLoss());
  if (failed(preparation.run(module)))
    return failure();
  Verification verification(module, options);
  Samples samples(verification);
  IntermediatePrograms forms(verification, samples);
  if (failed(samples.make()) || failed(forms.begin()) || failed(samples.takeTruth(forms.first())))
    return failure();
  for (const auto &[entry, list] : samples.middle().truth)
    verification.found.results += list.size();
  const std::function<LogicalResult()> checks[] = {
      [&] { return checkRows(verification, samples); },
      [&] { return checkGradients(verification, samples); },
      [&] { return forms.runPasses(); },
      [&] { return checkPlan(verification, samples, forms); },
      [&] { return checkArtifact(verification, samples, forms); },
  };
  for (const auto &check : checks) {
    if (verification.ended())
      break;
    if (failed(check()))
      return failure();
  }
  return std::move(verification.found);
}

} // namespace weir
