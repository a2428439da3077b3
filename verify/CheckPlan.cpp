//===- CheckPlan.cpp - The plan against the program -----------------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/Checks.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace weir {

/// The plan is wrong: finds what is so first, by the order in which it came to be.
static LogicalResult findPass(Verification &verification, Forms &forms,
                              llvm::function_ref<LogicalResult()> checkBuffers) {
  VerifyReport &found = verification.found;
  VerifyFault inTheEnd = *std::exchange(found.fault, std::nullopt);
  if (failed(forms.findFault()))
    return failure();
  if (!found.fault && failed(checkBuffers()))
    return failure();
  if (!found.fault)
    found.fault = std::move(inTheEnd);
  return success();
}

LogicalResult checkPlan(Verification &verification, Samples &samples, Forms &forms) {
  ModuleOp module = verification.module;
  const VerifyOptions &options = verification.options;
  VerifyReport &found = verification.found;
  auto check = [&](StringRef pass, bool offsets, double seconds, Samples::FindBlame blame) {
    double largest = 0;
    auto run = [&](const Sample &sample, Wanted wanted) {
      return interpretPlan(module, verification.results, sample.feed, offsets, wanted);
    };
    if (failed(samples.compare(pass, seconds, nullptr, run, largest, blame)))
      return failure();
    if (!found.fault && (options.full || offsets))
      verification.progress(pass,
                            llvm::formatv("agrees (to {0:e1}){1}", largest,
                                          options.full ? "" : ", and so do all passes before it")
                                .str());
    found.largestExact = std::max(found.largestExact, largest);
    return success();
  };
  auto checkBuffers = [&] {
    return check("lower-to-plan", false, options.full ? verification.cost.plan / 2 : 0,
                 [&](const Disagreement &what, const Feed &feed) {
                   return blamePlan(forms.last(), module, what, feed);
                 });
  };
  auto run = [&](StringRef pass) { return runPass(pass, module, verification.pipeline); };
  if (failed(run("lower-to-plan")))
    return failure();
  verification.tamper("lower-to-plan", module);
  if (options.full && failed(checkBuffers()))
    return failure();
  if (found.fault)
    return success();
  if (failed(run("assign-offsets")) || failed(run("verify-planned")))
    return failure();
  verification.tamper("assign-offsets", module);
  found.passes += 2;
  if (failed(check("assign-offsets", true,
                   options.full ? verification.cost.plan / 2 : verification.cost.plan,
                   [&](const Disagreement &what, const Feed &feed) {
                     return blameOffsets(module, what, feed);
                   })))
    return failure();
  return found.fault && !options.full ? findPass(verification, forms, checkBuffers) : success();
}

} // namespace weir
