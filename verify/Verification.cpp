//===- Verification.cpp - State that the checks of a verification share ---===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "verify/Verification.h"
#include "ir/weir/Locations.h"
#include "ir/weir/Names.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "passes/VerifyRanks.h"
#include "passes/sharding/Reshard.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace weir {

llvm::SmallVector<ModuleOp> Verification::programs() const {
  llvm::SmallVector<ModuleOp> all;
  for (const OwningOpRef<ModuleOp> &part : parts)
    all.push_back(*part);
  if (all.empty())
    all.push_back(module);
  return all;
}

LogicalResult Verification::cut() {
  ranks = rankPrograms(module, mesh);
  progress("partition",
           llvm::formatv("{0} ranks of {1} run {2} program{3}", mesh.ranks(), mesh.text(),
                         ranks.firstRank.size(), ranks.firstRank.size() == 1 ? "" : "s")
               .str());
  for (int64_t rank : ranks.firstRank) {
    ModuleOp part = *parts.emplace_back(module.clone());
    PassManager manager(module.getContext());
    manager.addPass(createPartition({rank, /*says=*/true}));
    if (failed(manager.run(part)))
      return failure();
  }
  return success();
}

LogicalResult Verification::run(StringRef pass) {
  bool cuts = pass == "partition" && options.strategy.hasMesh();
  if (cuts && failed(cut()))
    return failure();
  for (auto [i, program] : llvm::enumerate(programs())) {
    PipelineOptions own = pipeline;
    own.rank = isCut() ? ranks.firstRank[i] : 0;
    if (!cuts && failed(runPass(pass, program, own)))
      return failure();
    tamper(pass, program);
  }
  return success();
}

void Verification::forgetLayouts() const {
  for (const OwningOpRef<ModuleOp> &part : parts)
    ModuleOp(*part).walk([](Operation *op) { op->removeAttr(resultShardingsAttrName); });
}

static constexpr const char *betweenRanks = "what ranks tell each other";

void Verification::prove(StringRef pass, ArrayRef<ModuleOp> programs) {
  if (auto problem = findRanksProblem(programs, ranks.programOf))
    report(pass, betweenRanks,
           Named{problem->op->getName().getStringRef().str(), describe(problem->op->getLoc()),
                 "there the programs do not fit together"},
           problem->message);
}

FailureOr<Outcome> Verification::runRanks(StringRef pass, ArrayRef<ModuleOp> programs,
                                          const RandomInputs &feed, bool offsets, Wanted wanted) {
  RankInterpreter together(mesh, programs, ranks.programOf);
  FailureOr<Outcome> outcome = interpretRanks(together, results, feed, offsets, wanted);
  if (apart.empty())
    apart = together.apart;
  if (failed(outcome) && together.problem)
    report(pass, betweenRanks,
           Named{together.problem->op, describe(together.problem->loc), "ranks do not meet there"},
           together.problem->why);
  return outcome;
}

std::optional<Verification::Named> Verification::named(const std::optional<Blame> &blame) {
  if (!blame)
    return std::nullopt;
  return Named{blame->op, describe(blame->loc), blame->why};
}

void Verification::report(StringRef pass, const std::string &result,
                          const std::optional<Named> &first, const std::string &detail) {
  VerifyFault fault{pass.str(), result, "", "", ""};
  fault.message = llvm::formatv("after {0}: {1} differs: {2}", pass, result, detail).str();
  if (first) {
    fault.op = first->op;
    fault.place = first->place;
    fault.message += llvm::formatv("\n  first op that differs: {0} at {1}: {2}", fault.op,
                                   fault.place, first->why)
                         .str();
  } else {
    fault.message += "\n  no single op was found that it begins with";
  }
  if (!apart.empty())
    fault.message += "\n  " + apart;
  found.fault = fault;
}

void Verification::tamper(StringRef pass, ModuleOp changed) const {
  if (options.tamper)
    options.tamper(pass, changed);
}

DumpKernels Verification::tampering() const {
  if (!options.tamper)
    return nullptr;
  return [this](StringRef phase, ModuleOp kernels, StringRef) {
    if (phase == "emitted")
      tamper("codegen", kernels);
  };
}

void Verification::progress(StringRef stage, const std::string &text) const {
  if (options.progress)
    options.progress(llvm::formatv("{0,-20} {1}", stage, text).str());
}

void Verification::worked(double seconds) const {
  if (options.worked)
    options.worked(seconds);
}

} // namespace weir
