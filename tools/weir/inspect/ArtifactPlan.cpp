//===- ArtifactPlan.cpp - The plan that an artifact holds -----------------===//
//
// Part of Weir, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/weir/inspect/ArtifactPlan.h"
#include "ir/weir/Names.h"
#include "ir/weir/Sharding.h"
#include "support/Error.h"
#include "support/Text.h"
#include "tools/weir/FatalErrors.h"
#include "tools/weir/commands/DumpIr.h"
#include "tools/weir/inspect/ReadArtifactPlan.h"
#include "verify/CheckActions.h"
#include "verify/FindOp.h"
#include <chrono>
#include <iostream>

using namespace mlir;

namespace weir {
namespace {

using Clock = std::chrono::steady_clock;

/// Checks a run as long as it lives, and sums up at its end what it has checked.
class CheckRun {
public:
  CheckRun(Program &program, ModuleOp plan) : check(program, plan) {
    check.onAction = [this](const std::string &when, uint32_t action, uint32_t count) {
      auto now = Clock::now();
      if (now - said < std::chrono::seconds(2))
        return;
      said = now;
      std::cerr << concat("checking ", when, ": action ", action + 1, " of ", count) << std::endl;
    };
    check.onMismatch = [](const ActionMismatch &mismatch) {
      throw Failure(Exit::internal, mismatch.text());
    };
  }

  ~CheckRun() {
    const CheckedActions &done = check.checked();
    if (done.actions == 0) // what the run failed of says enough
      return;
    auto number = [](double value) {
      char text[32];
      std::snprintf(text, sizeof text, "%.1e", value);
      return std::string(text);
    };
    std::string line =
        concat("checked ", done.steps, done.steps == 1 ? " step, " : " steps, ", done.actions,
               " actions, largest relative difference ", number(done.largest));
    if (!done.largestAt.empty())
      line += concat(" (", done.largestAt, ")");
    if (done.rounded > 0)
      line += concat("; ", done.rounded, done.rounded == 1 ? " result differs" : " results differ",
                     " by more, as rounding alone can");
    std::cerr << line << std::endl;
  }

private:
  CheckActions check;
  Clock::time_point said = Clock::now();
};

struct Plan {
  FatalErrors ends; // the reference interpreter's as well
  MLIRContext context = MLIRContext(MLIRContext::Threading::DISABLED);
  OwningOpRef<ModuleOp> module;
};

/// Keeps the plan that it finds ops in.
class PlanFinder : public OpFinder {
public:
  PlanFinder(const Program &program, const std::vector<std::byte> &artifact) {
    plan.module = readArtifactPlan(artifact, plan.context);
    finder = findOps(program, *plan.module);
  }
  std::optional<FoundOp> find(const ActionPlace &place) override { return finder->find(place); }

private:
  Plan plan;
  std::unique_ptr<OpFinder> finder;
};

} // namespace

std::string planText(const std::vector<std::byte> &artifact) {
  FatalErrors ends;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  return printed(*readArtifactPlan(artifact, context));
}

void refuseCheckEveryOp(const std::string &mesh) {
  throw Failure(Exit::usage,
                concat("--check-every-op checks a program of one device, but this one has several "
                       "ranks, ",
                       mesh,
                       ": compile it without --mesh and --deterministic, or use weir verify "
                       "--mesh"));
}

void checkEveryOp(const std::vector<std::byte> &artifact, RunOptions &options) {
  auto plan = std::make_shared<Plan>();
  plan->module = readArtifactPlan(artifact, plan->context);
  if (const Mesh *mesh = meshOf(*plan->module))
    refuseCheckEveryOp(mesh->text());
  options.attach = [plan](Program &program) {
    return std::make_shared<CheckRun>(program, *plan->module);
  };
}

void findOpsIn(const std::vector<std::byte> &artifact, RunOptions &options) {
  options.findOps = [artifact](const Program &program) {
    return std::make_unique<PlanFinder>(program, artifact);
  };
}

} // namespace weir
