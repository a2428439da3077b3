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
static LogicalResult findPass(Verification &verification, IntermediatePrograms &forms,
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

LogicalResult checkPlan(Verification &verification, Samples &samples, IntermediatePrograms &forms) {
  const VerifyOptions &options = verification.options;
  VerifyReport &found = verification.found;
  llvm::SmallVector<ModuleOp> plans = verification.programs();
  auto check = [&](StringRef pass, bool offsets, double seconds, Samples::FindBlame blame) {
    double largest = 0;
    auto run = [&](const Sample &sample, Wanted wanted) {
      if (verification.isCut())
        return verification.runRanks(pass, plans, sample.feed, offsets, wanted);
      return interpretPlan(plans[0], verification.results, sample.feed, offsets, wanted);
    };
    if (failed(samples.compare(pass, seconds, nullptr, run, largest, blame)))
      return success(found.fault.has_value());
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
                 [&](const Disagreement &what, const RandomInputs &feed) {
                   if (!verification.isCut())
                     return blamePlan(forms.lastWhole(), plans[0], what, feed);
                   const RankPrograms &ranks = verification.ranks;
                   RankInterpreter before(verification.mesh, forms.last(), ranks.programOf),
                       after(verification.mesh, plans, ranks.programOf);
                   return blamePlan(before, after, ranks.firstRank, what, feed);
                 });
  };
  if (failed(verification.run("lower-to-plan")))
    return failure();
  if (verification.isCut())
    verification.prove("lower-to-plan", plans);
  if (found.fault)
    return options.full ? success() : findPass(verification, forms, [] { return success(); });
  if (options.full && failed(checkBuffers()))
    return failure();
  if (found.fault)
    return success();
  for (ModuleOp plan : plans)
    if (failed(runPass("assign-offsets", plan, verification.pipeline)) ||
        failed(runPass("verify-planned", plan, verification.pipeline)))
      return failure();
  for (ModuleOp plan : plans)
    verification.tamper("assign-offsets", plan);
  found.passes += 2;
  if (verification.isCut())
    verification.prove("assign-offsets", plans);
  if (found.fault)
    return success();
  if (failed(check("assign-offsets", true,
                   options.full ? verification.cost.plan / 2 : verification.cost.plan,
                   [&](const Disagreement &what, const RandomInputs &feed) {
                     return verification.isCut() ? std::nullopt
                                                 : blameOffsets(plans[0], what, feed);
                   })))
    return failure();
  return found.fault && !options.full ? findPass(verification, forms, checkBuffers) : success();
}

} // namespace weir
